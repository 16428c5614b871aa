//! Reads, again and again, what the schema says of the owner's jobs.

use std::time::Duration;

use mysql_async::Conn;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::backoff::Backoff;
use super::bell::Bell;
use super::silence::{self, Line};
use crate::db::{self, Session, connect};
use crate::error::Error;
use crate::model::JobOverview;
use crate::settings::Settings;

/// Between two looks.
const PERIOD: Duration = Duration::from_millis(250);
/// Heartbeats in one time to live.
const HEARTBEATS: u32 = 6;

/// Opens the control connection; a server that takes no writes is as good as none.
pub async fn open(settings: &Settings, ttl: Duration) -> Result<(Conn, Line), Error> {
    let (mut conn, line) = Line::open(settings, silence::patience(ttl)).await?;
    line.answer(db::writable(&mut conn)).await?;
    Ok((conn, line))
}

/// Looks once.
pub async fn look(conn: &mut Conn, settings: &Settings) -> Result<Vec<JobOverview>, Error> {
    let rows = db::call(conn, &settings.schema, "job$overview", vec![mysql_async::Value::NULL]).await?;
    JobOverview::read_all(&rows)
}

/// Looks for ever, over outages of any length: says once that the server is lost, and once that it is back.
pub async fn run(settings: Settings, conn: (Conn, Line), bell: Bell, ttl: Duration, looks: mpsc::Sender<Vec<JobOverview>>) {
    let mut watch = Watch { settings, bell, ttl, conn: Some(conn), heartbeat: Instant::now() };
    let mut backoff = Backoff::default();
    let mut lost = false;
    loop {
        match watch.once().await {
            Ok(jobs) => {
                if lost {
                    tracing::info!("the server is back");
                    lost = false;
                }
                backoff.reset();
                if looks.send(jobs).await.is_err() {
                    return;
                }
                sleep(PERIOD).await;
            }
            Err(error) => {
                // An answer that was not waited for would come to the next question.
                watch.conn = None;
                if !lost {
                    tracing::warn!("lost the server, trying again until it is back: {}", error.with_cause());
                    lost = true;
                }
                sleep(backoff.wait()).await;
            }
        }
    }
}

/// The control connection, and what goes over it.
struct Watch {
    settings: Settings,
    bell: Bell,
    ttl: Duration,
    conn: Option<(Conn, Line)>,
    /// When the next heartbeat is due.
    heartbeat: Instant,
}

impl Watch {
    /// Shows a sign of life when one is due, and looks.
    async fn once(&mut self) -> Result<Vec<JobOverview>, Error> {
        let (conn, line) = match &mut self.conn {
            Some(conn) => conn,
            None => {
                // It may be another server than before, and then the bell must follow.
                self.heartbeat = Instant::now();
                self.conn.insert(open(&self.settings, self.ttl).await?)
            }
        };
        let due = self.heartbeat <= Instant::now();
        let jobs = line.answer(async {
            if due {
                beat(conn, &self.settings, &self.bell, false).await?;
            }
            look(conn, &self.settings).await
        });
        let jobs = jobs.await?;
        if due {
            self.heartbeat = Instant::now() + self.ttl / HEARTBEATS;
        }
        Ok(jobs)
    }
}

/// Shows that this controller lives; begins anew when others have written it off, or when the server is another one.
pub async fn beat(conn: &mut Conn, settings: &Settings, bell: &Bell, finish: bool) -> Result<(), Error> {
    let Some(identity) = bell.identity() else { return Ok(()) };
    let options = json!({ "name": identity.name, "life": identity.life, "finish": finish });
    let rows = db::call(conn, &settings.schema, "job$heartbeat", vec![options.to_string().into()]).await?;
    if rows.into_first().and_then(|row| row.get("alive")?.as_u64()) == Some(0) {
        bell.renew(identity.life);
    }
    Ok(())
}

/// Tells the schema that this controller ends in good order.
pub async fn goodbye(settings: &Settings, bell: &Bell) -> Result<(), Error> {
    let mut conn = connect(settings, Session::Own).await?;
    beat(&mut conn, settings, bell, true).await?;
    Ok(conn.disconnect().await?)
}
