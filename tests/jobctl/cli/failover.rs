//! A replica is made the primary: jobs go on there, and nobody types anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpStream};

use super::tool::{Going, SOON, Tool, call, good};
use crate::chaos::proxy::Proxy;
use crate::db::{Account, Db};
use crate::each::{each_private, wait_until};
use crate::ledger::complete;
use crate::replica::{admin, pair, promote};
use crate::servers::{Private, Server};
use crate::session::Session;

/// How long a controller may show no sign of life.
const TTL: &str = "3s";
/// The bound is that and two seconds more; a noisy machine with two cores gets more.
const BOUND: Duration = Duration::from_secs(5 + 5);

fn port(server: &Server) -> u16 {
    mysql_async::Opts::from(server.options()).tcp_port()
}

/// A job that runs every half second on the primary of a pair.
async fn scene(name: &str) -> (Private, Private, Db, Account) {
    let (primary, replica) = pair(name).await;
    let db = Db::installed(&primary.server, "failover").await;
    let bob = db.account("bob").await;
    db.body("hello", "DO 0").await;
    good(&db, &bob, &["define", "x", "--call", &call(&db, "hello"), "--every", "0.5s"]).await;
    (primary, replica, db, bob)
}

/// A controller that knows these ports of this machine.
fn start(db: &Db, account: &Account, ports: &[u16]) -> Going {
    let hosts = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect::<Vec<_>>().join(",");
    let url = format!("mysql://{}:{}@{hosts}/{}", account.user, account.password, db.schema());
    Tool::bare(&["--url", &url, "start", "x", "--ttl", TTL]).start()
}

/// Waits until all that was written on one server is on the other.
async fn caught_up(db: &Db, here: &mut Session, there: &mut Session) {
    let last = format!("SELECT COALESCE(MAX(run_no), 0) FROM {}.job_run WHERE outcome <> 'RUNNING'", db.schema());
    let written = here.number(&last).await;
    wait_until("the replica has caught up", SOON, async || {
        there.attempt(&last).await.is_ok_and(|rows| rows[0][0][0] == written.to_string())
    })
    .await;
}

/// Waits until runs end well on a server; gives for how long.
async fn goes_on(there: &mut Session, schema: &str, start: &Going) -> Duration {
    let begun = Instant::now();
    let id = there.one("SELECT @@server_id").await;
    let ok = format!(
        "SELECT COUNT(*) FROM {schema}.job_run AS r JOIN {schema}.job AS j USING (job_id) \
         WHERE r.outcome = 'OK' AND r.run_server = j.job_runner_server AND j.job_runner_server_id = {id}"
    );
    wait_until("runs there", SOON, async || {
        // A failure shows what the controller saw.
        let over = begun.elapsed() > Duration::from_secs(40);
        assert!(!over, "{:#?}", start.log());
        there.number(&ok).await >= 2
    })
    .await;
    begun.elapsed()
}

/// Jobs go on within the bound, and what is written on the new primary is true, whatever became of the old one.
async fn follow(db: &Db, replica: &Private, there: &mut Session, start: Going, what: &str) {
    let took = goes_on(there, db.schema(), &start).await;
    eprintln!("{}: jobs went on {took:?} {what}, with a TTL of {TTL}", db.server().name);
    assert!(took < BOUND, "{took:?}: {:#?}", start.log());
    let there = db.on(&replica.server);
    let mut admin = there.admin().await;
    start.signal("TERM");
    let (code, log) = start.ends().await;
    assert_eq!(code, 0, "{log:#?}");
    let entries = complete(&mut admin, 500_000).await;
    assert!(entries.iter().filter(|entry| entry.outcome == "LOST").count() <= 1, "{entries:#?}");
    assert_eq!(admin.one("SELECT COUNT(*) FROM job_run WHERE outcome = 'RUNNING'").await, "0");
    let events = "SELECT COUNT(*) FROM job_event WHERE job_id = 0 AND event_kind = 'SERVER'";
    assert_eq!(admin.one(events).await, "1");
    assert_eq!(admin.one("SELECT COUNT(*) FROM job_setting WHERE setting_name = 'hold'").await, "0");
    assert!(log.iter().filter(|line| line.contains("lost the server")).count() <= 1, "{log:#?}");
}

#[test]
fn jobs_follow_a_primary_that_was_demoted_to_the_next_of_several_hosts() {
    each_private(|server| async move {
        let (primary, replica, db, bob) = scene(&server.name).await;
        let start = start(&db, &bob, &[port(&primary.server), port(&replica.server)]);
        start.says("run ok", 3).await;
        let (mut here, mut there) = (admin(&primary.server).await, admin(&replica.server).await);
        here.run(&format!("CREATE EVENT {}.peer ON SCHEDULE EVERY 1 HOUR DO DO 0", db.bodies())).await;
        here.run("SET GLOBAL read_only = 1").await;
        caught_up(&db, &mut here, &mut there).await;
        promote(&server.name, &mut there).await;
        follow(&db, &replica, &mut there, start, "after a demotion").await;
        // The server's own scheduler does not follow, as the README says.
        let peer = there.one("SELECT status FROM information_schema.events WHERE event_name = 'peer'").await;
        assert!(["SLAVESIDE_DISABLED", "REPLICA_SIDE_DISABLED"].contains(&peer.as_str()), "{peer}");
    });
}

#[test]
fn jobs_follow_a_primary_that_crashed_to_the_next_of_several_hosts() {
    each_private(|server| async move {
        let (primary, replica, db, bob) = scene(&server.name).await;
        // The one that is read-only is named first: it is passed over.
        let start = start(&db, &bob, &[port(&replica.server), port(&primary.server)]);
        start.says("run ok", 3).await;
        let (mut here, mut there) = (admin(&primary.server).await, admin(&replica.server).await);
        caught_up(&db, &mut here, &mut there).await;
        drop(here);
        primary.stop(true);
        start.says("lost the server", 1).await;
        promote(&server.name, &mut there).await;
        follow(&db, &replica, &mut there, start, "after a crash").await;
    });
}

#[test]
fn jobs_leave_a_primary_that_vanished_without_a_word() {
    each_private(|server| async move {
        let (primary, replica, db, bob) = scene(&server.name).await;
        let way = Proxy::new(port(&primary.server)).await;
        let start = start(&db, &bob, &[way.port, port(&replica.server)]);
        start.says("run ok", 3).await;
        let (mut here, mut there) = (admin(&primary.server).await, admin(&replica.server).await);
        // Nothing is carried any more, and no connection is closed; the server behind it works on, for nobody.
        way.partition(true);
        here.run("SET GLOBAL read_only = 1").await;
        caught_up(&db, &mut here, &mut there).await;
        promote(&server.name, &mut there).await;
        follow(&db, &replica, &mut there, start, "after a primary that vanished").await;
    });
}

#[test]
fn jobs_follow_a_name_that_moves() {
    each_private(|server| async move {
        let (primary, replica, db, bob) = scene(&server.name).await;
        let (name, leads_to) = moving(port(&primary.server)).await;
        let start = start(&db, &bob, &[name]);
        start.says("run ok", 3).await;
        let (mut here, mut there) = (admin(&primary.server).await, admin(&replica.server).await);
        // Connections that are open stay where they are, as with a name that was resolved.
        leads_to.store(port(&replica.server), Ordering::Relaxed);
        here.run("SET GLOBAL read_only = 1").await;
        caught_up(&db, &mut here, &mut there).await;
        promote(&server.name, &mut there).await;
        follow(&db, &replica, &mut there, start, "behind a name that moved").await;
    });
}

#[test]
fn a_run_that_was_left_on_the_old_primary_is_waited_for_as_long_as_its_controller_was_heard_there() {
    each_private(|server| async move {
        let (primary, replica, db, bob) = scene(&server.name).await;
        db.body("slow", "DO SLEEP(600)").await;
        good(&db, &bob, &["alter", "x", "--call", &call(&db, "slow")]).await;
        let start = start(&db, &bob, &[port(&primary.server), port(&replica.server)]);
        start.says("runner started", 1).await;
        let (mut here, mut there) = (admin(&primary.server).await, admin(&replica.server).await);
        let runs = format!("SELECT COUNT(*) FROM {}.job_overview WHERE status = 'RUNNING'", db.schema());
        wait_until("it runs", SOON, async || here.number(&runs).await == 1).await;
        wait_until("and is seen there", SOON, async || there.attempt(&runs).await.is_ok_and(|rows| rows[0][0][0] == "1")).await;
        // Longer than the time to live: only the controller shows that the run goes on.
        let heard = format!(
            "SELECT controller_heartbeat < UTC_TIMESTAMP(6) - INTERVAL 1 SECOND OR job_runner_seen > UTC_TIMESTAMP(6) - INTERVAL 4 SECOND FROM {0}.job, {0}.job_controller",
            db.schema()
        );
        wait_until("the controller alone is heard", SOON, async || here.number(&heard).await == 0).await;
        promote(&server.name, &mut there).await;
        let at_once = db.on(&replica.server).runner(&bob, "x").await.message().await;
        assert!(at_once.contains("A runner on another server") && at_once.contains("try again in"), "{at_once}");
        let doctor = db.on(&replica.server).jobctl(&bob, &["doctor"]).await;
        assert!(doctor.code == 1 && doctor.stdout.contains("a runner on another server"), "{doctor:?}");
        here.run("SET GLOBAL read_only = 1").await;
        let epoch = format!("SELECT job_runner_epoch FROM {}.job", db.schema());
        let before = there.number(&epoch).await;
        let begun = Instant::now();
        wait_until("it is taken over there", SOON, async || there.number(&epoch).await > before).await;
        assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
        let outcomes = format!("SELECT outcome FROM {}.job_run WHERE attempt > 0 ORDER BY run_no LIMIT 1", db.schema());
        assert_eq!(there.one(&outcomes).await, "LOST");
        start.signal("KILL");
        start.ends().await;
    });
}

/// A port that leads where the number says, anew for each connection.
async fn moving(first: u16) -> (u16, Arc<AtomicU16>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
    let port = listener.local_addr().expect("it listens").port();
    let leads_to = Arc::new(AtomicU16::new(first));
    let target = leads_to.clone();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let port = target.load(Ordering::Relaxed);
            tokio::spawn(async move {
                if let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await {
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                }
            });
        }
    });
    (port, leads_to)
}
