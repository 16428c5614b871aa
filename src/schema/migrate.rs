//! The migrations of the tables: embedded and checksummed by refinery, and kept in its history table.
//!
//! Their statements are part of the installation's plan rather than run by refinery itself: so they can be printed, they are
//! executed in the one session that is pinned and holds the lock, and they do not need READ COMMITTED, at which a server with
//! `binlog_format = STATEMENT` refuses to write (1665).

use mysql_async::Conn;
use refinery::Migration;

use super::objects::HISTORY;
use crate::db;
use crate::error::{Error, Kind};

#[allow(clippy::unwrap_used, missing_docs, reason = "generated")]
mod embedded {
    refinery::embed_migrations!("migrations");
}

/// The migrations of this version, in order.
pub fn all() -> Vec<Migration> {
    let mut all = embedded::migrations::runner().get_migrations().clone();
    all.sort_by_key(Migration::version);
    all
}

/// A migration that the history says was applied.
#[derive(Debug)]
pub struct Applied {
    version: i64,
    name: String,
    checksum: String,
}

/// Reads the history.
pub async fn applied(conn: &mut Conn, schema: &str) -> Result<Vec<Applied>, Error> {
    use mysql_async::prelude::Queryable;

    let sql = format!("SELECT version, name, checksum FROM {}.{HISTORY} ORDER BY version", db::quote::identifier(schema));
    let rows: Vec<(i64, String, String)> = conn.query(sql).await?;
    Ok(rows.into_iter().map(|(version, name, checksum)| Applied { version, name, checksum }).collect())
}

/// The migrations that are still to be applied; refuses a history that is not a beginning of ours.
pub fn pending(applied: &[Applied]) -> Result<Vec<Migration>, Error> {
    let all = all();
    for (past, ours) in applied.iter().zip(&all) {
        if (past.version, &*past.name, &*past.checksum) != (ours.version().into(), ours.name(), &*ours.checksum().to_string()) {
            let message =
                format!("migration V{}__{} in the schema is not the one that this jobctl knows", past.version, past.name);
            return Err(
                Error::new(Kind::Refused, message).hint("use the jobctl that installed it, or install into another schema")
            );
        }
    }
    if let Some(unknown) = applied.get(all.len()) {
        let newest = all.last().map_or(0, Migration::version);
        let message = format!(
            "the schema is newer than this jobctl {}: it is at migration V{}, this one knows V{newest}",
            env!("CARGO_PKG_VERSION"),
            applied.last().unwrap_or(unknown).version,
        );
        return Err(Error::new(Kind::Refused, message).hint("use a newer jobctl"));
    }
    Ok(all.into_iter().skip(applied.len()).collect())
}

/// The statement that creates the history table, as refinery would.
pub fn create_history() -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {HISTORY} (\n    version INT NOT NULL PRIMARY KEY COMMENT 'Number of the migration',\n    \
         name VARCHAR(255) COMMENT 'Name of the migration',\n    applied_on VARCHAR(255) COMMENT 'UTC; when it was applied',\n    \
         checksum VARCHAR(255) COMMENT 'Checksum of its text, by refinery'\n) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 \
         COLLATE utf8mb4_bin\nCOMMENT = 'jobctl: the migrations that made these tables'"
    )
}

/// The statement that notes a migration in the history.
pub fn note(migration: &Migration) -> String {
    format!(
        "INSERT INTO {HISTORY} (version, name, applied_on, checksum)\n\
         VALUES ({}, {}, DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ'), '{}')",
        migration.version(),
        db::quote::literal(migration.name()),
        migration.checksum(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(count: usize) -> Vec<Applied> {
        let applied = |ours: &Migration| Applied {
            version: ours.version().into(),
            name: ours.name().into(),
            checksum: ours.checksum().to_string(),
        };
        all().iter().take(count).map(applied).collect()
    }

    #[test]
    fn migrations_are_numbered_from_one_without_a_gap() {
        let versions: Vec<i64> = all().iter().map(|migration| migration.version().into()).collect();
        assert_eq!(versions, (1..).take(versions.len()).collect::<Vec<_>>());
    }

    #[test]
    fn what_was_applied_is_not_applied_again() {
        assert_eq!(pending(&history(3)).map(|rest| rest[0].version()).ok(), Some(4));
        assert!(pending(&history(usize::MAX)).is_ok_and(|rest| rest.is_empty()));
    }

    #[test]
    fn an_edited_migration_is_refused() {
        let mut edited = history(2);
        edited[1].checksum = "1".into();
        assert_eq!(pending(&edited).map_err(|error| error.kind).err(), Some(Kind::Refused));
    }

    #[test]
    fn a_newer_schema_is_refused_and_both_versions_are_named() {
        let mut newer = history(usize::MAX);
        newer.push(Applied { version: 999, name: "later".into(), checksum: "1".into() });
        let message = pending(&newer).map_err(|error| error.to_string()).err().unwrap_or_default();
        assert!(message.contains("V999") && message.contains(env!("CARGO_PKG_VERSION")), "{message}");
    }
}
