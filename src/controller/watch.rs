//! Reads, again and again, what the schema says of the owner's jobs.

use std::time::Duration;

use mysql_async::Conn;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::backoff::Backoff;
use super::bell::Bell;
use super::silence;
use crate::db::{self, Session, connect};
use crate::error::Error;
use crate::model::JobOverview;
use crate::settings::Settings;

/// Between two looks.
const PERIOD: Duration = Duration::from_millis(250);
/// Heartbeats in one time to live.
const HEARTBEATS: u32 = 6;

/// Opens the control connection.
pub async fn open(settings: &Settings) -> Result<Conn, Error> {
    connect(settings, Session::Own).await
}

/// Looks once.
pub async fn look(conn: &mut Conn, settings: &Settings) -> Result<Vec<JobOverview>, Error> {
    let id = conn.id();
    let looked = db::call(conn, &settings.schema, "job$overview", vec![mysql_async::Value::NULL]);
    let rows = silence::answer(settings, id, looked).await?;
    JobOverview::read_all(&rows)
}

/// Looks for ever, over outages of any length: says once that the server is lost, and once that it is back.
pub async fn run(settings: Settings, conn: Conn, bell: Bell, ttl: Duration, looks: mpsc::Sender<Vec<JobOverview>>) {
    let mut conn = Some(conn);
    let mut heartbeat = Instant::now();
    let mut backoff = Backoff::default();
    let mut lost = false;
    loop {
        match once(&settings, &mut conn).await {
            Ok(jobs) => {
                if lost {
                    tracing::info!("the server is back");
                    lost = false;
                }
                backoff.reset();
                if heartbeat <= Instant::now() {
                    heartbeat = Instant::now() + ttl / HEARTBEATS;
                    if let Some(conn) = &mut conn {
                        beat(conn, &settings, &bell, false).await;
                    }
                }
                if looks.send(jobs).await.is_err() {
                    return;
                }
                sleep(PERIOD).await;
            }
            Err(error) => {
                conn = None;
                if !lost {
                    tracing::warn!("lost the server, trying again until it is back: {}", error.with_cause());
                    lost = true;
                }
                sleep(backoff.wait()).await;
            }
        }
    }
}

/// Shows that this controller lives; begins anew when others have written it off. A failure shows in the next look.
pub async fn beat(conn: &mut Conn, settings: &Settings, bell: &Bell, finish: bool) {
    let Some(identity) = bell.identity() else { return };
    let options = json!({ "name": identity.name, "life": identity.life, "finish": finish });
    let id = conn.id();
    let beaten = db::call(conn, &settings.schema, "job$heartbeat", vec![options.to_string().into()]);
    let alive = silence::answer(settings, id, beaten).await.ok().and_then(|rows| rows.into_first()?.get("alive")?.as_u64());
    if alive == Some(0) {
        bell.renew(identity.life);
    }
}

/// Tells the schema that this controller ends in good order.
pub async fn goodbye(settings: &Settings, bell: &Bell) -> Result<(), Error> {
    let mut conn = open(settings).await?;
    beat(&mut conn, settings, bell, true).await;
    Ok(conn.disconnect().await?)
}

async fn once(settings: &Settings, conn: &mut Option<Conn>) -> Result<Vec<JobOverview>, Error> {
    let conn = match conn {
        Some(conn) => conn,
        None => conn.insert(open(settings).await?),
    };
    look(conn, settings).await
}
