//! Reads, again and again, what the schema says of the owner's jobs.

use std::time::Duration;

use mysql_async::Conn;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::backoff::Backoff;
use crate::db::{self, Session, connect};
use crate::error::Error;
use crate::model::JobOverview;
use crate::settings::Settings;

/// Between two looks.
const PERIOD: Duration = Duration::from_millis(500);

/// Opens the control connection.
pub async fn open(settings: &Settings) -> Result<Conn, Error> {
    connect(settings, Session::Own).await
}

/// Looks once.
pub async fn look(conn: &mut Conn, settings: &Settings) -> Result<Vec<JobOverview>, Error> {
    let rows = db::call(conn, &settings.schema, "job$overview", vec![mysql_async::Value::NULL]).await?;
    JobOverview::read_all(&rows)
}

/// Looks for ever, over outages of any length: says once that the server is lost, and once that it is back.
pub async fn run(settings: Settings, conn: Conn, looks: mpsc::Sender<Vec<JobOverview>>) {
    let mut conn = Some(conn);
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

async fn once(settings: &Settings, conn: &mut Option<Conn>) -> Result<Vec<JobOverview>, Error> {
    let conn = match conn {
        Some(conn) => conn,
        None => conn.insert(open(settings).await?),
    };
    look(conn, settings).await
}
