//! Connections carry nothing any more, and nobody is told so: no end, no error, only silence.

use std::time::{Duration, Instant};

use super::{ends, goes_on, jobs, outcomes, said, server_port, sessions, start, start_by};
use crate::chaos::proxy::Proxy;
use crate::cli::tool::Going;
use crate::db::{Account, Db};
use crate::each::each;

const TTL: Duration = Duration::from_secs(3);
/// How long anything may take beyond that; the bound is one second, a noisy machine gets more.
const NOISE: Duration = Duration::from_secs(5);

/// One controller behind a proxy, which has the jobs, and one that stands by and may judge.
async fn two(db: &Db) -> (Account, Proxy, Going, Going) {
    let bob = jobs(db).await;
    let proxy = Proxy::new(server_port(db)).await;
    let first = start_by(proxy.port, db, &bob, &["--ttl", "3s"]);
    goes_on(&first).await;
    let second = start(db, &bob, &["--ttl", "3s"]);
    second.says("standing by", 2).await;
    // Who judges has been heard for a time to live.
    tokio::time::sleep(TTL).await;
    (bob, proxy, first, second)
}

#[test]
fn a_silence_shorter_than_the_ttl_changes_nothing() {
    each(|db| async move {
        let (bob, proxy, first, second) = two(&db).await;
        proxy.partition(true);
        tokio::time::sleep(TTL / 2).await;
        proxy.partition(false);
        goes_on(&first).await;
        said(&first, &[("lost the", 0), ("runner started", 2), ("runner ended", 0)]);
        said(&second, &[("runner started", 0)]);
        for entries in ends(&db, &bob, vec![second, first]).await {
            assert_eq!(outcomes(&entries, "LOST"), 0, "{entries:#?}");
        }
    });
}

#[test]
fn a_silence_longer_than_the_ttl_gives_the_jobs_to_the_other_controller_and_no_run_is_lost() {
    each(|db| async move {
        let (bob, proxy, first, second) = two(&db).await;
        proxy.partition(true);
        let begun = Instant::now();
        second.says("runner started", 2).await;
        eprintln!("{}: taken over after {:?} of silence (TTL {TTL:?})", db.server().name, begun.elapsed());
        assert!(begun.elapsed() < TTL + NOISE, "{:?}", begun.elapsed());
        goes_on(&second).await;
        proxy.partition(false);
        first.says("the bell is back", 1).await;
        goes_on(&second).await;
        said(&second, &[("lost the", 0), ("runner ended", 0)]);
        // And the other way round: the first one has not gone mad.
        second.signal("TERM");
        assert_eq!(second.ends().await.0, 0);
        goes_on(&first).await;
        said(&first, &[("lost the bell", 1), ("the bell is back", 1), ("runner ended", 2), ("runner started", 4)]);
        assert!(first.count("lost the server") <= 1, "{:#?}", first.log());
        for entries in ends(&db, &bob, vec![first]).await {
            assert_eq!(outcomes(&entries, "LOST"), 0, "{entries:#?}");
        }
    });
}

#[test]
fn a_controller_whose_connections_fall_silent_for_ever_comes_back_on_new_ones() {
    each(|db| async move {
        let bob = jobs(&db).await;
        let proxy = Proxy::new(server_port(&db)).await;
        let start = start_by(proxy.port, &db, &bob, &["--ttl", "3s"]);
        goes_on(&start).await;
        let silent = sessions(&mut db.admin().await, &bob, "SUBSTRING_INDEX(host, ':', -1)").await;
        assert!(silent.iter().all(|port| proxy.stall(port.parse().expect("a port"))), "{silent:?}");
        let begun = Instant::now();
        goes_on(&start).await;
        eprintln!("{}: heard again after {:?}", db.server().name, begun.elapsed());
        said(&start, &[("lost the bell", 1), ("the bell is back", 1), ("lost the server", 1), ("the server is back", 1)]);
        said(&start, &[("runner ended", 2), ("runner started", 4)]);
        // Those who waited in vain are let go, and the server hears that they are.
        for port in silent {
            proxy.cut(port.parse().expect("a port"));
        }
        for entries in ends(&db, &bob, vec![start]).await {
            assert_eq!(outcomes(&entries, "LOST"), 0, "{entries:#?}");
        }
    });
}
