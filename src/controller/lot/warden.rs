//! The connection that holds the locks of parked jobs.

use jiff::{SignedDuration, Timestamp};
use mysql_async::Conn;
use mysql_async::prelude::Queryable;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::controller::Plan;
use crate::controller::bell::Identity;
use crate::controller::silence::{self, Line};
use crate::db::{self, Record};
use crate::error::{Error, Kind};
use crate::settings::Settings;

/// A row that somebody has locked must not keep the others waiting.
const PINNED: &str = "SET innodb_lock_wait_timeout = 1";

/// What a parked job is to do next.
#[derive(Debug)]
pub enum Action {
    /// Nothing until then, by the clock of the server.
    Wait(Timestamp),
    /// Nothing until it is changed.
    Idle,
    /// Run, in a session.
    Due,
    /// The same again: something was skipped.
    Skip,
    /// It has ended.
    End,
    /// Its row is locked.
    Busy,
}

/// A step of a parked job.
#[derive(Debug)]
pub struct Turn {
    pub action: Action,
    pub message: String,
}

/// The connection.
pub struct Warden {
    conn: Conn,
    line: Line,
    schema: String,
    /// Whose life the parked jobs depend on.
    pub identity: Identity,
    /// Its number.
    pub connection: u64,
    /// What the clock of the server said, and when.
    clock: (Timestamp, Instant),
}

impl Warden {
    /// Logs in on a server that takes writes.
    pub async fn open(settings: &Settings, plan: &Plan, identity: Identity) -> Result<Warden, Error> {
        let (mut conn, line) = Line::open(settings, silence::patience(plan.ttl)).await?;
        line.answer(async { Ok(conn.query_drop(PINNED).await?) }).await?;
        let connection = conn.id().into();
        let clock = (Timestamp::UNIX_EPOCH, Instant::now());
        let mut warden = Warden { conn, line, schema: settings.schema.clone(), identity, connection, clock };
        warden.look().await?;
        Ok(warden)
    }

    /// Looks whether the connection stands, and at the clock; a server that takes no writes any more is as good as none.
    pub async fn look(&mut self) -> Result<(), Error> {
        let sql = format!("SELECT UTC_TIMESTAMP(6) AS now, {} AS read_only", db::READ_ONLY);
        let rows = self.line.answer(db::rows(&mut self.conn, &sql, ())).await?;
        let row = rows.into_first().unwrap_or_default();
        if row.get("read_only").and_then(Value::as_u64) != Some(0) {
            return Err(Error::new(Kind::Refused, "this server is read-only"));
        }
        self.clock = (time(&row, "now").ok_or_else(unexpected)?, Instant::now());
        Ok(())
    }

    /// What the clock of the server says now.
    pub fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.clock.1.elapsed()).unwrap_or_default();
        self.clock.0.saturating_add(passed).unwrap_or(self.clock.0)
    }

    /// Parks a job: gives the token, or why it was refused.
    pub async fn park(&mut self, job: &str) -> Result<Result<String, String>, Error> {
        let options = json!({ "controller": self.identity.name, "life": self.identity.life });
        let row = self.call("job$park", vec![job.into(), options.to_string().into()]).await?;
        Ok(text(&row, "run_token").ok_or_else(|| text(&row, "message").unwrap_or_default()))
    }

    /// Takes a step of a parked job; or ends it.
    pub async fn turn(&mut self, job_id: u64, token: &str, end: Option<&str>) -> Result<Turn, Error> {
        let row = self.call("job$_turn", vec![job_id.into(), token.into(), self.identity.life.into(), end.into()]).await?;
        let action = match text(&row, "action").as_deref() {
            Some("WAIT") => Action::Wait(time(&row, "due").ok_or_else(unexpected)?),
            Some("IDLE") => Action::Idle,
            Some("DUE") => Action::Due,
            Some("SKIP") => Action::Skip,
            Some("END") => Action::End,
            Some("BUSY") => Action::Busy,
            _ => return Err(unexpected()),
        };
        Ok(Turn { action, message: text(&row, "message").unwrap_or_default() })
    }

    /// Lets go of the lock of a job that a session has taken over.
    pub async fn hand_over(&mut self, job_id: u64) -> Result<(), Error> {
        self.call("job$_hand_over", vec![job_id.into()]).await.map(drop)
    }

    async fn call(&mut self, routine: &str, arguments: Vec<mysql_async::Value>) -> Result<Record, Error> {
        let rows = self.line.answer(db::call(&mut self.conn, &self.schema, routine, arguments)).await?;
        Ok(rows.into_first().unwrap_or_default())
    }
}

fn text(row: &Record, column: &str) -> Option<String> {
    row.get(column)?.as_str().map(str::to_owned)
}

fn time(row: &Record, column: &str) -> Option<Timestamp> {
    row.get(column)?.as_str()?.parse().ok()
}

fn unexpected() -> Error {
    Error::new(Kind::Failed, "the server gave an unexpected answer")
}
