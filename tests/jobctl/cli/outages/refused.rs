//! Nobody answers at the server's address for a while.

use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::time::timeout_at;

use super::{alone, ends, goes_on, outcomes, said, server_port};
use crate::each::each_private;

/// How long it is counted who tries to log in.
const COUNTED: Duration = Duration::from_secs(20);
/// The longest wait between two tries of one who tries, as the back-off has it, and what a noisy machine adds.
const CEILING: Duration = Duration::from_secs(2 + 2);
/// Those who try: one for the bell, one to look. Runners do not before there is a bell.
const WHO_TRY: usize = 2;

/// Closes the door to all who come, and notes when.
async fn knocks(port: u16) -> Vec<Instant> {
    let door = TcpListener::bind(("127.0.0.1", port)).await.expect("the server has left its port");
    let until = tokio::time::Instant::now() + COUNTED;
    let mut knocks = Vec::new();
    while let Ok(knock) = timeout_at(until, door.accept()).await {
        knock.expect("somebody");
        knocks.push(Instant::now());
    }
    knocks
}

#[test]
fn tries_to_come_back_are_few_never_in_step_and_never_cease() {
    each_private(|server| async move {
        let (mut private, db, bob, start) = alone(&server, &[]).await;
        private.stop(false);
        start.says("lost the server", 1).await;
        let knocks = knocks(server_port(&db)).await;
        let gaps: Vec<_> = knocks.windows(2).map(|pair| pair[1] - pair[0]).collect();
        eprintln!("{}: {} tries in {COUNTED:?}: {gaps:?}", server.name, knocks.len());
        // At the longest waits alone, one each 1 to 2 s; with the short ones of the beginning not many more.
        assert!((WHO_TRY * 6..=WHO_TRY * 24).contains(&knocks.len()), "{gaps:?}");
        assert!(gaps.iter().all(|gap| *gap < CEILING), "{gaps:?}");
        // With waits all alike, each one would come back as long after its last try as the time before.
        let rounds: Vec<_> = knocks.windows(WHO_TRY + 1).map(|round| round[WHO_TRY] - round[0]).collect();
        let last = &rounds[rounds.len() - 4..];
        let (least, most) = (last.iter().min().expect("some"), last.iter().max().expect("some"));
        assert!(*most - *least > Duration::from_millis(20), "{last:?}");

        private.restart(&[]);
        let begun = Instant::now();
        goes_on(&start).await;
        eprintln!("{}: all goes on {:?} after the start of the server", server.name, begun.elapsed());
        assert!(begun.elapsed() < 4 * CEILING, "{:?}", begun.elapsed());
        said(&start, &[("lost the server", 1), ("the server is back", 1), ("lost the bell", 1), ("the bell is back", 1)]);
        said(&start, &[("runner ended", 2), ("runner started", 4), ("no runner yet", 0)]);
        for entries in ends(&db, &bob, vec![start]).await {
            assert!(outcomes(&entries, "SKIPPED") > 0 && outcomes(&entries, "LOST") <= 1, "{entries:#?}");
        }
    });
}
