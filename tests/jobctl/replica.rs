//! A replica shows what its primary does, and runs nothing.

use std::time::Duration;

use crate::db::Db;
use crate::each::{each_private, wait_until};
use crate::servers::{Private, Server};
use crate::session::{Session, literal};

const SOON: Duration = Duration::from_secs(60);

/// A primary, and a replica of it that is read-only.
pub async fn pair(name: &str) -> (Private, Private) {
    let gtid: &[&str] = if name == "mysql" { &["--gtid-mode=ON", "--enforce-gtid-consistency=ON"] } else { &[] };
    let primary = Private::start(name, gtid);
    let port = mysql_async::Opts::from(primary.server.options()).tcp_port();
    // The view tells servers apart by the last byte of their ids, so two ports by chance will not do.
    let id = format!("--server-id={}", port + 1);
    let replica = Private::start(name, &[gtid, &["--read-only=1", &id]].concat());
    let mut session = admin(&replica.server).await;
    if name == "mysql" {
        session
            .run(&format!(
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, SOURCE_USER = 'root', \
                 SOURCE_AUTO_POSITION = 1, SOURCE_CONNECT_RETRY = 1"
            ))
            .await;
        session.run("START REPLICA").await;
    } else {
        session
            .run(&format!(
                "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {port}, MASTER_USER = 'root', \
                 MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1"
            ))
            .await;
        session.run("START SLAVE").await;
    }
    (primary, replica)
}

/// Makes a replica a server of its own, which takes writes.
pub async fn promote(name: &str, replica: &mut Session) {
    replica.run(if name == "mysql" { "STOP REPLICA" } else { "STOP SLAVE" }).await;
    replica.run("SET GLOBAL read_only = 0").await;
}

pub async fn admin(server: &Server) -> Session {
    Session::new(mysql_async::Conn::new(server.options()).await.expect("the private server answers"))
}

#[test]
fn a_replica_says_where_a_job_runs_and_never_that_it_is_lost() {
    each_private(|server| async move {
        let (primary, replica) = pair(&server.name).await;
        let db = Db::installed(&primary.server, "replica").await;
        let bob = db.account("bob").await;
        db.body("slow", "DO SLEEP(600)").await;
        db.body("hello", "DO 0").await;
        db.define(&bob, "slow", "slow", "0.1", "").await;
        db.define(&bob, "lazy", "hello", "3600", "").await;
        db.define(&db.root(), "roots", "hello", "3600", "").await;
        let (slow, _lazy) = (db.runner(&bob, "slow").await, db.runner(&bob, "lazy").await);
        let mut here = db.admin().await;
        let overview =
            format!("SELECT job_name, status, COALESCE(status_detail, '') FROM {}.job_overview ORDER BY job_name", db.schema());
        let two = async |session: &mut Session, lazy: &str, slow: &str| {
            let rows = session.attempt(&overview).await.unwrap_or_default();
            rows.first().is_some_and(|rows| rows.len() == 3 && rows[0][1] == lazy && rows[2][1] == slow)
        };
        wait_until("both on the primary", SOON, async || two(&mut here, "SLEEPING", "RUNNING").await).await;
        let mut there = admin(&replica.server).await;
        let arrived = async {
            while !two(&mut there, "SLEEPING", "RUNNING").await {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if tokio::time::timeout(SOON, arrived).await.is_err() {
            let threads = there.attempt("SHOW REPLICA STATUS").await;
            panic!("not on the replica: {:?}\n{threads:?}", there.attempt(&overview).await);
        }
        let host = here.one("SELECT CONCAT(@@hostname, ':', @@port)").await;
        let rows = there.rows(&overview).await;
        let seen = format!("on {host}, seen from a replica");
        assert_eq!(rows, [["lazy", "SLEEPING", &seen], ["roots", "ENABLED", ""], ["slow", "RUNNING", &seen]]);
        assert_eq!(here.rows(&overview).await, [["lazy", "SLEEPING", ""], ["roots", "ENABLED", ""], ["slow", "RUNNING", ""]]);

        let elsewhere = db.on(&replica.server);
        // A DBA reads the view. An owner's own rows come by a routine that must write to learn who asks, and is told to ask the primary.
        let ran = elsewhere.jobctl(&db.root(), &["status"]).await;
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.contains("seen from a replica") && !ran.stdout.contains("LOST"), "{ran:?}");
        let ran = elsewhere.jobctl(&bob, &["status"]).await;
        assert!(!ran.stdout.contains("LOST"), "{ran:?}");
        assert!(ran.code == 0 || (ran.code == 4 && ran.stderr.contains("primary")), "{ran:?}");

        // No runner of ours works there: not for one who may not write, not for one who may.
        let refused = |message: &str| {
            message.starts_with("This server (") && message.ends_with("is read-only; run the job on the writable one")
        };
        for (account, job) in [(&bob, "lazy"), (&bob, "slow"), (&db.root(), "roots")] {
            let message = elsewhere.runner(account, job).await.message().await;
            assert!(refused(&message), "{account} {job}: {message}");
        }
        // Nor where the replica is writable by mistake, as long as the runner's sign of life is fresh.
        there.run("SET GLOBAL read_only = 0").await;
        let message = elsewhere.runner(&bob, "slow").await.message().await;
        assert!(
            message.starts_with(&format!("A runner on another server ({host}) was alive a moment ago; try again in ")),
            "{message}"
        );
        there.run("SET GLOBAL read_only = 1").await;

        // The primary knows that a runner is gone; a replica cannot.
        here.run(&format!("KILL {}", slow.id)).await;
        wait_until("lost on the primary", SOON, async || two(&mut here, "SLEEPING", "LOST").await).await;
        let position = here.one("SELECT job_description FROM job WHERE job_name = 'slow'").await;
        assert_eq!(position, "NULL");
        here.run(&format!("UPDATE job SET job_description = {} WHERE job_name = 'slow'", literal("arrived"))).await;
        let arrived = format!("SELECT COUNT(*) FROM {}.job WHERE job_description = 'arrived'", db.schema());
        wait_until("the replica has caught up", SOON, async || there.number(&arrived).await == 1).await;
        assert_eq!(there.rows(&overview).await[2], ["slow", "RUNNING", &seen]);
    });
}
