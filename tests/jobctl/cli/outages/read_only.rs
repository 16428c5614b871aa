//! The server takes no writes for a while, as before a switch to another one.

use super::{alone, ends, goes_on, outcomes, said, tried};
use crate::each::each_private;

#[test]
fn a_controller_waits_while_the_server_is_read_only() {
    each_private(|server| async move {
        let (_private, db, bob, start) = alone(&server, &[]).await;
        let mut admin = db.admin().await;
        // Of MySQL's two the stricter one: no account may write.
        let switch = if db.mariadb() { "read_only" } else { "super_read_only" };
        admin.run(&format!("SET GLOBAL {switch} = 1")).await;
        start.says("lost the server", 1).await;
        start.says("runner ended", 2).await;
        tried(&mut admin, 4).await;
        said(&start, &[("lost the server", 1), ("runner ended", 2), ("no runner yet", 0)]);
        admin.run("SET GLOBAL read_only = 0").await;
        goes_on(&start).await;
        said(&start, &[("lost the server", 1), ("the server is back", 1), ("runner ended", 2), ("runner started", 4)]);
        let [quick, slow] = ends(&db, &bob, vec![start]).await;
        assert!(outcomes(&quick, "SKIPPED") > 0, "the outage is told: {quick:#?}");
        assert!(outcomes(&quick, "LOST") <= 1 && outcomes(&slow, "LOST") <= 1, "{quick:#?} {slow:#?}");
    });
}
