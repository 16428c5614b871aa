//! What the server can do, found out by trying, and the few places of `sql/` that depend on it.

use mysql_async::Conn;
use mysql_async::prelude::Queryable;

use super::lock;
use crate::db::{READ_ONLY, quote};
use crate::error::Error;

/// A placeholder of `sql/`, and what may stand for it: the first whose probe the server can run.
struct Choice {
    placeholder: &'static str,
    candidates: &'static [(&'static str, &'static str)],
}

/// The settings of a session without which nothing can be recorded rightly; what a body does to others harms only its next run.
const VITAL_SETTINGS: &str = "CONCAT_WS(' ', @@session.autocommit, @@session.sql_log_bin, @@session.pseudo_thread_id, \
     @@session.max_error_count, @@session.sql_big_selects, @@session.max_join_size)";

/// Every server can run this probe.
const ALWAYS: &str = "DO 0";

const CHOICES: &[Choice] = &[
    Choice {
        placeholder: "{{server_identity}}",
        candidates: &[
            ("DO @@server_uuid", "@@server_uuid"),
            ("DO @@server_uid", "@@server_uid"),
            (ALWAYS, "CONCAT(@@hostname, ':', @@port)"),
        ],
    },
    Choice {
        placeholder: "{{status_schema}}",
        candidates: &[
            ("SELECT 1 FROM information_schema.global_status LIMIT 0", "information_schema"),
            (ALWAYS, "performance_schema"),
        ],
    },
    // A number that grows when this session makes a temporary table. Whether it was dropped again neither server tells.
    Choice {
        placeholder: "{{temporary_tables}}",
        candidates: &[
            (
                "SELECT 1 FROM information_schema.session_status LIMIT 0",
                "(SELECT CAST(variable_value AS SIGNED) FROM information_schema.session_status \
                 WHERE variable_name = 'COM_CREATE_TEMPORARY_TABLE')",
            ),
            (
                ALWAYS,
                "(SELECT COUNT(*) FROM information_schema.innodb_session_temp_tablespaces \
                 WHERE id = CONNECTION_ID() AND purpose = 'USER')",
            ),
        ],
    },
    // MySQL counts temporary tables of InnoDB alone; of the others it shows the memory of their handles, as of permanent ones.
    Choice {
        placeholder: "{{open_handles}}",
        candidates: &[
            ("SELECT 1 FROM information_schema.session_status LIMIT 0", "0"),
            (
                ALWAYS,
                "(SELECT SUM(current_count_used) FROM performance_schema.memory_summary_by_thread_by_event_name \
                 WHERE thread_id = PS_CURRENT_THREAD_ID() AND event_name IN ('memory/memory/HP_INFO', 'memory/myisam/MI_INFO', \
                 'memory/myisammrg/MYRG_INFO', 'memory/csv/Transparent_file', 'memory/archive/record_buffer'))",
            ),
        ],
    },
    // Seconds after which a controller renews a runner's session. MariaDB goes on with the body of a routine that was replaced for
    // as long as the outer CALL lasts.
    Choice {
        placeholder: "{{session_max_age}}",
        candidates: &[("SELECT 1 FROM information_schema.session_status LIMIT 0", "300"), (ALWAYS, "3600")],
    },
    // As long as a body's gtid_next stands, MySQL refuses every statement, even a KILL; but for this one, if it is not prepared.
    Choice {
        placeholder: "{{mend_gtid_next}}",
        candidates: &[
            (
                "DO @@session.gtid_next",
                "IF @@session.gtid_next <> 'AUTOMATIC' THEN\n        SET SESSION gtid_next = 'AUTOMATIC';\n        \
                 SET out_leaked = 'gtid_next';\n    END IF;",
            ),
            (ALWAYS, ""),
        ],
    },
    // How long to wait for a lock: MySQL rounds to whole seconds, and a bell must not be left before its time, nor waited for after.
    Choice {
        placeholder: "{{lock_seconds}}",
        candidates: &[("SELECT 1 FROM information_schema.session_status LIMIT 0", "in_seconds"), (ALWAYS, "FLOOR(in_seconds)")],
    },
    // The user variables of this session.
    Choice {
        placeholder: "{{user_variables}}",
        candidates: &[
            ("SELECT 1 FROM information_schema.user_variables LIMIT 0", "information_schema.user_variables WHERE TRUE"),
            (ALWAYS, "performance_schema.user_variables_by_thread WHERE thread_id = PS_CURRENT_THREAD_ID()"),
        ],
    },
    // How the session's isolation and read-only variables begin.
    Choice { placeholder: "{{transaction}}", candidates: &[("DO @@transaction_isolation", "transaction"), (ALWAYS, "tx")] },
    Choice { placeholder: "{{wsrep_on}}", candidates: &[("DO @@wsrep_on", "@@wsrep_on"), (ALWAYS, "0")] },
];

/// What is put for the placeholders that mean the same on all servers.
fn fixed(schema: &str) -> Vec<(&'static str, String)> {
    vec![
        ("{{version}}", quote::literal(env!("CARGO_PKG_VERSION"))),
        ("{{schema}}", quote::literal(schema)),
        ("{{read_only}}", READ_ONLY.to_owned()),
        ("{{vital_settings}}", VITAL_SETTINGS.to_owned()),
        ("{{installing}}", format!("IS_USED_LOCK({}) IS NOT NULL", lock::name(&quote::literal(schema)))),
    ]
}

/// What to put for each placeholder on one server.
#[derive(Debug)]
pub struct Capabilities(Vec<(&'static str, String)>);

impl Capabilities {
    /// Tries everything out.
    pub async fn probe(conn: &mut Conn, schema: &str) -> Result<Self, Error> {
        let mut texts = fixed(schema);
        for choice in CHOICES {
            for (probe, text) in choice.candidates {
                if can(conn, probe).await? {
                    texts.push((choice.placeholder, (*text).to_owned()));
                    break;
                }
            }
        }
        Ok(Capabilities(texts))
    }

    /// Fills in the placeholders of a text.
    pub fn fill(&self, sql: &str) -> String {
        self.0.iter().fold(sql.to_owned(), |sql, (placeholder, text)| sql.replace(placeholder, text))
    }
}

/// Whether the server knows what a statement wants: a variable (1193), a table (1109, 1146).
pub async fn can(conn: &mut Conn, probe: &str) -> Result<bool, Error> {
    match conn.query_drop(probe).await.map_err(Error::from) {
        Ok(()) => Ok(true),
        Err(error) if error.is_server(&[1193, 1109, 1146]) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::super::objects::OBJECTS;
    use super::*;

    #[test]
    fn every_placeholder_of_sql_is_filled_in() {
        let mut texts = fixed("jobctl");
        texts.extend(CHOICES.iter().map(|choice| (choice.placeholder, "1".to_owned())));
        let capabilities = Capabilities(texts);
        for object in OBJECTS {
            assert!(!capabilities.fill(object.sql).contains("{{"), "{}", object.name);
        }
    }

    #[test]
    fn every_choice_ends_with_what_always_works() {
        assert!(CHOICES.iter().all(|choice| choice.candidates.last().is_some_and(|(probe, _)| *probe == ALWAYS)));
    }
}
