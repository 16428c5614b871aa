//! The ear: a connection that waits in the server until something of the owner's jobs changes.
//!
//! Whoever makes a request wakes it there; what else changes in a job it finds within some hundredths of a second, and what else there
//! is within a second. Where it is deaf, its owner looks as often as if there were none: it says nothing of outages, as others do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mysql_async::Conn;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::backoff::Backoff;
use super::bell::Bell;
use super::silence::{self, Line};
use crate::db;
use crate::error::{Error, Kind};
use crate::settings::Settings;

/// A wait that was interrupted, and not by its own server's routine, which answers.
const INTERRUPTED: u16 = 1317;

/// What is known of changes.
#[derive(Clone, Debug, Default)]
pub struct Ear(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    change: Notify,
    hears: AtomicBool,
}

impl Ear {
    /// Begins to listen, and goes on for ever.
    pub fn open(settings: &Settings, bell: &Bell) -> Ear {
        let ear = Ear::default();
        tokio::spawn(listen(ear.clone(), settings.clone(), bell.clone()));
        ear
    }

    /// Waits until something has changed since the last time; nothing is lost when the wait is dropped.
    pub async fn changed(&self) {
        self.0.change.notified().await;
    }

    /// Takes note of a change that is known otherwise.
    pub fn note(&self) {
        self.0.change.notify_one();
    }

    /// Whether changes are heard now.
    pub fn hears(&self) -> bool {
        self.0.hears.load(Ordering::Relaxed)
    }
}

/// The connection, and what it answered last.
struct Listener {
    settings: Settings,
    conn: Option<(Conn, Line)>,
    heard: Value,
    digest: Value,
}

async fn listen(ear: Ear, settings: Settings, bell: Bell) {
    let mut listener = Listener { settings, conn: None, heard: Value::Null, digest: Value::Null };
    let mut backoff = Backoff::default();
    // The bell is gone only when the process ends.
    while let Some(identity) = bell.known().await {
        match listener.once(identity.life).await {
            Ok(changed) => {
                backoff.reset();
                ear.0.hears.store(true, Ordering::Relaxed);
                if changed {
                    ear.note();
                }
            }
            Err(error) if error.is_server(&[INTERRUPTED]) => {}
            Err(_) => {
                listener.conn = None;
                if ear.0.hears.swap(false, Ordering::Relaxed) {
                    ear.note();
                }
                sleep(backoff.wait()).await;
            }
        }
    }
}

impl Listener {
    /// Waits once, and tells whether something is otherwise than before.
    async fn once(&mut self, life: u64) -> Result<bool, Error> {
        let (conn, line) = match &mut self.conn {
            Some(conn) => conn,
            None => self.conn.insert(Line::open(&self.settings, silence::PATIENCE).await?),
        };
        let arguments = vec![life.into(), self.heard.as_str().into(), self.digest.as_str().into()];
        let rows = line.answer(db::call(conn, &self.settings.schema, "job$_listen", arguments)).await?;
        let mut row = rows.into_first().unwrap_or_default();
        if row.get("alive").and_then(Value::as_u64) != Some(1) {
            // It is another server, or the bell is about to be another one.
            return Err(Error::new(Kind::Refused, "this controller is not known there"));
        }
        let [heard, digest] = ["heard", "digest"].map(|column| row.remove(column).unwrap_or_default());
        let changed = heard != self.heard || digest != self.digest;
        (self.heard, self.digest) = (heard, digest);
        Ok(changed)
    }
}
