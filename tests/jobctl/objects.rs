//! What is in the schema is what is in the folders, and each object says what it is.

use std::collections::BTreeSet;
use std::path::Path;

use crate::each::each;

fn files(folder: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn all_objects_of_the_folders_are_there_and_no_others() {
    each(|db| async move {
        let mut admin = db.admin().await;
        let set = |rows: Vec<Vec<String>>| rows.into_iter().map(|row| row[0].clone()).collect::<BTreeSet<_>>();
        let routines = set(admin.rows("SELECT CONCAT(routine_type, ' ', routine_name) FROM information_schema.routines WHERE routine_schema = DATABASE()").await);
        let tables = set(admin
            .rows("SELECT CONCAT(table_type, ' ', table_name) FROM information_schema.tables WHERE table_schema = DATABASE()")
            .await);
        let (views, procedures): (Vec<_>, Vec<_>) = files("sql").into_iter().partition(|(stem, _)| stem.starts_with("job_"));
        assert_eq!(routines, procedures.iter().map(|(stem, _)| format!("PROCEDURE job${stem}")).collect());
        let mut expected: BTreeSet<_> = files("migrations")
            .iter()
            .filter(|(_, text)| text.contains("CREATE TABLE"))
            .map(|(stem, _)| stem.split_once("__").unwrap().1)
            .map(|name| format!("BASE TABLE {name}"))
            .chain(views.iter().map(|(stem, _)| format!("VIEW {stem}")))
            .collect();
        expected.insert("BASE TABLE job_schema_history".into());
        assert_eq!(tables, expected);
        for kind in ["triggers WHERE trigger_schema", "events WHERE event_schema"] {
            assert_eq!(admin.one(&format!("SELECT COUNT(*) FROM information_schema.{kind} = DATABASE()")).await, "0", "{kind}");
        }
    });
}

#[test]
fn every_routine_says_what_it_does_and_with_whose_rights() {
    for (stem, text) in files("sql").iter().filter(|(stem, _)| !stem.starts_with("job_")) {
        assert!(text.contains(&format!("CREATE PROCEDURE job${stem}(")), "{stem}: creates the routine it is named after");
        let definer = text.contains("\nSQL SECURITY DEFINER\n");
        assert!(definer != text.contains("\nSQL SECURITY INVOKER\n"), "{stem}: states its security, once");
        let comment = text.split_once("\nCOMMENT '").and_then(|(_, rest)| rest.split_once("'\nSQL SECURITY")).expect(stem).0;
        assert!(comment.contains("Errors:") && comment.contains("Example:"), "{stem}: {comment}");
        let access = ["NO SQL", "READS SQL DATA", "MODIFIES SQL DATA"];
        assert_eq!(
            access.iter().filter(|access| text.contains(&format!("\n{access}\n"))).count(),
            1,
            "{stem}: states its data access"
        );
        assert_eq!(text.matches("\nDETERMINISTIC\n").count() + text.matches("\nNOT DETERMINISTIC\n").count(), 1, "{stem}");
        if definer {
            for word in ["PREPARE", "EXECUTE "] {
                let code = text.replace(comment, "");
                assert!(!code.contains(word), "{stem}: a DEFINER routine holds no dynamic SQL");
            }
        }
        for (at, _) in text.match_indices("CHAR(").chain(text.match_indices(" LONGTEXT")) {
            let rest = &text[at..text.len().min(at + 80)];
            let rest = rest.trim_start_matches(|c: char| c != ')' && !c.is_whitespace()).trim_start_matches(')').trim_start();
            let rest = rest.strip_prefix("LONGTEXT ").unwrap_or(rest);
            assert!(rest.starts_with("CHARSET utf8mb4 COLLATE utf8mb4_bin"), "{stem}: a string without its collation: {rest}");
        }
        for word in ["COMMIT", "ROLLBACK"] {
            let ends = text.matches(&format!("{word} AND NO CHAIN NO RELEASE;")).count();
            assert_eq!(
                text.matches(&format!("{word};")).count(),
                0,
                "{stem}: {word} without AND NO CHAIN NO RELEASE, beside {ends} with"
            );
        }
    }
}

#[test]
fn every_routine_and_column_carries_its_comment_into_the_database() {
    each(|db| async move {
        let mut admin = db.admin().await;
        let none = Vec::<Vec<String>>::new();
        let silent =
            "SELECT routine_name FROM information_schema.routines WHERE routine_schema = DATABASE() AND routine_comment = ''";
        assert_eq!(admin.rows(silent).await, none);
        let ours = "FROM information_schema.columns c JOIN information_schema.tables t ON t.table_schema = c.table_schema \
                    AND t.table_name = c.table_name WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE' \
                    AND c.table_name <> 'job_schema_history'";
        for (what, condition) in [
            ("no comment", "c.column_comment = ''"),
            ("a collation", "c.collation_name <> 'utf8mb4_bin'"),
            ("AUTO_INCREMENT", "c.extra LIKE '%auto_increment%' AND c.column_name <> 'job_id'"),
            (
                "a time",
                "c.data_type IN ('date', 'datetime', 'timestamp', 'time') AND c.column_type <> 'datetime(6)' \
                        AND NOT (c.column_name = 'job_changed' AND c.column_type = 'timestamp(6)') AND c.column_name <> 'ticket_mode'",
            ),
            ("an enum", "c.data_type IN ('enum', 'set', 'float', 'double')"),
        ] {
            assert_eq!(admin.rows(&format!("SELECT c.table_name, c.column_name {ours} AND {condition}")).await, none, "{what}");
        }
        let tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' \
                      AND table_name <> 'job_schema_history' AND (engine <> 'InnoDB' OR table_collation <> 'utf8mb4_bin' OR table_comment = '')";
        assert_eq!(admin.rows(tables).await, none);
        let strings = "SELECT specific_name, parameter_name FROM information_schema.parameters WHERE specific_schema = DATABASE() \
                       AND character_set_name IS NOT NULL AND collation_name <> 'utf8mb4_bin'";
        assert_eq!(admin.rows(strings).await, none);
        let modes =
            admin.rows("SELECT DISTINCT sql_mode FROM information_schema.routines WHERE routine_schema = DATABASE()").await;
        assert_eq!(modes.len(), 1, "one sql_mode for all: {modes:?}");
        assert!(modes[0][0].contains("STRICT_") && !modes[0][0].contains("ANSI_QUOTES"), "{modes:?}");
        let unnamed = "SELECT table_name, constraint_name FROM information_schema.table_constraints WHERE table_schema = DATABASE() \
                       AND table_name <> 'job_schema_history' AND constraint_name NOT REGEXP '^(PRIMARY$|uk_|ck_|fk_)'";
        assert_eq!(admin.rows(unnamed).await, none);
    });
}

#[test]
fn every_routine_that_an_owner_may_call_is_granted_and_no_table_is() {
    each(|db| async move {
        let grants = db.grants();
        for grant in grants {
            let routine = grant.starts_with(&format!("GRANT EXECUTE ON PROCEDURE `{}`.`job$", db.schema()));
            let ticket = grant.starts_with(&format!("GRANT INSERT (ticket_token) ON `{}`.`job_ticket` TO ", db.schema()))
                || grant.starts_with(&format!("GRANT INSERT (`ticket_token`) ON `{}`.`job_ticket` TO ", db.schema()));
            assert!(routine || ticket, "{grant}");
        }
        // It is about everybody's jobs.
        assert!(!grants.iter().any(|grant| grant.contains("adopt")), "{grants:#?}");
        let for_owners = |stem: &str| !stem.starts_with('_') && !stem.starts_with("job_") && stem != "adopt";
        for (stem, _) in files("sql").iter().filter(|(stem, _)| for_owners(stem)) {
            assert!(grants.iter().any(|grant| grant.contains(&format!("`job${stem}` TO"))), "job${stem}: {grants:#?}");
        }
    });
}
