//! A demo that is let alone, signalled or one of two: it ends in good order.

use super::{Place, ended_well, fast, root, runs};
use crate::each::each_private;

#[test]
fn a_demo_shows_its_jobs_and_ends_after_its_time_on_every_server() {
    each_private(|server| async move {
        let place = Place::new();
        let ran = place.demo(&["--server", &root(&server), "--for", "3s"]).run().await;
        ended_well(ran.code, &ran.stderr);
        assert!(ran.stderr.starts_with("starting a private "), "{ran:#?}");
        assert!(ran.stderr.contains("visits: run ok in "), "{ran:#?}");
        assert!(ran.stdout.starts_with("job        runs ok  failed  skipped\n"), "{ran:#?}");
        let last = &ran.stdout;
        for job in ["visits", "carts", "reminders", "stock", "roll-up"] {
            assert!(last.contains(&format!("\n{job} ")), "no {job}: {ran:#?}");
        }
        place.is_clean(&[]).await;
        assert!(!ran.stderr.contains("lost the server"), "it ends by itself, and nothing is lost: {}", ran.stderr);
    });
}

#[test]
fn a_signal_while_it_starts_ends_it_at_once() {
    each_private(|server| async move {
        for (signal, code) in [("INT", 130), ("TERM", 143)] {
            let place = Place::new();
            let demo = place.demo(&["--server", &root(&server)]).start();
            let port = place.begins().await;
            demo.signal(signal);
            let (ended, log) = demo.ends().await;
            assert_eq!(ended, code, "{log:#?}");
            assert_eq!(log.last().map(String::as_str), Some(format!("error: ended by SIG{signal}").as_str()), "{log:#?}");
            place.is_clean(&[port]).await;
        }
    });
}

#[test]
fn two_demos_at_once_do_not_meet_and_each_ends_by_its_own_signal() {
    fast(|server| async move {
        let place = Place::new();
        let [first, second] = [(); 2].map(|()| place.demo(&["--server", &server]).start());
        runs(&first).await;
        runs(&second).await;
        let ports = place.ports();
        assert_eq!((ports.len(), place.files().len()), (2, 2), "{ports:?}");
        let ports: Vec<_> = ports.into_iter().collect();
        first.signal("INT");
        let (code, log) = first.ends().await;
        ended_well(code, &log.join("\n"));
        assert_eq!((place.ports().len(), place.files().len()), (1, 1));
        let before = second.count("visits: run ok");
        second.says("visits: run ok", before + 2).await;
        second.signal("TERM");
        let (code, log) = second.ends().await;
        ended_well(code, &log.join("\n"));
        place.is_clean(&ports).await;
    });
}
