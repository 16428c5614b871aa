//! The disk of the server is full for a while. To MySQL that is a fatal error, which no handler of a procedure hears of.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{ends, goes_on, jobs, outcomes, said, start};
use crate::db::{Account, Db};
use crate::each::each_private;
use crate::servers::Private;

/// Without the binary log: a server waits a minute from try to try until that can be written.
const OPTIONS: [&str; 1] = ["--skip-log-bin"];

/// Takes all the room there is.
fn fill(file: &Path) {
    let mut file = File::create(file).expect("a disk");
    for size in [1 << 20, 1 << 12] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
}

/// A third job, whose rows are long: what the files of the tables have left is soon used up.
async fn talkative(db: &Db, bob: &Account) {
    let warns = ["CAST(REPEAT('x', 400) AS SIGNED)"; 10].join(", ");
    db.body("talkative", &format!("DO {warns}")).await;
    db.define(bob, "talkative", "talkative", "0.1", "").await;
}

#[test]
fn a_controller_waits_while_the_disk_is_full() {
    each_private(|server| async move {
        let Some(private) = Private::on_disk(&server.name, 320, &OPTIONS) else {
            eprintln!("{}: NOT RUN, this machine lets nobody but root mount a disk", server.name);
            return;
        };
        let db = Db::installed(&private.server, "full").await;
        let bob = jobs(&db).await;
        talkative(&db, &bob).await;
        let start = start(&db, &bob, &[]);
        goes_on(&start).await;
        let filler = private.disk().join("filler");
        fill(&filler);
        start.says("talkative: runner ended", 1).await;
        let begun = Instant::now();
        start.says("talkative: runner ended", 6).await;
        eprintln!("{}: tried five times more in {:?}", server.name, begun.elapsed());
        // It can start, and comes no further than that: all the same each wait is twice as long as the one before.
        assert!(begun.elapsed() > Duration::from_millis(3875), "{:?}", begun.elapsed());
        let told = |text: &str| start.log().iter().filter(|line| line.contains("ended") && line.contains(text)).count();
        assert_eq!(told("runner ended"), told("is full"), "{:#?}", start.log());

        std::fs::remove_file(&filler).expect("it was made");
        goes_on(&start).await;
        start.says("talkative: run ok", start.count("talkative: run ok") + 3).await;
        said(&start, &[("lost the bell", 0)]);
        let [quick, slow] = ends(&db, &bob, vec![start]).await;
        assert!(outcomes(&quick, "LOST") <= 1 && outcomes(&slow, "LOST") <= 1, "{quick:#?} {slow:#?}");
    });
}
