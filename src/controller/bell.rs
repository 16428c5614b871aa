//! The bell: a connection that holds the life lock of this controller, and one bell per runner.
//!
//! When it is gone, so is the lock, and every runner of ours wakes and ends: whoever stands by may go on at once. So it never
//! waits for anything, and when it breaks while we live, a new one is made and our runners come back.

use std::collections::HashMap;
use std::time::Duration;

use mysql_async::Conn;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::Plan;
use super::backoff::Backoff;
use super::silence::{self, Line};
use crate::db;
use crate::error::{Error, Kind};
use crate::settings::{self, Settings};

/// How often it is looked whether the connection still stands.
const LOOK: Duration = Duration::from_millis(400);

/// What this controller is known by, as long as its present bell stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    /// Its name in the schema.
    pub name: String,
    /// Number of its life lock.
    pub life: u64,
}

/// A runner's place among the bells.
#[derive(Clone, Debug)]
pub struct Place {
    /// Who keeps the runner alive.
    pub identity: Identity,
    /// The first bell that the runner waits for.
    pub bell: u64,
}

/// Something to do.
enum Request {
    /// Hold a bell for a job that is about to get a runner.
    Take(u64, oneshot::Sender<Place>),
    /// Wake the runners of these jobs.
    Ring(Vec<u64>),
    /// Begin anew: this life was judged.
    Renew(u64),
}

/// A way to reach the bell.
#[derive(Clone)]
pub struct Bell {
    requests: mpsc::UnboundedSender<Request>,
    identity: watch::Receiver<Option<Identity>>,
}

impl Bell {
    /// Opens the connection, takes the life lock, and goes on doing so for ever.
    ///
    /// # Errors
    ///
    /// [`Kind::Busy`] when a controller of that very name lives; what the login says.
    pub async fn open(settings: &Settings, plan: &Plan) -> Result<Bell, Error> {
        let (requests, inbox) = mpsc::unbounded_channel();
        let tower = Tower::open(settings, plan, None).await?;
        let (told, identity) = watch::channel(Some(tower.identity.clone()));
        tokio::spawn(keep(settings.clone(), plan.clone(), tower, inbox, told));
        Ok(Bell { requests, identity })
    }

    /// Holds a bell for a job, as soon as there is one to be held; `None` when the process ends.
    pub async fn take(&self, job_id: u64) -> Option<Place> {
        loop {
            let (answer, place) = oneshot::channel();
            self.requests.send(Request::Take(job_id, answer)).ok()?;
            // A bell that breaks in that moment answers nothing; the next one will.
            if let Ok(place) = place.await {
                return Some(place);
            }
        }
    }

    /// Wakes the runners of these jobs.
    pub fn ring(&self, job_ids: Vec<u64>) {
        // The bell is gone only when the process ends.
        let _ = self.requests.send(Request::Ring(job_ids));
    }

    /// Begins anew, unless it has already.
    pub fn renew(&self, life: u64) {
        let _ = self.requests.send(Request::Renew(life));
    }

    /// Who we are, as soon as there is a bell; `None` when the process ends.
    pub async fn known(&self) -> Option<Identity> {
        self.identity.clone().wait_for(Option::is_some).await.ok()?.clone()
    }

    /// Who we are now; `None` while there is no bell.
    pub fn identity(&self) -> Option<Identity> {
        self.identity.borrow().clone()
    }
}

/// The connection with its locks.
struct Tower {
    conn: Conn,
    line: Line,
    schema: String,
    identity: Identity,
    /// The bell that is held now, by job.
    bells: HashMap<u64, u64>,
}

impl Tower {
    /// Begins a life; `former` is the one before, whose connection may not know yet that it was given up.
    async fn open(settings: &Settings, plan: &Plan, former: Option<u64>) -> Result<Tower, Error> {
        let (mut conn, line) = Line::open(settings, silence::patience(plan.ttl)).await?;
        let options = json!({
            "name": plan.controller,
            "exact": plan.exact,
            "host": settings::host_name(),
            "pid": std::process::id(),
            "version": env!("CARGO_PKG_VERSION"),
            "ttl": plan.ttl.as_secs_f64(),
            "former": former,
        });
        let options = vec![options.to_string().into()];
        let rows = line.answer(db::call(&mut conn, &settings.schema, "job$controller", options)).await?;
        let row = rows.into_first().unwrap_or_default();
        let name = row.get("controller_name").and_then(Value::as_str).map(str::to_owned);
        let life = row.get("controller_life").and_then(Value::as_u64);
        let unknown = || Error::new(Kind::Failed, "`job$controller` gave no answer");
        let identity = Identity { name: name.ok_or_else(unknown)?, life: life.ok_or_else(unknown)? };
        Ok(Tower { conn, line, schema: settings.schema.clone(), identity, bells: HashMap::new() })
    }

    /// Takes the next bell of each of these jobs, and releases the one before it.
    async fn ring(&mut self, job_ids: &[u64]) -> Result<(), Error> {
        let next = |job_id: &u64| (*job_id, self.bells.get(job_id).map_or(1, |bell| bell + 1));
        let bells: Vec<_> = job_ids.iter().map(next).collect();
        let arguments = vec![self.identity.life.into(), json!(bells).to_string().into()];
        self.line.answer(db::call(&mut self.conn, &self.schema, "job$ring", arguments)).await?;
        self.bells.extend(bells);
        Ok(())
    }

    /// Looks whether the connection stands.
    async fn look(&mut self) -> Result<(), Error> {
        self.line.answer(db::rows(&mut self.conn, "DO 0", ())).await.map(drop)
    }
}

/// Rings what is to be rung, and makes a new bell whenever one breaks.
async fn keep(
    settings: Settings,
    plan: Plan,
    mut tower: Tower,
    mut inbox: mpsc::UnboundedReceiver<Request>,
    told: watch::Sender<Option<Identity>>,
) {
    loop {
        let Err(error) = serve(&mut tower, &mut inbox).await else { return };
        told.send_replace(None);
        tracing::warn!("lost the bell, its runners end: {}", error.with_cause());
        // Its locks are to be free now, whatever state it is in.
        let former = Some(tower.identity.life);
        drop(tower);
        let mut backoff = Backoff::default();
        tower = loop {
            match Tower::open(&settings, &plan, former).await {
                Ok(tower) => break tower,
                Err(_) => sleep(backoff.wait()).await,
            }
        };
        told.send_replace(Some(tower.identity.clone()));
        tracing::info!("the bell is back");
    }
}

/// Serves until the connection breaks; without an error when nobody is left to be served.
async fn serve(tower: &mut Tower, inbox: &mut mpsc::UnboundedReceiver<Request>) -> Result<(), Error> {
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            request = inbox.recv() => match request {
                None => return Ok(()),
                Some(Request::Take(job_id, answer)) => {
                    tower.ring(&[job_id]).await?;
                    let place = Place { identity: tower.identity.clone(), bell: tower.bells[&job_id] };
                    // Whoever asked may have ended.
                    let _ = answer.send(place);
                }
                Some(Request::Ring(job_ids)) => tower.ring(&job_ids).await?,
                Some(Request::Renew(life)) if life == tower.identity.life => {
                    return Err(Error::new(Kind::Refused, "this controller was written off, as it showed no sign of life"));
                }
                Some(Request::Renew(_)) => {}
            },
            _ = look.tick() => tower.look().await?,
        }
    }
}
