//! A schema as it was released once becomes, by `jobctl install`, what a fresh installation is, and keeps what it held.
//!
//! `tests/baseline/VERSION-FAMILY.sql` is what `jobctl install --dry-run` of that version printed; it is never changed.

use crate::db::Db;
use crate::each::each;

/// The released schemas, oldest first: version, MySQL's, MariaDB's.
const BASELINES: [(&str, &str, &str); 1] =
    [("0.1.0", include_str!("../baseline/0.1.0-mysql.sql"), include_str!("../baseline/0.1.0-mariadb.sql"))];

/// What there is to a schema, in words that do not depend on its name; one query a line.
const SHAPE: [&str; 7] = [
    "SELECT table_name, column_name, ordinal_position, column_default, is_nullable, column_type, collation_name, extra, column_comment \
     FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name <> 'job_schema_history' ORDER BY 1, 3",
    "SELECT table_name, index_name, seq_in_index, column_name, non_unique FROM information_schema.statistics \
     WHERE table_schema = DATABASE() ORDER BY 1, 2, 3",
    "SELECT constraint_name, check_clause FROM information_schema.check_constraints WHERE constraint_schema = DATABASE() ORDER BY 1",
    "SELECT table_name, table_type, engine, table_collation, table_comment FROM information_schema.tables \
     WHERE table_schema = DATABASE() ORDER BY 1",
    "SELECT routine_name, security_type, is_deterministic, sql_data_access, sql_mode, routine_comment, routine_definition \
     FROM information_schema.routines WHERE routine_schema = DATABASE() ORDER BY 1",
    "SELECT specific_name, ordinal_position, parameter_mode, parameter_name, dtd_identifier, collation_name \
     FROM information_schema.parameters WHERE specific_schema = DATABASE() ORDER BY 1, 2",
    "SELECT version, name, checksum FROM job_schema_history ORDER BY 1",
];

#[test]
fn every_released_schema_becomes_what_a_fresh_installation_is_and_keeps_what_it_held() {
    each(|fresh| async move {
        let wanted = shape(&fresh).await;
        for (version, mysql, mariadb) in BASELINES {
            let old = Db::empty(fresh.server(), "upgrade").await;
            let script = if old.mariadb() { mariadb } else { mysql };
            let loaded = old.client(&old.root(), &[], &for_schema(script, old.schema())).await;
            assert_eq!(loaded.code, 0, "{version}: {}", loaded.stderr);
            let mut admin = old.admin().await;
            admin.run("INSERT INTO job (job_owner, job_name, job_procedure_schema, job_procedure_name, job_status) VALUES ('ana', 'kept', 's', 'p', 'PAUSED')").await;
            admin.run("INSERT INTO job_run (job_id, run_no, outcome, job_owner, job_name, scheduled_for, attempt, started_at, finished_at) SELECT job_id, 1, 'OK', 'ana', 'kept', '2026-11-30', 1, '2026-11-30', '2026-11-30' FROM job").await;
            let secret = admin.one("SELECT setting_value FROM job_setting WHERE setting_name = 'secret'").await;

            let upgraded = old.jobctl(&old.root(), &["install"]).await;
            assert_eq!(upgraded.code, 0, "{version}: {}", upgraded.stderr);
            for (found, wanted) in shape(&old).await.into_iter().zip(&wanted) {
                assert_eq!(&found, wanted, "{version}");
            }
            assert_eq!(admin.one("SELECT setting_value FROM job_setting WHERE setting_name = 'secret'").await, secret);
            assert_eq!(admin.row("SELECT job_owner, job_name, job_status FROM job").await, ["ana", "kept", "PAUSED"]);
            assert_eq!(admin.row("SELECT run_no, outcome FROM job_run").await, ["1", "OK"]);
            let again = old.jobctl(&old.root(), &["install"]).await;
            assert!(again.stdout.starts_with("nothing to do"), "{version}: {}", again.stdout);
            old.remove().await;
        }
    });
}

/// The script, but for another schema and with its reader as the definer.
fn for_schema(script: &str, schema: &str) -> String {
    let mut script = script.replace("jobctl_baseline", schema).replace("CREATE DATABASE ", "CREATE DATABASE IF NOT EXISTS ");
    while let Some(at) = script.find("DEFINER = `root`@`") {
        let end = at + script[at..].find(' ').expect("a definer") + 1;
        let end = end + script[end..].find(' ').expect("an equals sign") + 1;
        let end = end + script[end..].find(' ').expect("an account") + 1;
        script.replace_range(at..end, "");
    }
    script
}

async fn shape(db: &Db) -> Vec<Vec<Vec<String>>> {
    let mut admin = db.admin().await;
    let mut shape = Vec::new();
    for query in SHAPE {
        let rows = admin.rows(query).await;
        shape.push(
            rows.into_iter().map(|row| row.into_iter().map(|value| value.replace(db.schema(), "SCHEMA")).collect()).collect(),
        );
    }
    shape
}
