//! Those who ask for something at random, by the command line: one at a time for each job, so that it is known what came last.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::Sum;
use super::book::{Answer, Book};
use super::faults::{Counts, Kind, Random};
use super::world::{Runner, World, now, seconds};
use crate::cli::tool::Tool;

/// How long one waits for the moment that one would like.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Somebody with some jobs, which nobody else asks anything of.
pub struct Hand {
    world: Arc<World>,
    random: Random,
    stop: Arc<AtomicBool>,
    pub books: BTreeMap<usize, Book>,
    pub counts: Counts,
    sum: Arc<Mutex<Sum>>,
    pub wrong: Vec<String>,
    pub log: Vec<String>,
}

impl Hand {
    pub fn new(
        world: Arc<World>,
        random: Random,
        jobs: impl Iterator<Item = usize>,
        stop: Arc<AtomicBool>,
        sum: Arc<Mutex<Sum>>,
    ) -> Self {
        let book = |job: usize| (job, Book::new(now(), world.jobs[job].every));
        let books = jobs.map(book).collect();
        Self { world, random, stop, books, counts: Counts::default(), sum, wrong: Vec::new(), log: Vec::new() }
    }

    /// Asks and asks, until it is to stop.
    pub async fn work(mut self) -> Self {
        while !self.stop.load(Ordering::Relaxed) {
            tokio::time::sleep(self.random.millis(200, 1000)).await;
            // As many numbers in each round, whatever comes of them.
            let [whom, what, aim, more] = [(); 4].map(|()| self.random.below(1000));
            self.round(whom, what, aim % 2 == 0, more).await;
        }
        self
    }

    async fn round(&mut self, whom: usize, what: usize, body: bool, more: usize) {
        let away = self.books.iter().find(|(_, book)| book.states != ["ENABLED"].into()).map(|(job, _)| *job);
        let any = self.books.keys().nth(whom % self.books.len()).copied().expect("it has jobs");
        // Mostly the one that is not ENABLED is brought back: the storm is about jobs that run.
        let job = away.filter(|_| !what.is_multiple_of(4)).unwrap_or(any);
        let states = &self.books[&job].states;
        if states.contains("PAUSED") {
            return self.ask(job, ["resume", "resume", "pause", "abort", "alter"][more % 5], body, what).await;
        }
        if states.contains("ABORTED") || states.contains("DISABLED") {
            return self.ask(job, "enable", body, what).await;
        }
        let request = ["pause", "abort", "abort --now", "disable", "cancel", "cancel", "alter", "alter"][more % 8];
        self.ask(job, request, body, what).await;
        // Taken back while the same body runs, or the same runner still waits.
        match request {
            "pause" if body => self.ask(job, "resume", body, what).await,
            "abort" | "disable" if body => self.ask(job, "enable", body, what).await,
            _ => {}
        }
    }

    async fn ask(&mut self, job: usize, request: &'static str, body: bool, what: usize) {
        let came_back = matches!(request, "resume" | "enable");
        let runner = self.wait(job, body || request == "cancel", if came_back { Duration::ZERO } else { PATIENCE }).await;
        let name = self.world.jobs[job].name.clone();
        let base = self.world.jobs[job].every;
        let alter = [
            vec!["--every".into(), seconds(base)],
            vec!["--every".into(), seconds(base * 3 / 2)],
            vec!["--timeout".into(), "20s".into()],
            vec!["--description".into(), "altered".to_owned()],
        ];
        let more = if request == "alter" { alter[what / 4 % 4].clone() } else { vec![] };
        let words: Vec<_> = request.split(' ').chain([name.as_str()]).chain(more.iter().map(String::as_str)).collect();
        let sent = now();
        let moves = more.first().is_some_and(|option| option == "--every");
        let book = self.books.get_mut(&job).expect("its own");
        if moves {
            book.grid_changes(sent);
        }
        let ran = Tool::new(&self.world.db, &self.world.bob, &words).run().await;
        let heard = now();
        let answer = match ran.code {
            0 => Answer::Done,
            4 => Answer::Refused,
            _ => Answer::Lost,
        };
        self.log.push(format!("{sent} {heard} {words:?}: {} {}", ran.code, ran.stderr.lines().next().unwrap_or_default()));
        // One that never reached the server struck nothing.
        if ran.code != 5 {
            let (ran, waited) = (runner.as_ref().is_some_and(|at| at.body), runner.as_ref().is_some_and(|at| !at.body));
            self.counts.struck(Kind::Hand(request), ran, waited);
            self.sum.lock().expect("no panic").counts.struck(Kind::Hand(request), ran, waited);
        }
        let judged = match request {
            "alter" | "cancel" => match (request, answer) {
                ("alter", Answer::Refused) => Err(format!("{words:?} was refused: {}", ran.stderr)),
                _ => Ok(()),
            },
            // It is aborted, but the run could not be stopped: in any case no refusal of the abort itself.
            "abort --now" if answer == Answer::Refused && !ran.stderr.contains("` is ") => {
                book.request(request, Answer::Lost, sent, heard)
            }
            _ => book.request(request, answer, sent, heard),
        };
        if let Err(wrong) = judged {
            self.wrong.push(format!("{name}: {wrong}"));
        }
        if moves {
            let every = self.every(job).await;
            self.books.get_mut(&job).expect("its own").grid_is(now(), every);
        }
    }

    /// The interval of a job that was just altered, or was not: asked for until it can be told.
    async fn every(&self, job: usize) -> i64 {
        let id = self.world.jobs[job].id;
        let sql = format!("SELECT CAST(job_schedule_interval * 1000000 AS SIGNED) FROM job WHERE job_id = {id}");
        loop {
            // The session that was lost may have been about to commit.
            tokio::time::sleep(Duration::from_millis(200)).await;
            if let Some(rows) = self.world.ask(&sql).await {
                return rows[0][0].parse().expect("a number");
            }
        }
    }

    /// Waits for the moment at which a body of this job runs, or its runner waits; gives what was there in the end.
    async fn wait(&self, job: usize, body: bool, patience: Duration) -> Option<Runner> {
        let begun = Instant::now();
        loop {
            let runner = self.world.runners().await.into_iter().find(|runner| runner.job == job);
            if runner.as_ref().is_some_and(|runner| runner.body == body) || begun.elapsed() >= patience {
                return runner;
            }
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }
}
