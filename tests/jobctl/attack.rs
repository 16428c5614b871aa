//! What the attack tests share: objects of one account, the calls that an attacker would make, and the look afterwards.

use super::db::{Account, Db};
use super::session::name;

/// Creates an object among the job procedures with the rights of `account`: `PROCEDURE p() ...`, `TRIGGER ...`. Done by the administrator,
/// as a server with a binary log lets nobody else create triggers and functions (1419).
pub async fn owned(db: &Db, account: &Account, object: &str) {
    let mut admin = db.admin().await;
    admin.run(&format!("USE {}", name(db.bodies()))).await;
    admin.run(&format!("CREATE DEFINER = {account} {object}")).await;
}

/// The name of a routine or table of jobctl, with its schema.
pub fn of(db: &Db, object: &str) -> String {
    format!("{}.{}", name(db.schema()), name(object))
}

/// Options of a job that calls the procedure `hello`, as a literal in single quotes.
pub fn options(db: &Db) -> String {
    format!(r#"'{{"schema": "{}", "procedure": "hello", "every": 3600}}'"#, db.bodies())
}

/// A call of every routine behind the API that takes a ticket, with a token in `token`, aimed at the job `x`.
pub fn ticketed(db: &Db, token: &str) -> Vec<(&'static str, String)> {
    let options = options(db);
    let arguments = [
        ("job$_define", format!(", 'evil', {options}")),
        ("job$_alter", ", 'x', '{\"every\": 7200}'".into()),
        ("job$_drop", ", 'x', NULL".into()),
        ("job$_request", ", 'pause', 'x', NULL".into()),
        ("job$_switch", ", TRUE, NULL".into()),
        ("job$_stop", ", 'x', NULL".into()),
        ("job$_cancel", ", 'x', NULL".into()),
        ("job$_watch", String::new()),
        ("job$_doctor", String::new()),
        ("job$_mend", ", 'x'".into()),
        ("job$_controller", ", '{\"name\": \"eve\"}'".into()),
        ("job$_heartbeat", ", '{\"name\": \"eve\", \"life\": 1}'".into()),
        ("job$_ring", ", 1, '[]'".into()),
        ("job$_get_lock", ", 'x', @status, @by".into()),
        ("job$_release_lock", ", 'x', @status, @by".into()),
        ("job$_overview", ", NULL".into()),
        ("job$_acquire", ", 'x', NULL, NULL, FALSE, @id, @run_token, @message".into()),
        ("job$_look", String::new()),
    ];
    arguments.map(|(routine, rest)| (routine, format!("CALL {}({token}{rest})", of(db, routine)))).into()
}

/// A call of every API routine, aimed at the job `x`.
pub fn api(db: &Db) -> Vec<String> {
    let options = options(db);
    let replace = options.replace("3600", r#"7200, "replace": true"#);
    let calls = [
        format!("job$define`('evil', {options})"),
        format!("job$define`('x', {replace})"),
        r#"job$drop`('x', '{"purge_history": true}')"#.into(),
        "job$stop`('x', NULL)".into(),
        "job$get_lock`('x', @status, @by)".into(),
        "job$release_lock`('x', @status, @by)".into(),
        "job$overview`(NULL)".into(),
        "job$look`()".into(),
        "job$run`('x')".into(),
        r#"job$run_with`('x', '{"controller": "eve"}')"#.into(),
    ];
    calls.map(|call| format!("CALL {}.`{call}", name(db.schema()))).into()
}

/// Everything that the tables hold of an owner, but for a runner's signs of life.
pub async fn holdings(db: &Db, owner: &Account) -> Vec<Vec<String>> {
    let mut admin = db.admin().await;
    let mut rows = Vec::new();
    for table in ["job", "job_run", "job_event"] {
        let columns = format!(
            "SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position) FROM information_schema.columns
             WHERE table_schema = DATABASE() AND table_name = '{table}' AND column_name NOT IN ('job_runner_seen')"
        );
        admin.run("SET SESSION group_concat_max_len = 100000").await;
        let columns = admin.one(&columns).await;
        let owner = super::session::literal(&owner.user);
        rows.extend(
            admin.rows(&format!("SELECT '{table}', {columns} FROM {table} WHERE job_owner = {owner} ORDER BY 2, 3")).await,
        );
    }
    rows
}

/// Name and owner of every job, sorted.
pub async fn jobs(db: &Db) -> Vec<(String, String)> {
    let rows = db.admin().await.rows("SELECT job_owner, job_name FROM job ORDER BY job_owner, job_name").await;
    rows.into_iter().map(|row| (row[0].clone(), row[1].clone())).collect()
}
