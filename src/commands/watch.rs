//! What `status --watch` and `demo` share: jobs on a live screen, or, without a terminal, a table for every change.

use std::time::Duration;

use jiff::Timestamp;
use mysql_async::Conn;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval, sleep, sleep_until};

use super::request;
use super::status::read;
use crate::controller::{Backoff, Signal, Signals};
use crate::db::{Record, Rows};
use crate::error::{Error, Kind};
use crate::model::{JobName, JobOverview};
use crate::output::live::{Input, Live, Place, View};
use crate::output::{Output, log};
use crate::report::{self, Block};
use crate::settings::Settings;

/// Between two looks at the jobs, and never less than ten times as long as a look takes.
const PERIOD: Duration = Duration::from_millis(500);
/// How often clocks move on the screen.
const TICK: Duration = Duration::from_millis(250);
/// How long the answer to a key stays.
const MESSAGE: Duration = Duration::from_secs(4);
/// What can be typed.
const KEYS: &str = "q quit   ↑ ↓ choose   p pause or resume";
/// What differs from look to look although nothing happened.
const VOLATILE: &str = "job_runner_seen";

/// What to watch.
#[derive(Debug)]
pub struct Watch<'a> {
    /// How to reach the server.
    pub settings: &'a Settings,
    /// Names of the jobs; none: all.
    pub names: &'a [JobName],
    /// What stands above.
    pub title: String,
    /// What else is to be read above the jobs.
    pub notes: Vec<String>,
    /// Whether the log of this process is shown below.
    pub log: bool,
    /// When to end; `None`: when somebody wants to.
    pub until: Option<Instant>,
}

/// Why it ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// Somebody was done: `q`, or a reader that went away.
    Quit,
    /// A signal, or Ctrl-C.
    Signal(Signal),
    /// The time was over.
    Time,
}

/// The jobs as they were at an instant.
struct Look {
    rows: Rows,
    jobs: Vec<JobOverview>,
    /// The server's clock.
    now: Timestamp,
    /// Ours.
    at: Instant,
}

impl Look {
    /// The server's clock now, as far as ours tells.
    fn now(&self) -> Timestamp {
        self.now.checked_add(self.at.elapsed()).unwrap_or(self.now)
    }

    /// What is worth telling, without clocks.
    fn essence(&self) -> Vec<Record> {
        let mut rows = self.rows.records.clone();
        rows.iter_mut().for_each(|row| drop(row.remove(VOLATILE)));
        rows
    }
}

impl Watch<'_> {
    /// Watches until it ends.
    ///
    /// # Errors
    ///
    /// What the first look says; later ones are repeated until the server is back. What the terminal or stdout says.
    pub async fn run(&self, output: &mut Output, signals: &mut Signals) -> Result<End, Error> {
        let mut conn = super::status::connect(self.settings).await?;
        let first = look(&mut conn, self.settings, self.names).await?;
        let (sender, looks) = mpsc::channel(1);
        let reader = tokio::spawn(look_on(self.settings.clone(), self.names.to_vec(), conn, sender));
        let ended = match output.screen().filter(|screen| screen.terminal) {
            Some(screen) => self.draw(Live::enter(screen)?, first, looks, signals).await,
            None => self.print(output, first, looks, signals).await,
        };
        reader.abort();
        ended
    }

    /// On a terminal: one screen, redrawn in place.
    async fn draw(
        &self,
        mut live: Live,
        mut shown: Look,
        mut looks: mpsc::Receiver<Result<Look, Error>>,
        signals: &mut Signals,
    ) -> Result<End, Error> {
        let mut place = Place::default();
        let mut lost = None;
        let mut said: Option<(String, Instant)> = None;
        let (answer, mut answers) = mpsc::unbounded_channel();
        let mut tick = interval(TICK);
        loop {
            let now = shown.now();
            let table = report::status_table(&shown.jobs, now);
            let details = shown.jobs.get(place.chosen).map(|job| report::details(job, now, &self.settings.zone));
            said = said.filter(|(_, until)| *until > Instant::now());
            let log = self.log.then(log::lines);
            let view = View {
                title: &self.title,
                notes: &self.notes,
                table: &table,
                details: &details.unwrap_or_default(),
                log: log.as_deref(),
                message: said.as_ref().map(|(text, _)| text).or(lost.as_ref()).map(String::as_str),
                keys: KEYS,
            };
            live.draw(&view, &mut place)?;
            let rows = shown.jobs.len();
            let screen = isize::try_from(place.visible.max(1)).unwrap_or(1);
            tokio::select! {
                _ = tick.tick() => {}
                () = time_is_over(self.until) => return Ok(End::Time),
                signal = signals.next() => return Ok(End::Signal(signal)),
                Some(look) = looks.recv() => match look {
                    Ok(look) => {
                        keep_chosen(&mut place, &shown, &look);
                        shown = look;
                        lost = None;
                    }
                    Err(error) => lost = Some(format!("trying again: {}", error.with_cause())),
                },
                Some(text) = answers.recv() => said = Some((text, Instant::now() + MESSAGE)),
                input = live.next() => match input {
                    Input::Quit => return Ok(End::Quit),
                    Input::Interrupt => return Ok(End::Signal(Signal::Interrupt)),
                    Input::Gone => return Ok(End::Signal(Signal::Terminate)),
                    Input::Suspend => live.suspend()?,
                    Input::Resume => live.resume()?,
                    Input::Redraw => {}
                    Input::Move(by) => place.go(by, rows),
                    Input::Page(by) => place.go(by * screen, rows),
                    Input::First => place.go(isize::MIN, rows),
                    Input::Last => place.go(isize::MAX, rows),
                    Input::Pause => if let Some(job) = shown.jobs.get(place.chosen) {
                        tokio::spawn(pause_or_resume(self.settings.clone(), job.clone(), answer.clone()));
                    },
                },
            }
        }
    }

    /// Without a terminal: one table per change.
    async fn print(
        &self,
        output: &mut Output,
        mut shown: Look,
        mut looks: mpsc::Receiver<Result<Look, Error>>,
        signals: &mut Signals,
    ) -> Result<End, Error> {
        output.answer(&report::status(shown.rows.clone(), &shown.jobs, shown.now))?;
        let mut lost = false;
        let mut tick = interval(TICK);
        while !output.closed() {
            tokio::select! {
                _ = tick.tick() => {}
                () = time_is_over(self.until) => return Ok(End::Time),
                signal = signals.next() => return Ok(End::Signal(signal)),
                Some(look) = looks.recv() => match look {
                    Ok(look) => {
                        if look.essence() != shown.essence() {
                            output.next_answer(&report::status(look.rows.clone(), &look.jobs, look.now))?;
                            shown = look;
                        }
                        lost = false;
                    }
                    Err(error) if !lost => {
                        output.note(&format!("trying again: {}", error.with_cause()));
                        lost = true;
                    }
                    Err(_) => {}
                },
            }
        }
        Ok(End::Quit)
    }
}

/// Looks at the jobs again and again, over outages of any length, as long as somebody wants to know.
async fn look_on(settings: Settings, names: Vec<JobName>, conn: Conn, looks: mpsc::Sender<Result<Look, Error>>) {
    let mut conn = Some(conn);
    let mut backoff = Backoff::default();
    loop {
        let began = Instant::now();
        let look = match &mut conn {
            Some(conn) => look(conn, &settings, &names).await,
            None => match super::status::connect(&settings).await {
                Ok(new) => look(conn.insert(new), &settings, &names).await,
                Err(error) => Err(error),
            },
        };
        let wait = match &look {
            Ok(_) => {
                backoff.reset();
                PERIOD.max(began.elapsed() * 10)
            }
            Err(error) => {
                // A connection that only answered no is as good as before.
                conn = conn.filter(|_| error.kind != Kind::Unreachable);
                backoff.wait()
            }
        };
        if looks.send(look).await.is_err() {
            return;
        }
        sleep(wait).await;
    }
}

async fn look(conn: &mut Conn, settings: &Settings, names: &[JobName]) -> Result<Look, Error> {
    let (rows, jobs, now) = read(conn, settings, names).await?;
    Ok(Look { rows, jobs, now, at: Instant::now() })
}

/// The job that was chosen stays chosen, wherever it is now.
fn keep_chosen(place: &mut Place, before: &Look, after: &Look) {
    let Some(chosen) = before.jobs.get(place.chosen) else { return };
    if let Some(at) = after.jobs.iter().position(|job| job.job_id == chosen.job_id) {
        place.chosen = at;
    }
}

/// Pauses a job, or resumes one that is paused, and tells what came of it.
async fn pause_or_resume(settings: Settings, job: JobOverview, answer: mpsc::UnboundedSender<String>) {
    let verb = if job.job_status == "PAUSED" { "resume" } else { "pause" };
    let asked = match job.job_name.parse::<JobName>() {
        Ok(name) => request::jobs(&settings, verb, &[name], None).await,
        Err(wrong) => Err(Error::usage(wrong)),
    };
    let told = match asked {
        Ok(told) => told.blocks.into_iter().find_map(|block| match block {
            Block::Text(text) => Some(text),
            Block::Table(_) => None,
        }),
        Err(error) => Some(error.with_cause()),
    };
    // The screen may be gone by now.
    let _ = answer.send(told.unwrap_or_default());
}

/// Waits until an instant, or for ever.
pub async fn time_is_over(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}
