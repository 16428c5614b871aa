//! How soon a waiting runner has seen a request, with 100 runners waiting, by the server's clock alone.
//!
//! From: the time in the event that the request wrote, inside its transaction (of a plain UPDATE: the start of the statement, which
//! `job_changed` keeps); so the request's own commit counts as part of the reaction. To: the time that the runner itself wrote
//! into its row (`job_runner_seen`) with what only it writes: PAUSED after a pause; after a resume, which already sets SLEEPING,
//! the WAITING of a job whose start is still to come; after an alter or an UPDATE that moves the start to the past or back,
//! SLEEPING or WAITING; after an abort the end of the runner. All kinds go on at the same time, each on jobs of its own, so that they
//! also disturb each other. The pauses in between are of random length, so that no rhythm of a controller is met or missed.

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::time::{Duration, Instant};

use crate::args::Args;
use crate::clock::{self, SECOND};
use crate::controller::{Controller, Park};
use crate::db::{Account, Db};
use crate::each::join;
use crate::report::{Report, short};
use crate::session::{Session, literal};
use crate::spread::Spread;
use crate::stage::Stage;

const PART: &str = "reaction of a waiting runner, ms: median / p99 / worst";
const RUNNERS: u32 = 100;
/// Jobs that one kind of request goes round on.
const ROUND: usize = 5;
/// A runner that has not seen it by then never will.
const NEVER: Duration = Duration::from_secs(30);
/// Between two looks; what is measured does not depend on it.
const LOOK: Duration = Duration::from_millis(8);

/// By which way a request comes.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Sql,
    Cli,
    Update,
}

/// What was seen, and the samples in milliseconds.
type Seen = Vec<(&'static str, Way, Vec<f64>)>;

/// Measures all kinds of requests.
pub async fn measure(stage: &mut Stage, args: &Args, report: &mut Report) {
    let account = stage.db.account("asked").await;
    stage.relax(true).await;
    stage.jobs(&account, RUNNERS, 3600.0, far(), "'nothing'").await;
    stage.relax(false).await;
    let controller = Controller::start(&stage.db, &account, Park::Never);
    stage.wait(&account, RUNNERS, "job_runner_status = 'WAITING' AND job_runner_reason = 'before the start'").await;
    let samples = args.count(100, 6);
    let mut kinds: Vec<Pin<Box<dyn Future<Output = Seen>>>> = Vec::new();
    for (at, way) in [Way::Sql, Way::Cli].into_iter().enumerate() {
        kinds.push(Box::pin(pause(Asker::new(&stage.db, &account, way, 3 * at).await, samples)));
        kinds.push(Box::pin(abort(Asker::new(&stage.db, &account, way, 3 * at + 1).await, samples)));
        kinds.push(Box::pin(alter(Asker::new(&stage.db, &account, way, 3 * at + 2).await, samples)));
    }
    kinds.push(Box::pin(alter(Asker::new(&stage.db, &account, Way::Update, 6).await, samples)));
    let mut worst: (f64, &str) = (0.0, "");
    for (kind, way, times) in join(kinds).await.into_iter().flatten() {
        let times = Spread::of(times);
        match way {
            Way::Update => {
                report.spread(PART, "plain UPDATE", "ms", &times);
                let (p99, last) = (times.p99(), times.worst());
                report.target("plain UPDATE seen: p99 at most 50 ms", p99 <= 50.0, format!("{} ms", short(p99)));
                report.target("plain UPDATE seen: worst at most 1.2 s", last <= 1200.0, format!("{} ms", short(last)));
                continue;
            }
            Way::Sql => report.spread(PART, format!("{kind}, CALL job${kind}"), "ms", &times),
            Way::Cli => report.spread(PART, format!("{kind}, jobctl {kind}"), "ms", &times),
        }
        if times.p99() > worst.0 {
            worst = (times.p99(), kind);
        }
    }
    let measured = format!("{} ms ({})", short(worst.0), worst.1);
    report.target("pause, resume, abort, alter seen: each p99 at most 50 ms", worst.0 <= 50.0, measured);
    controller.stop().await;
}

/// A start that is still to come.
fn far() -> i64 {
    clock::now() + 86_400 * SECOND
}

/// Who asks, and looks what becomes of it.
struct Asker {
    db: Db,
    account: Account,
    way: Way,
    own: Session,
    admin: Session,
    /// Names and numbers of the jobs to go round on.
    jobs: Vec<(String, String)>,
}

impl Asker {
    async fn new(db: &Db, account: &Account, way: Way, place: usize) -> Self {
        let (own, mut admin) = (db.login(account).await, db.admin().await);
        admin.run("SET time_zone = '+00:00'").await;
        let mut jobs = Vec::new();
        for n in 1..=ROUND {
            let job = format!("j{}", place * ROUND + n);
            let id =
                format!("SELECT job_id FROM job WHERE job_owner = {} AND job_name = {}", literal(&account.user), literal(&job));
            jobs.push((job, admin.one(&id).await));
        }
        Self { db: db.clone(), account: account.clone(), way, own, admin, jobs }
    }

    /// Makes a request, at any moment, and gives the instant of its event.
    async fn ask(&mut self, at: usize, request: &str, start: Option<i64>) -> i64 {
        let random = RandomState::new().hash_one(at) % 250;
        tokio::time::sleep(Duration::from_millis(random)).await;
        let (job, id) = self.jobs[at % ROUND].clone();
        match (self.way, start) {
            (Way::Sql, _) => {
                let options =
                    start.map_or("NULL".into(), |start| literal(&format!(r#"{{"start": "{}"}}"#, clock::text(start))));
                self.own.run(&format!("CALL job${request}({}, {options})", literal(&job))).await;
            }
            (Way::Cli, _) => {
                let start = start.map(clock::text);
                let more = start.as_deref().map_or_else(Vec::new, |start| vec!["--tz", "UTC", "--start", start]);
                let ran = self.db.jobctl(&self.account, &[&[request, &job], &more[..]].concat()).await;
                assert_eq!(ran.code, 0, "jobctl {request} {job}: {ran:#?}");
            }
            (Way::Update, start) => {
                let start = clock::literal(start.expect("an UPDATE changes the start"));
                self.admin.run(&format!("UPDATE job SET job_schedule_start = {start} WHERE job_id = {id}")).await;
                return self
                    .admin
                    .number(&format!("SELECT {} FROM job WHERE job_id = {id}", clock::micros("job_changed")))
                    .await;
            }
        }
        let event = format!(
            "SELECT {} FROM job_event WHERE job_id = {id} AND event_kind IN ('STATUS', 'CHANGED') ORDER BY event_no DESC LIMIT 1",
            clock::micros("event_at")
        );
        self.admin.number(&event).await
    }

    /// Waits until the runner has written something after `asked`, and gives the milliseconds from then to `column`.
    #[expect(clippy::cast_precision_loss, reason = "a few seconds")]
    async fn seen(&mut self, at: usize, asked: i64, sign: &str, column: &str) -> f64 {
        let (job, id) = &self.jobs[at % ROUND];
        let sql = format!(
            "SELECT {} FROM job WHERE job_id = {id} AND {sign} AND {column} >= {}",
            clock::micros(column),
            clock::literal(asked)
        );
        let begun = Instant::now();
        loop {
            if let Some(row) = self.admin.rows(&sql).await.first() {
                let seen: i64 = row[0].parse().expect("an instant");
                return (seen - asked) as f64 / 1000.0;
            }
            assert!(begun.elapsed() < NEVER, "{job} never showed {sign}");
            tokio::time::sleep(LOOK).await;
        }
    }
}

async fn pause(mut asker: Asker, samples: usize) -> Seen {
    let (mut pauses, mut resumes) = (Vec::new(), Vec::new());
    for at in 0..samples {
        let asked = asker.ask(at, "pause", None).await;
        pauses.push(asker.seen(at, asked, "job_runner_status = 'PAUSED'", "job_runner_seen").await);
        let asked = asker.ask(at, "resume", None).await;
        resumes.push(asker.seen(at, asked, "job_runner_status = 'WAITING'", "job_runner_seen").await);
    }
    vec![("pause", asker.way, pauses), ("resume", asker.way, resumes)]
}

async fn abort(mut asker: Asker, samples: usize) -> Seen {
    let mut times = Vec::new();
    for at in 0..samples {
        let asked = asker.ask(at, "abort", None).await;
        times.push(asker.seen(at, asked, "job_runner_token IS NULL", "job_runner_finish").await);
        // The way back, and a new runner, are not measured.
        let asked = asker.ask(at, "enable", None).await;
        asker
            .seen(at, asked, "job_runner_status = 'WAITING' AND job_runner_reason = 'before the start'", "job_runner_seen")
            .await;
    }
    vec![("abort", asker.way, times)]
}

async fn alter(mut asker: Asker, samples: usize) -> Seen {
    let mut times = Vec::new();
    for at in 0..samples.div_ceil(2) {
        let asked = asker.ask(at, "alter", Some(clock::now() - SECOND)).await;
        times.push(asker.seen(at, asked, "job_runner_status = 'SLEEPING'", "job_runner_seen").await);
        let asked = asker.ask(at, "alter", Some(far())).await;
        times.push(asker.seen(at, asked, "job_runner_status = 'WAITING'", "job_runner_seen").await);
    }
    vec![("alter", asker.way, times)]
}
