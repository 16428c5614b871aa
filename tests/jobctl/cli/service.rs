//! What a service manager hears of `jobctl start`, by the protocol of systemd: `Type=notify`, `WatchdogSec=`.

use std::path::PathBuf;
use std::time::Duration;

use mysql_async::Opts;
use tokio::net::UnixDatagram;
use tokio::time::{Instant, timeout, timeout_at};

use super::starting::nothing_left;
use super::tool::{Going, SOON, Tool, call, good, status};
use crate::chaos::proxy::Proxy;
use crate::db::{Account, Db};
use crate::each::each;

/// What the manager waits for a sign of life; it is told twice in that time.
const PATIENCE: Duration = Duration::from_secs(2);
/// So says the manager: this long, and of no process in particular.
const WATCHDOG: &str = "export WATCHDOG_USEC=2000000;";

/// One who listens as systemd does.
struct Manager {
    socket: UnixDatagram,
    path: PathBuf,
}

impl Manager {
    fn new() -> Self {
        // A short name, as that of a socket may have 107 bytes only.
        let path = std::env::temp_dir().join(format!("jobctl{}", crate::db::stamp()));
        Self { socket: UnixDatagram::bind(&path).expect("a socket"), path }
    }

    /// Starts `jobctl start --all` as a service, which a shell becomes after these words.
    fn start(&self, url: &str, words: &str) -> Going {
        let words = format!("{words} exec \"$0\" \"$@\"");
        let tool = Tool::of("sh", &["-c", &words, env!("CARGO_BIN_EXE_jobctl"), "--url", url, "start", "--all"]);
        tool.env("NOTIFY_SOCKET", self.path.to_str().expect("UTF-8")).start()
    }

    /// What it is told next.
    async fn hears(&self) -> String {
        let mut told = vec![0; 4096];
        let length = timeout(SOON, self.socket.recv(&mut told)).await.expect("it is told something").expect("a socket");
        String::from_utf8_lossy(&told[..length]).trim().to_owned()
    }

    /// All that it is told for a while.
    async fn hears_for(&self, span: Duration) -> Vec<String> {
        let (until, mut heard) = (Instant::now() + span, Vec::new());
        while let Ok(told) = timeout_at(until, self.hears()).await {
            heard.push(told);
        }
        heard
    }

    /// Hears signs of life alone, so many, and each in time.
    async fn hears_life(&self, times: usize) {
        for _ in 0..times {
            let begun = Instant::now();
            assert_eq!(self.hears().await, "WATCHDOG=1");
            assert!(begun.elapsed() < PATIENCE, "systemd would have killed it: {:?}", begun.elapsed());
        }
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Bob, with a job whose runs take some seconds.
async fn job(db: &Db) -> Account {
    let bob = db.account("bob").await;
    db.body("slow", "BEGIN DECLARE n INT; SET n = SLEEP(3); END").await;
    good(db, &bob, &["define", "x", "--call", &call(db, "slow"), "--every", "0.5s"]).await;
    bob
}

#[test]
fn a_service_manager_hears_when_it_works_and_when_it_is_about_to_end() {
    each(|db| async move {
        let (bob, manager) = (job(&db).await, Manager::new());
        let mut admin = db.admin().await;
        let works = "SELECT COUNT(*) FROM job_controller WHERE controller_finish IS NULL";
        // Not before: what cannot log in is not ready.
        let stranger = Account { password: "wrong".into(), ..bob.clone() };
        assert_eq!(manager.start(&db.url(&stranger), "").ends().await.0, 5);
        let start = manager.start(&db.url(&bob), "");
        assert_eq!(manager.hears().await, "READY=1");
        assert_eq!(admin.number(works).await, 1);
        status(&db, &bob, "x", "RUNNING").await;
        // While the last run goes on, and not after it.
        start.signal("TERM");
        assert_eq!(manager.hears().await, "STOPPING=1");
        let running = admin.number("SELECT COUNT(*) FROM job_run WHERE outcome = 'RUNNING'").await;
        assert_eq!((start.count("runner ended"), running), (0, 1), "{:#?}", start.log());
        assert_eq!(start.ends().await.0, 0);
        assert_eq!(manager.hears_for(Duration::from_millis(100)).await, [""; 0], "nobody asked for signs of life");
        nothing_left(&db, &bob, &mut admin).await;
    });
}

#[test]
fn a_service_manager_that_asks_for_signs_of_life_hears_them() {
    each(|db| async move {
        let bob = job(&db).await;
        for (words, asked) in [("", true), ("export WATCHDOG_PID=$$;", true), ("export WATCHDOG_PID=1;", false)] {
            let manager = Manager::new();
            let start = manager.start(&db.url(&bob), &format!("{WATCHDOG}{words}"));
            assert_eq!(manager.hears().await, "READY=1");
            if asked {
                manager.hears_life(4).await;
            }
            start.says("run ok", 1).await;
            start.signal("TERM");
            assert_eq!(start.ends().await.0, 0);
            let heard = manager.hears_for(Duration::from_millis(100)).await;
            let (life, others): (Vec<_>, Vec<_>) = heard.into_iter().partition(|told| told == "WATCHDOG=1");
            assert_eq!(others, ["STOPPING=1"]);
            // It was asked of somebody else, whose signs of life these would be.
            assert!(asked || life.is_empty(), "{words}: {life:?}");
        }
        nothing_left(&db, &bob, &mut db.admin().await).await;
    });
}

#[test]
fn a_service_manager_does_not_take_an_outage_for_a_hang() {
    each(|db| async move {
        let (bob, manager) = (job(&db).await, Manager::new());
        let port = Opts::from(db.server().options()).tcp_port();
        let proxy = Proxy::new(port).await;
        let url = db.url(&bob).replace(&format!(":{port}/"), &format!(":{}/", proxy.port));
        let start = manager.start(&url, WATCHDOG);
        assert_eq!(manager.hears().await, "READY=1");
        start.says("run ok", 1).await;
        proxy.partition(true);
        while start.count("lost the bell") == 0 {
            manager.hears_life(1).await;
        }
        manager.hears_life(3).await;
        // Also while it ends, and there is nobody whom it could ask to end.
        start.signal("TERM");
        while manager.hears().await != "STOPPING=1" {}
        manager.hears_life(3).await;
        proxy.partition(false);
        assert_eq!(start.ends().await.0, 0);
        nothing_left(&db, &bob, &mut db.admin().await).await;
    });
}
