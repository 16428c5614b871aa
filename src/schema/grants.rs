//! The GRANT statements that go with an installation.

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Row};

use super::capabilities::can;
use super::objects::{self, OWNER_MARK, Object};
use crate::db::quote::identifier;
use crate::error::Error;
use crate::model::Account;

/// What an account needs to own jobs.
pub fn owner(schema: &str, owner: &str) -> Vec<String> {
    let schema = identifier(schema);
    let routines = objects::routines().filter(|routine| routine.owner);
    let grants = routines.map(|routine| format!("GRANT EXECUTE ON PROCEDURE {schema}.{} TO {owner}", identifier(routine.name)));
    grants.chain([format!("GRANT INSERT (ticket_token) ON {schema}.`job_ticket` TO {owner}")]).collect()
}

/// What makes a locked account that has just what jobctl's view and routines need of their definer.
pub async fn definer(conn: &mut Conn, schema: &str, definer: &Account) -> Result<Vec<String>, Error> {
    let pattern = pattern(conn, schema).await?;
    let mysql = can(conn, "DO @@server_uuid").await?;
    let mut grants = vec![
        format!("CREATE USER {definer} ACCOUNT LOCK"),
        format!("GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON {pattern}.* TO {definer}"),
        // Tells whether the session of an open run still lives, and on MySQL whether a body left temporary tables.
        format!("GRANT PROCESS ON *.* TO {definer}"),
        // Stops runs, whatever they are in the middle of.
        format!("GRANT {} ON *.* TO {definer}", if mysql { "CONNECTION_ADMIN" } else { "CONNECTION ADMIN" }),
    ];
    if mysql {
        // Only MySQL has these: several primaries, where no lock holds, and what a body left: user variables, tables.
        let tables = ["replication_group_members", "user_variables_by_thread", "memory_summary_by_thread_by_event_name"];
        grants.extend(tables.map(|table| format!("GRANT SELECT ON performance_schema.{table} TO {definer}")));
    }
    Ok(grants)
}

/// The schema's name as the object of a GRANT: a pattern, where `_` must be escaped, unless partial revokes switch patterns off.
async fn pattern(conn: &mut Conn, schema: &str) -> Result<String, Error> {
    let literal: Option<Option<u8>> = conn.query_first("SELECT @@global.partial_revokes").await.unwrap_or_default();
    let name = identifier(schema);
    let escaped = name.replace('_', "\\_").replace('%', "\\%");
    // Servers take a pattern of 64 characters at most, quotes not counted.
    let fits = escaped.chars().count() <= 64 + 2;
    Ok(if fits && literal.flatten() != Some(1) { escaped } else { name })
}

/// A right on one routine that an account has now.
#[derive(Clone, Debug)]
pub struct Held {
    account: Account,
    routine: String,
    rights: Vec<String>,
}

/// Rights on the schema's routines, which the server forgets when a routine is dropped.
pub async fn held(conn: &mut Conn, schema: &str) -> Result<Vec<Held>, Error> {
    let sql = "SELECT user, host, routine_name, CAST(proc_priv AS CHAR) FROM mysql.procs_priv
               WHERE db = ? AND routine_type = 'PROCEDURE' ORDER BY user, host, routine_name";
    let rows: Vec<Row> = conn.exec(sql, (schema,)).await?;
    let held = rows.into_iter().map(|row| {
        let (user, host, routine, rights): (String, String, String, String) = mysql_async::from_row(row);
        Held { account: Account { user, host }, routine, rights: rights.split(',').map(str::to_uppercase).collect() }
    });
    Ok(held.collect())
}

/// The statements that give back, on one reinstalled routine, what accounts held; owners also get what is new to them.
pub fn restore(schema: &str, routine: &Object, held: &[Held]) -> Vec<String> {
    let on = format!("ON PROCEDURE {}.{}", identifier(schema), identifier(routine.name));
    let mut grants = Vec::new();
    for right in held.iter().filter(|right| right.routine.eq_ignore_ascii_case(routine.name)) {
        let option = if right.rights.iter().any(|right| right == "GRANT") { " WITH GRANT OPTION" } else { "" };
        let rights: Vec<_> = right.rights.iter().filter(|right| *right != "GRANT").map(String::as_str).collect();
        let rights = if rights.is_empty() { "USAGE".to_owned() } else { rights.join(", ") };
        grants.push(format!("GRANT {rights} {on} TO {}{option}", right.account));
    }
    let has = |account: &Account, name: &str| {
        held.iter().any(|right| right.account == *account && right.routine.eq_ignore_ascii_case(name))
    };
    for right in held.iter().filter(|right| routine.owner && right.routine.eq_ignore_ascii_case(OWNER_MARK)) {
        if !has(&right.account, routine.name) {
            grants.push(format!("GRANT EXECUTE {on} TO {}", right.account));
        }
    }
    grants
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(user: &str, routine: &str, rights: &[&str]) -> Held {
        let account = Account { user: user.into(), host: "%".into() };
        Held { account, routine: routine.into(), rights: rights.iter().map(|right| (*right).to_owned()).collect() }
    }

    fn routine(name: &str) -> &'static Object {
        objects::routines().find(|routine| routine.name == name).expect(name)
    }

    #[test]
    fn a_reinstalled_routine_keeps_its_grants() {
        let held = [right("bob", "job$run", &["EXECUTE", "GRANT"]), right("eve", "job$drop", &["EXECUTE"])];
        let grants = restore("s", routine("job$run"), &held);
        assert_eq!(grants, ["GRANT EXECUTE ON PROCEDURE `s`.`job$run` TO `bob`@`%` WITH GRANT OPTION"]);
    }

    #[test]
    fn an_owner_gets_what_a_new_version_adds() {
        let held = [right("bob", "job$run", &["EXECUTE"]), right("eve", "job$drop", &["EXECUTE"])];
        let grants = restore("s", routine("job$define"), &held);
        assert_eq!(grants, ["GRANT EXECUTE ON PROCEDURE `s`.`job$define` TO `bob`@`%`"]);
    }

    #[test]
    fn the_mark_of_an_owner_is_granted_to_owners() {
        assert!(routine(OWNER_MARK).owner);
    }
}
