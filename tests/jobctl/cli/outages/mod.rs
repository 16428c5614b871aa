//! What may happen to a server, and to the way to it, and what `jobctl start` makes of it.
//!
//! The scene is the same each time: a quick and a slow job, and a controller that lives through it. It says once what became
//! otherwise, not at each try; it comes back by itself, with all its jobs; and the time between is rows that say so.
//!
//! - `restarts`: the server is stopped, or killed, and started again.
//! - `refused`: nobody answers at its address for a while.
//! - `partitions`: connections carry nothing any more, and nobody is told so.
//! - `crowded`: the server has no connection left for us.
//! - `read_only`: the server takes no writes.
//! - `full`: the disk of the server is full.
//! - `global_lock`: the server lets every write wait, as for a backup.

mod crowded;
mod full;
mod global_lock;
mod partitions;
mod read_only;
mod refused;
mod restarts;

use mysql_async::Opts;

use super::starting::nothing_left;
use super::tool::{Going, SOON, Tool, call, good};
use crate::db::{Account, Db};
use crate::each::wait_until;
use crate::ledger::{Entry, complete_of};
use crate::servers::{Private, Server};
use crate::session::Session;

/// The jobs: name, seconds that a run takes, interval in microseconds.
const JOBS: [(&str, &str, i64); 2] = [("quick", "0.02", 250_000), ("slow", "0.6", 1_000_000)];

/// Bob's two jobs. A body notes that it ran, for nobody but the body knows that for certain, and whether it was alone.
async fn jobs(db: &Db) -> Account {
    let bob = db.account("bob").await;
    db.table("ran", "(job VARCHAR(8), alone INT)").await;
    for (job, seconds, interval) in JOBS {
        let lock = format!("SHA2(CONCAT(DATABASE(), '{job}'), 256)");
        let body = format!(
            "BEGIN DECLARE alone INT DEFAULT GET_LOCK({lock}, 0); DECLARE n INT; SET n = SLEEP({seconds}); \
             INSERT INTO ran VALUES ('{job}', alone); DO RELEASE_LOCK({lock}); END"
        );
        db.body(job, &body).await;
        let every = format!("{}ms", interval / 1000);
        good(db, &bob, &["define", job, "--call", &call(db, job), "--every", &every]).await;
    }
    bob
}

/// The scene on a server of its own, whose two jobs a controller runs.
async fn alone(server: &Server, arguments: &[&str]) -> (Private, Db, Account, Going) {
    let private = Private::start(&server.name, &[]);
    let db = Db::installed(&private.server, "outages").await;
    let bob = jobs(&db).await;
    let start = start(&db, &bob, arguments);
    goes_on(&start).await;
    (private, db, bob, start)
}

/// `jobctl start --all` as `account`.
fn start(db: &Db, account: &Account, arguments: &[&str]) -> Going {
    Tool::new(db, account, &[&["start", "--all"], arguments].concat()).start()
}

/// The same by another port of this machine, where somebody passes on to the server.
fn start_by(port: u16, db: &Db, account: &Account, arguments: &[&str]) -> Going {
    let url = db.url(account).replace(&format!(":{}/", server_port(db)), &format!(":{port}/"));
    Tool::bare(&[&["--url", &url, "start", "--all"], arguments].concat()).start()
}

/// Where the server listens.
fn server_port(db: &Db) -> u16 {
    Opts::from(db.server().options()).tcp_port()
}

/// Waits until a controller has told of more runs of both jobs.
async fn goes_on(start: &Going) {
    let ran = |job: &str| start.count(&format!("{job}: run ok"));
    let [quick, slow] = JOBS.map(|(job, ..)| ran(job));
    start.says("quick: run ok", quick + 3).await;
    start.says("slow: run ok", slow + 2).await;
}

/// Checks how often a controller said something: each text, and how often.
fn said(start: &Going, texts: &[(&str, usize)]) {
    for (text, times) in texts {
        assert_eq!(start.count(text), *times, "`{text}` in {:#?}", start.log());
    }
}

/// Ends the controllers in good order, and checks what the time with them has left; gives the rows of either job.
async fn ends(db: &Db, account: &Account, mut starts: Vec<Going>) -> [Vec<Entry>; 2] {
    let last = starts.pop().expect("a controller");
    for start in starts {
        start.signal("TERM");
        let (code, log) = start.ends().await;
        assert_eq!(code, 0, "{log:#?}");
    }
    last.signal("TERM");
    ends_after_signal(db, account, last).await
}

/// The same for the last controller, which has got its signal.
async fn ends_after_signal(db: &Db, account: &Account, start: Going) -> [Vec<Entry>; 2] {
    let (code, log) = start.ends().await;
    assert_eq!(code, 0, "{log:#?}");
    let mut admin = db.admin().await;
    nothing_left(db, account, &mut admin).await;
    let mut rows = Vec::new();
    for (job, _, interval) in JOBS {
        let entries = complete_of(&mut admin, job, interval).await;
        ran_as_told(db, &mut admin, job, &entries).await;
        rows.push(entries);
    }
    rows.try_into().expect("two jobs")
}

/// The bodies ran as often as the rows say, and each alone. Of a run that was lost nobody can say how far it came.
async fn ran_as_told(db: &Db, admin: &mut Session, job: &str, entries: &[Entry]) {
    let count = format!("SELECT COUNT(*), COALESCE(MIN(alone), 1) FROM {}.ran WHERE job = '{job}'", db.bodies());
    let ran = admin.row(&count).await;
    let told = |outcome: &str| entries.iter().filter(|entry| entry.outcome == outcome).count();
    let (ok, lost) = (told("OK"), told("LOST"));
    let times: usize = ran[0].parse().expect("a number");
    assert!((ok..=ok + lost).contains(&times), "{job} ran {times} times: {entries:#?}");
    assert_eq!(ran[1], "1", "{job} ran beside itself");
}

/// The five sessions of a controller that works, by a column of the process list: the bell, the look, the ear and two runners. One
/// that is inside a routine of jobctl is listed as its definer, so it is looked until all were seen.
async fn sessions(admin: &mut Session, account: &Account, column: &str) -> Vec<String> {
    let sql = format!(
        "SELECT {column} FROM information_schema.processlist \
         WHERE CONVERT(user USING utf8mb4) COLLATE utf8mb4_bin = '{}' OR id IN (SELECT job_runner_connection_id FROM job) \
         OR db = DATABASE() AND info LIKE '%SLEEP(0.025) INTO v_slept%' AND id <> CONNECTION_ID()",
        account.user
    );
    let mut sessions = Vec::new();
    wait_until("five sessions are seen", SOON, async || {
        sessions = admin.rows(&sql).await.concat();
        sessions.len() == 5
    })
    .await;
    sessions
}

/// Waits until somebody has tried to log in so many more times, to a server of the test's own.
async fn tried(admin: &mut Session, more: i64) {
    // A MariaDB counts those that it turns away for want of room apart.
    let sql = "SHOW GLOBAL STATUS WHERE variable_name IN ('Connections', 'Connection_errors_max_connections')";
    let count = async |admin: &mut Session| -> i64 {
        admin.rows(sql).await.iter().map(|row| row[1].parse::<i64>().expect("a number")).sum()
    };
    let before = count(admin).await;
    wait_until("it is tried again", SOON, async || count(admin).await >= before + more).await;
}

/// How many of these rows have this outcome.
fn outcomes(entries: &[Entry], outcome: &str) -> usize {
    entries.iter().filter(|entry| entry.outcome == outcome).count()
}
