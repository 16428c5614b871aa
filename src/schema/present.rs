//! What is in the schema before an installation.

use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use refinery::Migration;

use super::migrate::{self, Applied};
use super::objects::{self, HISTORY, OBJECTS, OWNER_MARK};
use crate::db::{self, quote};
use crate::error::{Error, Kind};
use crate::model::Account;

/// A schema as it was found.
#[derive(Debug, Default)]
pub struct Present {
    /// Whether there is such a schema.
    pub exists: bool,
    /// Whether jobctl has begun to install itself there.
    pub ours: bool,
    /// The names of its tables, views, routines and events.
    pub names: Vec<String>,
    /// The migrations that were applied.
    pub applied: Vec<Applied>,
    /// The version that was installed.
    pub version: Option<String>,
    /// The definer of its routines.
    pub definer: Option<Account>,
}

impl Present {
    /// Looks at the schema; makes it the session's default if it exists.
    pub async fn look(conn: &mut Conn, schema: &str) -> Result<Self, Error> {
        let sql = "SELECT 1 FROM information_schema.schemata WHERE schema_name = ?";
        if db::first::<u8>(conn, sql, (schema,)).await?.is_none() {
            return Ok(Present::default());
        }
        conn.query_drop(format!("USE {}", quote::identifier(schema))).await?;
        let names: Vec<String> = conn
            .query(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()
                 UNION SELECT routine_name FROM information_schema.routines WHERE routine_schema = DATABASE()
                 UNION SELECT event_name FROM information_schema.events WHERE event_schema = DATABASE()",
            )
            .await?;
        let has = |name: &str| names.iter().any(|found| found == name);
        let applied = if has(HISTORY) { migrate::applied(conn, schema).await? } else { Vec::new() };
        let version = if has("job_setting") { setting(conn, "version").await? } else { None };
        let sql = "SELECT definer FROM information_schema.routines WHERE routine_schema = DATABASE() AND routine_name = ?";
        let definer: Option<String> = db::first(conn, sql, (OWNER_MARK,)).await?;
        let definer = definer.and_then(|account| account.parse().ok());
        Ok(Present { exists: true, ours: has(HISTORY) || has(OWNER_MARK), names, applied, version, definer })
    }

    /// Refuses a schema that lost a table which its history says it has, and which holds what nobody can make anew.
    pub fn has_tables(&self, schema: &str, pending: &[Migration]) -> Result<(), Error> {
        let made = |table: &str| {
            let create = format!("CREATE TABLE IF NOT EXISTS {table} (");
            pending.iter().any(|migration| migration.sql().is_some_and(|sql| sql.contains(&create)))
        };
        let tables = OBJECTS.iter().filter(|object| object.kind == objects::Kind::Table && object.name != HISTORY);
        let mut missing = tables.filter(|table| !made(table.name) && !self.names.iter().any(|name| name == table.name));
        match missing.next() {
            None => Ok(()),
            Some(table) => Err(Error::new(Kind::Refused, format!("schema `{schema}` lacks its table `{}`", table.name))
                .hint("restore it from a backup; or begin anew: `jobctl uninstall`, `jobctl install`")),
        }
    }

    /// Refuses what an installation must not touch.
    pub fn admit(&self, schema: &str, into_existing: bool) -> Result<(), Error> {
        let refused = |message: String| Err(Error::new(Kind::Refused, message));
        if let Some(newer) = self.version.as_deref().filter(|version| is_newer(version, env!("CARGO_PKG_VERSION"))) {
            let message = format!(
                "schema `{schema}` holds jobctl {newer}, which is newer than this jobctl {}",
                env!("CARGO_PKG_VERSION")
            );
            return Err(Error::new(Kind::Refused, message).hint("use a newer jobctl"));
        }
        if self.ours || self.names.is_empty() {
            return Ok(());
        }
        if !into_existing {
            let message = format!("schema `{schema}` exists, is not empty, and is not jobctl's");
            return Err(
                Error::new(Kind::Refused, message).hint("`--database` names another schema, `--into-existing` shares this one")
            );
        }
        let taken =
            super::objects::OBJECTS.iter().find(|object| self.names.iter().any(|name| name.eq_ignore_ascii_case(object.name)));
        match taken {
            Some(object) => refused(format!("schema `{schema}` has a `{}` that is not jobctl's", object.name)),
            None => Ok(()),
        }
    }
}

/// Reads a setting of the default schema.
async fn setting(conn: &mut Conn, name: &str) -> Result<Option<String>, Error> {
    db::first(conn, "SELECT setting_value FROM job_setting WHERE setting_name = ?", (name,)).await
}

/// Whether a version is above another, part by part.
fn is_newer(version: &str, than: &str) -> bool {
    let parts = |version: &str| version.split(['.', '-', '+']).map_while(|part| part.parse().ok()).collect::<Vec<u64>>();
    parts(version) > parts(than)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        assert!(is_newer("0.10.0", "0.9.1"));
        assert!(!is_newer("0.1.0", "0.1.0"));
        assert!(!is_newer("0.1.0", "0.1.1"));
    }

    #[test]
    fn a_newer_schema_is_refused_and_both_versions_are_named() {
        let present = Present { version: Some("99.0.0".into()), ours: true, ..Present::default() };
        let message = present.admit("jobctl", false).expect_err("newer").to_string();
        assert!(message.contains("99.0.0") && message.contains(env!("CARGO_PKG_VERSION")), "{message}");
    }

    #[test]
    fn a_schema_of_somebody_else_is_left_alone() {
        let shop = Present { exists: true, names: vec!["orders".into()], ..Present::default() };
        assert!(shop.admit("shop", false).is_err());
        assert!(shop.admit("shop", true).is_ok());
        let clash = Present { names: vec!["Job".into()], ..shop };
        assert!(clash.admit("shop", true).is_err());
    }
}
