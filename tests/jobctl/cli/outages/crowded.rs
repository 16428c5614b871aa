//! The server has no connection left for us.

use super::{alone, ends, goes_on, outcomes, said, sessions, tried};
use crate::db::Account;
use crate::each::each_private;
use crate::session::Session;

/// Kills all the sessions of an account, or those of its runners.
async fn kill(admin: &mut Session, account: &Account, all: bool) {
    let runners = admin.rows("SELECT job_runner_connection_id FROM job").await.concat();
    let ids = if all { sessions(admin, account, "id").await } else { runners };
    for id in ids {
        // It may have ended by itself.
        let _ = admin.attempt(&format!("KILL {id}")).await;
    }
}

#[test]
fn runners_come_back_when_the_server_has_room_again() {
    each_private(|server| async move {
        let (_private, db, bob, start) = alone(&server, &[]).await;
        let mut admin = db.admin().await;
        let mut crowd = Vec::new();
        for _ in 0..12 {
            crowd.push(db.admin().await);
        }
        // As few as the crowd alone: 10 is the least that MariaDB takes.
        admin.run("SET GLOBAL max_connections = 10").await;
        kill(&mut admin, &bob, false).await;
        start.says("no runner yet", 2).await;
        tried(&mut admin, 6).await;
        said(&start, &[("no runner yet", 2), ("runner ended", 2), ("lost the", 0)]);
        admin.run("SET GLOBAL max_connections = 200").await;
        goes_on(&start).await;
        said(&start, &[("no runner yet", 2), ("runner started", 4)]);

        admin.run("SET GLOBAL max_connections = 10").await;
        kill(&mut admin, &bob, true).await;
        start.says("lost the server", 1).await;
        start.says("lost the bell", 1).await;
        tried(&mut admin, 6).await;
        admin.run("SET GLOBAL max_connections = 200").await;
        goes_on(&start).await;
        said(&start, &[("lost the server", 1), ("the server is back", 1), ("lost the bell", 1), ("the bell is back", 1)]);
        said(&start, &[("no runner yet", 2), ("runner ended", 4), ("runner started", 6)]);
        let [quick, slow] = ends(&db, &bob, vec![start]).await;
        assert!(outcomes(&quick, "SKIPPED") > 1, "{quick:#?}");
        assert!(outcomes(&quick, "LOST") <= 2 && outcomes(&slow, "LOST") <= 2, "{quick:#?} {slow:#?}");
    });
}

#[test]
fn runners_come_back_when_their_account_may_have_more_sessions_again() {
    each_private(|server| async move {
        let (_private, db, bob, start) = alone(&server, &[]).await;
        let mut admin = db.admin().await;
        // Those that are there already are not counted: one of the two runners finds room again.
        admin.run(&format!("ALTER USER {bob} WITH MAX_USER_CONNECTIONS 1")).await;
        kill(&mut admin, &bob, false).await;
        start.says("no runner yet", 1).await;
        tried(&mut admin, 4).await;
        said(&start, &[("no runner yet", 1), ("runner ended", 2), ("runner started", 3), ("lost the", 0)]);
        admin.run(&format!("ALTER USER {bob} WITH MAX_USER_CONNECTIONS 0")).await;
        goes_on(&start).await;
        said(&start, &[("no runner yet", 1), ("runner ended", 2), ("runner started", 4), ("lost the", 0)]);
        for entries in ends(&db, &bob, vec![start]).await {
            assert!(outcomes(&entries, "LOST") <= 1, "{entries:#?}");
        }
    });
}
