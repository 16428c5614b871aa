//! `jobctl install` into schemas of every kind.

use std::time::Duration;

use super::tool::{SOON, Tool, bad, call, good};
use crate::db::Db;
use crate::each::{each, each_private, join, wait_until};
use crate::servers::Private;
use crate::session::{Session, name};

/// A digest over all that is in a schema; `jobctl install` must not change what is right.
pub async fn contents(admin: &mut Session, schema: &str) -> Vec<Vec<String>> {
    let mut contents = Vec::new();
    for sql in [
        "SELECT table_name, table_type, table_collation FROM information_schema.tables WHERE table_schema = '{}' ORDER BY 1",
        "SELECT routine_name, security_type, definer, created, SHA2(routine_definition, 256) FROM information_schema.routines \
         WHERE routine_schema = '{}' ORDER BY 1",
    ] {
        contents.extend(admin.rows(&sql.replace("{}", schema)).await);
    }
    contents
}

#[test]
fn an_absent_schema_is_created_in_binary_and_a_second_install_has_nothing_to_do() {
    each(|db| async move {
        let mut admin = db.admin().await;
        admin.run(&format!("DROP DATABASE {}", name(db.schema()))).await;
        let first = good(&db, &db.root(), &["install"]).await;
        assert!(
            first.starts_with(&format!("installed jobctl {} in schema `{}`", env!("CARGO_PKG_VERSION"), db.schema())),
            "{first}"
        );
        let collation =
            format!("SELECT default_collation_name FROM information_schema.schemata WHERE schema_name = '{}'", db.schema());
        assert_eq!(admin.one(&collation).await, "utf8mb4_bin");
        let before = contents(&mut admin, db.schema()).await;
        tokio::time::sleep(Duration::from_millis(1100)).await;
        let second = good(&db, &db.root(), &["install"]).await;
        assert!(second.starts_with("nothing to do: "), "{second}");
        assert_eq!(contents(&mut admin, db.schema()).await, before);
    });
}

#[test]
fn several_installers_at_once_leave_a_whole_schema() {
    each(|db| async move {
        let mut admin = db.admin().await;
        let whole = contents(&mut admin, db.schema()).await.len();
        admin.run(&format!("DROP DATABASE {}", name(db.schema()))).await;
        let runs = join((0..3).map(|_| Tool::new(&db, &db.root(), &["install"]).run()).collect()).await;
        assert!(runs.iter().all(|ran| [0, 75].contains(&ran.code)), "{runs:#?}");
        assert_eq!(runs.iter().filter(|ran| ran.stdout.starts_with("installed ")).count(), 1, "{runs:#?}");
        assert_eq!(contents(&mut admin, db.schema()).await.len(), whole);
        assert!(good(&db, &db.root(), &["install"]).await.starts_with("nothing to do"));
        // Somebody else's installation that takes long: try again later.
        let lock = format!("SELECT GET_LOCK(SHA2(CONCAT('jobctl install ', '{}'), 256), 10)", db.schema());
        assert_eq!(admin.one(&lock).await, "1");
        let busy = bad(&db, &db.root(), 75, &["install"]).await;
        assert!(busy.contains("somebody else is installing"), "{busy}");
    });
}

#[test]
fn a_schema_newer_than_the_binary_is_refused_and_both_versions_are_named() {
    each(|db| async move {
        let mut admin = db.admin().await;
        admin.run("INSERT INTO job_schema_history VALUES (999, 'later', '2030-01-01T00:00:00Z', '1')").await;
        let before = contents(&mut admin, db.schema()).await;
        for arguments in [&["install"][..], &["install", "--into-existing"], &["install", "--dry-run"]] {
            let refused = bad(&db, &db.root(), 4, arguments).await;
            assert!(refused.contains("V999") && refused.contains(env!("CARGO_PKG_VERSION")), "{refused}");
        }
        admin.run("DELETE FROM job_schema_history WHERE version = 999").await;
        admin.run("UPDATE job_setting SET setting_value = '99.1.0' WHERE setting_name = 'version'").await;
        let refused = bad(&db, &db.root(), 4, &["install"]).await;
        assert!(refused.contains("99.1.0") && refused.contains(env!("CARGO_PKG_VERSION")), "{refused}");
        assert_eq!(contents(&mut admin, db.schema()).await, before);
    });
}

#[test]
fn a_schema_of_somebody_else_is_refused_whatever_it_holds() {
    each(|db| async move {
        let root = db.root();
        for (kind, create) in [
            ("TABLE", "TABLE {}.orders (id INT)"),
            ("VIEW", "VIEW {}.orders AS SELECT 1 AS one"),
            ("PROCEDURE", "PROCEDURE {}.orders() DO 0"),
            ("EVENT", "EVENT {}.orders ON SCHEDULE EVERY 1 DAY DISABLE DO DO 0"),
        ] {
            let schema = db.extra(&format!("shop_{}", kind.to_lowercase())).await;
            let mut admin = db.admin().await;
            admin.run(&format!("CREATE {}", create.replace("{}", &name(&schema)))).await;
            let refused = bad(&db, &root, 4, &["-D", &schema, "install"]).await;
            assert!(refused.contains("not empty") && refused.contains("--into-existing"), "{kind}: {refused}");
            assert_eq!(admin.number(&format!("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '{schema}' AND table_name LIKE 'job%'")).await, 0);
        }
        // A table of somebody's that only bears the name of ours is not taken over either.
        let schema = db.extra("clash").await;
        let mut admin = db.admin().await;
        admin.run(&format!("CREATE TABLE {}.job_run (id INT)", name(&schema))).await;
        let refused = bad(&db, &root, 4, &["-D", &schema, "install", "--into-existing"]).await;
        assert!(refused.contains("`job_run`"), "{refused}");
    });
}

#[test]
fn a_shared_latin1_schema_works_for_names_with_emoji_and_is_left_as_it_was() {
    each(|db| async move {
        let root = db.root();
        let schema = db.extra("shop").await;
        let mut admin = db.admin().await;
        admin.run(&format!("ALTER DATABASE {} CHARACTER SET latin1 COLLATE latin1_german1_ci", name(&schema))).await;
        admin.run(&format!("CREATE TABLE {}.orders (id INT)", name(&schema))).await;
        db.body("hello", "DO 0").await;
        let with = |arguments: &[&'static str]| {
            [&["-D".to_owned(), schema.clone()], &*arguments.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()].concat()
        };
        let run = async |arguments: &[&'static str]| {
            let arguments = with(arguments);
            good(&db, &root, &arguments.iter().map(String::as_str).collect::<Vec<_>>()).await
        };
        run(&["install", "--into-existing"]).await;
        for sql in [
            "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = '{}' AND collation_name <> 'utf8mb4_bin' AND table_name NOT IN ('orders', 'job_overview')",
            "SELECT COUNT(*) FROM information_schema.parameters WHERE specific_schema = '{}' AND collation_name <> 'utf8mb4_bin'",
            "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '{}' AND table_collation <> 'utf8mb4_bin' AND table_name <> 'orders'",
        ] {
            assert_eq!(admin.number(&sql.replace("{}", &schema)).await, 0, "{sql}");
        }
        let procedure = call(&db, "hello");
        good(
            &db,
            &root,
            &["-D", &schema, "define", "🚀 nächtlich", "--call", &procedure, "--every", "0.1s", "--max-failures", "1"],
        )
        .await;
        let start = Tool::new(&db, &root, &["-D", &schema, "start", "🚀 nächtlich"]).start();
        start.says("run ok", 2).await;
        admin.run(&format!("UPDATE {}.job SET job_schedule_finish = UTC_TIMESTAMP(6)", name(&schema))).await;
        let (code, log) = start.ends().await;
        assert_eq!(code, 0, "{log:#?}");
        assert!(log.iter().any(|line| line.contains("🚀 nächtlich") && line.contains("run ok")), "{log:#?}");
        assert!(run(&["status", "--output", "json"]).await.contains("🚀 nächtlich"));
        assert!(run(&["uninstall", "--yes"]).await.contains("holds more"));
        let left = format!("SELECT GROUP_CONCAT(table_name) FROM information_schema.tables WHERE table_schema = '{schema}'");
        assert_eq!(admin.one(&left).await, "orders");
        let routines = format!("SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = '{schema}'");
        assert_eq!(admin.number(&routines).await, 0);
        let collation =
            format!("SELECT default_collation_name FROM information_schema.schemata WHERE schema_name = '{schema}'");
        assert_eq!(admin.one(&collation).await, "latin1_german1_ci");
    });
}

#[test]
fn an_account_without_super_installs_with_just_the_rights_that_the_hint_names() {
    each(|db| async move {
        let mut admin = db.admin().await;
        assert_eq!(admin.row("SELECT @@log_bin, @@log_bin_trust_function_creators").await, ["1", "0"]);
        let schema = name(db.schema());
        let (ann, bob) = (db.stranger("ann").await, db.stranger("bob").await);
        admin.run(&format!("DROP DATABASE {schema}")).await;
        let refused = bad(&db, &ann, 4, &["install"]).await;
        let (_, rights) = refused.split_once("an installer needs ").expect(&refused);
        let (rights, _) = rights.split_once(" on the schema").expect(&refused);
        admin.run(&format!("GRANT {} ON {schema}.* TO {ann}", rights.replace(" and ", ", "))).await;
        if !db.mariadb() {
            admin.run(&format!("GRANT SELECT ON performance_schema.global_variables TO {ann}")).await;
        }
        let installed = good(&db, &ann, &["install"]).await;
        assert!(installed.contains(&format!("with the rights of {ann}")), "{installed}");
        assert!(good(&db, &ann, &["install"]).await.starts_with("nothing to do"));
        // Its own job, with its own rights on the schema.
        db.body("hello", "DO 0").await;
        let procedure = call(&db, "hello");
        good(&db, &ann, &["define", "x", "--call", &procedure, "--every", "1h"]).await;
        admin.run(&format!("UPDATE {schema}.job SET job_schedule_finish = UTC_TIMESTAMP() - INTERVAL 1 DAY")).await;
        good(&db, &ann, &["drop", "x"]).await;
        // A repair by somebody who cannot read others' GRANTs says what was lost.
        admin.run(&format!("GRANT EXECUTE ON PROCEDURE {schema}.`job$run` TO {bob}")).await;
        admin.run(&format!("DROP PROCEDURE {schema}.`job$drop`")).await;
        let ran = Tool::new(&db, &ann, &["install"]).run().await;
        assert_eq!(ran.code, 0, "{ran:#?}");
        assert!(ran.stdout.starts_with("reinstalled") && ran.stderr.contains("warning: the server forgot"), "{ran:#?}");
        good(&db, &ann, &["uninstall", "--yes"]).await;
    });
}

#[test]
fn an_installation_that_failed_half_way_can_be_run_again() {
    each(|db| async move {
        let root = db.root();
        let mut admin = db.admin().await;
        let whole: Vec<_> = contents(&mut admin, db.schema()).await.into_iter().map(|row| row[0].clone()).collect();
        let secret = "SELECT setting_value FROM job_setting WHERE setting_name = 'secret'";
        for damage in [
            &["DROP PROCEDURE `job$_acquire`", "DROP PROCEDURE `job$_options`", "DROP PROCEDURE `job$run`"][..],
            &["DROP VIEW job_overview"],
            &["DELETE FROM job_setting WHERE setting_name = 'routines_digest'"],
            &["DELETE FROM job_setting WHERE setting_name <> 'secret'"],
            &["DROP TABLE job_controller, job_server, job_ticket", "DELETE FROM job_schema_history WHERE version >= 5"],
            &["DROP TABLE job_ticket, job_setting", "DELETE FROM job_schema_history WHERE version >= 7"],
            &["DELETE FROM job_schema_history WHERE version >= 3"],
            &["DELETE FROM job_schema_history"],
        ] {
            let before = admin.one(secret).await;
            for sql in damage {
                admin.run(sql).await;
            }
            let again = good(&db, &root, &["install"]).await;
            assert!(!again.starts_with("nothing to do"), "{damage:?}: {again}");
            assert!(good(&db, &root, &["install"]).await.starts_with("nothing to do"), "{damage:?}");
            let now: Vec<_> = contents(&mut admin, db.schema()).await.into_iter().map(|row| row[0].clone()).collect();
            assert_eq!(now, whole, "{damage:?}");
            assert_eq!(admin.one("SELECT COUNT(*) FROM job_ticket").await, "1", "{damage:?}");
            // The names of the locks do not change under runners.
            assert_eq!(admin.one(secret).await == before, !damage[0].contains("TABLE job_ticket, job_setting"), "{damage:?}");
        }
    });
}

#[test]
fn an_installer_killed_at_any_moment_leaves_what_the_next_one_completes() {
    each(|db| async move {
        let root = db.root();
        let mut admin = db.admin().await;
        let schema = name(db.schema());
        let objects = format!(
            "SELECT (SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '{0}') \
             + (SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = '{0}')",
            db.schema()
        );
        let whole = admin.number(&objects).await;
        let mut half = 0;
        for count in [1, 5, 12, whole / 2, whole - 1] {
            admin.run(&format!("DROP DATABASE IF EXISTS {schema}")).await;
            let installer = Tool::new(&db, &root, &["install"]).start();
            wait_until("so many objects", SOON, async || admin.number(&objects).await >= count).await;
            installer.signal("KILL");
            drop(installer);
            let again = good(&db, &root, &["install"]).await;
            half += i64::from(again.starts_with("installed") || again.starts_with("reinstalled"));
            assert_eq!(admin.number(&objects).await, whole);
        }
        assert!(good(&db, &root, &["install"]).await.starts_with("nothing to do"));
        assert!(half >= 2, "only {half} installers died on the way");
    });
}

#[test]
fn a_read_only_server_is_refused_also_for_root() {
    each_private(|server| async move {
        let private = Private::start(&server.name, &["--read-only=1"]);
        let db = Db::empty(&private.server, "read_only");
        // The account of the tests may write on a read-only server; jobctl does not.
        let db = db.await;
        let refused = bad(&db, &db.root(), 4, &["install"]).await;
        assert!(refused.contains("read-only") && refused.contains("hint: connect to the primary"), "{refused}");
        let tables = format!("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '{}'", db.schema());
        assert_eq!(db.admin().await.number(&tables).await, 0);
    });
}
