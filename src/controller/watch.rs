//! Reads, again and again, what the schema says of the owner's jobs: all of it when something changed, else only what needs a
//! controller.

use std::time::Duration;

use mysql_async::Conn;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use super::Plan;
use super::backoff::Backoff;
use super::bell::Bell;
use super::ear::Ear;
use super::silence::{self, Line};
use crate::db::{self, Session, connect};
use crate::error::Error;
use crate::model::{JobOverview, Span};
use crate::settings::Settings;

/// Between two looks while something needs a controller, or may need it soon; and while nothing does.
const PERIOD: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(1)];
/// For so long after a change more may follow: runners that end, locks that become free.
const STIR: Duration = Duration::from_secs(2);
/// All jobs are looked at at least this often.
const ALL: Duration = Duration::from_secs(10);
/// Heartbeats in one time to live.
const HEARTBEATS: u32 = 6;

/// What was seen.
#[derive(Debug)]
pub struct Look {
    /// Whether these are all jobs of the owner; else those that need a runner here, or that take too long.
    pub all: bool,
    /// The jobs.
    pub jobs: Vec<JobOverview>,
}

/// Opens the control connection; a server that takes no writes is as good as none.
pub async fn open(settings: &Settings, ttl: Duration) -> Result<(Conn, Line), Error> {
    let (mut conn, line) = Line::open(settings, silence::patience(ttl)).await?;
    line.answer(db::writable(&mut conn)).await?;
    Ok((conn, line))
}

/// Looks once.
pub async fn look(conn: &mut Conn, settings: &Settings, all: bool) -> Result<Look, Error> {
    let rows = match all {
        true => db::call(conn, &settings.schema, "job$overview", vec![mysql_async::Value::NULL]).await?,
        false => db::call(conn, &settings.schema, "job$look", Vec::new()).await?,
    };
    Ok(Look { all, jobs: JobOverview::read_all(&rows)? })
}

/// Looks for ever, over outages of any length: says once that the server is lost, and once that it is back.
pub async fn run(settings: Settings, plan: Plan, conn: (Conn, Line), bell: Bell, ear: Ear, looks: mpsc::Sender<Look>) {
    let now = Instant::now();
    let conn = Some(conn);
    let mut watch =
        Watch { settings, plan, bell, ear, conn, heartbeat: now, all: now, stir: now + STIR, pace: PERIOD[1], needed: true };
    let mut backoff = Backoff::default();
    let mut lost = false;
    loop {
        let begun = Instant::now();
        match watch.once().await {
            Ok(look) => {
                if lost {
                    tracing::info!("the server is back");
                    lost = false;
                }
                backoff.reset();
                if looks.send(look).await.is_err() {
                    return;
                }
                // However many changes there are, the server has half of its time for others.
                sleep(begun.elapsed().min(PERIOD[0])).await;
                tokio::select! {
                    () = sleep(watch.rest()) => {}
                    () = watch.ear.changed() => {
                        watch.all = Instant::now();
                        watch.stir = watch.all + STIR;
                    }
                }
            }
            Err(error) => {
                // An answer that was not waited for would come to the next question.
                watch.conn = None;
                watch.all = Instant::now();
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
    plan: Plan,
    bell: Bell,
    ear: Ear,
    conn: Option<(Conn, Line)>,
    /// When the next heartbeat is due.
    heartbeat: Instant,
    /// When all jobs are to be looked at again.
    all: Instant,
    /// Until when more is to be expected.
    stir: Instant,
    /// Between two looks while nothing needs a controller: short where timeouts are.
    pace: Duration,
    /// Whether something needed one at the last look that was for this.
    needed: bool,
}

impl Watch {
    /// Shows a sign of life when one is due, and looks.
    async fn once(&mut self) -> Result<Look, Error> {
        let now = Instant::now();
        let (conn, line) = match &mut self.conn {
            Some(conn) => conn,
            None => {
                // It may be another server than before, and then the bell must follow.
                self.heartbeat = now;
                self.conn.insert(open(&self.settings, self.plan.ttl).await?)
            }
        };
        let (due, all) = (self.heartbeat <= now, self.all <= now || !self.ear.hears());
        let look = line.answer(async {
            if due {
                beat(conn, &self.settings, &self.bell, false).await?;
            }
            look(conn, &self.settings, all).await
        });
        let look = look.await?;
        if due {
            self.heartbeat = Instant::now() + self.plan.ttl / HEARTBEATS;
        }
        if all {
            self.all = now + ALL;
        }
        self.adapt(&look);
        Ok(look)
    }

    /// Learns from a look how soon the next one has to be.
    fn adapt(&mut self, look: &Look) {
        let ours = |job: &&JobOverview| self.plan.names.is_empty() || self.plan.names.contains(&job.job_name);
        let mut ours = look.jobs.iter().filter(ours);
        if look.all {
            let least = ours.filter_map(|job| job.job_timeout).map(Span::duration).min();
            self.pace = least.map_or(PERIOD[1], |least| (least / 2).clamp(PERIOD[0], PERIOD[1]));
        } else {
            self.needed = ours.next().is_some();
        }
    }

    /// How long to wait before the next look.
    fn rest(&self) -> Duration {
        let now = Instant::now();
        let soon = self.needed || self.stir > now || !self.ear.hears();
        let pace = if soon { PERIOD[0] } else { self.pace };
        pace.min(self.heartbeat.saturating_duration_since(now))
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
