//! A demo that is killed, at any moment: nothing is left.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::{GONE, Place, fast, listens, pretend, root, runs};
use crate::cli::tool::SOON;
use crate::each::{each_private, wait_until};

#[test]
fn killed_by_sigkill_while_it_shows_or_starts_nothing_is_left_on_every_server() {
    each_private(|server| async move {
        for shown in [true, false] {
            let place = Place::new();
            let demo = place.demo(&["--server", &root(&server)]).start();
            let port = place.begins().await;
            if shown {
                runs(&demo).await;
                assert_eq!(listens(port).as_deref(), Some(format!("0100007F:{port:04X}").as_str()), "for this machine alone");
            }
            demo.signal("KILL");
            assert_eq!(demo.ends().await.0, -9);
            place.is_left(&[port], GONE).await;
        }
    });
}

#[test]
fn killed_as_soon_as_it_starts_a_server_nothing_is_left() {
    fast(|_| async move {
        // A server that never ends and never answers: whoever waits for its end waits too long. And a machine so busy that it is
        // not yet in a session of its own.
        let fake = Place::new();
        let server = pretend(&fake, "exec sleep 300");
        let busy = "#!/bin/sh\n: >\"$TMPDIR/begun\"\nsleep 0.5\nPATH=${PATH#*:} exec setsid \"$@\"\n";
        fs::write(fake.0.join("setsid"), busy).expect("a file");
        fs::set_permissions(fake.0.join("setsid"), Permissions::from_mode(0o755)).expect("a mode");
        let path = std::env::var("PATH").expect("a path");
        for (signal, code) in [("KILL", -9), ("TERM", 143), ("INT", 130)] {
            for path in [path.clone(), format!("{}:{path}", fake.path())] {
                let place = Place::new();
                let demo = place.demo(&["--server", &server]).env("PATH", &path).start();
                let begun = place.0.join("begun");
                let log = || place.files().iter().any(|folder| folder.join("initialise.log").exists());
                wait_until("it starts the server", SOON, async || begun.exists() || log()).await;
                demo.signal(signal);
                let (ended, log) = demo.ends().await;
                assert_eq!(ended, code, "{log:#?}");
                let _ = fs::remove_file(begun);
                place.is_left(&[], GONE).await;
            }
        }
    });
}
