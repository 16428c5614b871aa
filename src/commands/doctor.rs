//! `jobctl doctor`.

use clap::Args;
use mysql_async::Conn;
use serde_json::Value;

use crate::db::{self, Rows, Session};
use crate::error::{Error, Kind};
use crate::report::{self, Answer, Finding};
use crate::settings::Settings;

/// Check that what is written of your jobs is true, and what a server keeps
///
/// Compares the row of each job with its lock, its controller and this server, and looks whether the server keeps what it
/// committed. Each mismatch is one sentence, with what mends it. Ends with 1 if there is any.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Mend what can be mended safely
    #[arg(long)]
    pub fix: bool,
}

/// What a server must be set to, so that no claim is lost in a crash.
const DURABLE: [(&str, &str); 2] = [
    ("SELECT @@global.innodb_flush_log_at_trx_commit", "innodb_flush_log_at_trx_commit"),
    ("SELECT IF(@@global.log_bin, @@global.sync_binlog, 1)", "sync_binlog"),
];

/// Checks, and mends if asked to.
pub async fn run(settings: &Settings, args: DoctorArgs) -> Result<Answer, Error> {
    let mut conn = db::connect(settings, Session::Own).await?;
    if !db::takes_writes(&mut conn).await? {
        return Err(Error::new(Kind::Refused, "this server is read-only: what is written here is another's")
            .hint("ask the primary: `--host`"));
    }
    let mut findings = jobs(&mut conn, settings).await?;
    if args.fix {
        for finding in findings.iter().filter(|finding| finding.mendable()) {
            db::call(&mut conn, &settings.schema, "job$mend", vec![finding.job_name.as_str().into()]).await?;
        }
        findings = jobs(&mut conn, settings).await?;
    }
    findings.extend(server(&mut conn).await?);
    conn.disconnect().await?;
    Ok(report::findings(&findings))
}

/// What the schema finds out about each job.
async fn jobs(conn: &mut Conn, settings: &Settings) -> Result<Vec<Finding>, Error> {
    let rows: Rows = db::call(conn, &settings.schema, "job$doctor", Vec::new()).await?;
    let text = |row: &db::Record, column: &str| row.get(column).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(rows
        .iter()
        .map(|row| Finding { job_name: text(row, "job_name"), finding: text(row, "finding"), message: text(row, "message") })
        .collect())
}

/// Whether the server keeps what it committed.
async fn server(conn: &mut Conn) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for (sql, name) in DURABLE {
        let value = db::first::<u64>(conn, sql, ()).await?.unwrap_or(1);
        if value != 1 {
            findings.push(Finding {
                job_name: String::new(),
                finding: "NOT_DURABLE".into(),
                message: format!(
                    "{name} is {value}: a crash of the server can lose what it committed, and so run an occurrence twice"
                ),
            });
        }
    }
    Ok(findings)
}
