//! A demo on a terminal: its keys, and the terminal as it was, whatever ends it.

use std::fs;

use tokio::process::Command;

use super::{GONE, JOBCTL, Place, SUMMARY, fast, run};
use crate::cli::terminal::Terminal;
use crate::cli::tool::SOON;
use crate::each::wait_until;

/// Leave the terminal as it was: the usual screen, and a cursor.
const RESTORED: [&str; 2] = ["\x1b[?1049l", "\x1b[?25h"];

#[test]
fn a_real_ctrl_c_on_a_terminal_ends_it_while_it_starts_and_while_it_shows() {
    fast(|server| async move {
        for (shown, keys, code) in [(false, b"\x03", 130), (true, b"\x03", 0), (true, b"q", 0)] {
            let place = Place::new();
            let mut demo = place.on_terminal(&["--server", &server]);
            let port = place.begins().await;
            if shown {
                demo.says("q quit").await;
                demo.says("visits: run ok").await;
                assert!(demo.screen().contains("jobctl demo: a shop on a private server"), "{}", demo.screen());
            }
            demo.types(keys).await;
            let ended = demo.ends().await;
            let screen = demo.screen();
            assert_eq!(ended, code, "{screen}");
            if shown {
                assert!(screen.trim_end().ends_with(SUMMARY) && screen.contains("roll-up"), "{screen}");
                let raw = String::from_utf8_lossy(&demo.raw()).into_owned();
                assert!(RESTORED.iter().all(|restored| raw.contains(restored)), "{raw:?}");
            } else {
                assert!(screen.contains("error: ended by SIGINT"), "{screen}");
            }
            place.is_clean(&[port]).await;
        }
    });
}

#[test]
fn killed_by_sigkill_on_a_terminal_it_leaves_the_terminal_as_it_was() {
    fast(|server| async move {
        let place = Place::new();
        let after = "until [ \"$(stty -g)\" = \"$before\" ]; do sleep 0.05; done; echo as it was; read line; echo got $line";
        let script = format!("before=$(stty -g); '{JOBCTL}' demo --server '{server}'; {after}");
        let mut shell = Terminal::start(120, 30, "sh", &["-c", &script], &[("TMPDIR", place.path())]);
        let port = place.begins().await;
        shell.says("visits: run ok").await;
        let children = format!("/proc/{pid}/task/{pid}/children", pid = shell.pid());
        let demo = fs::read_to_string(children).expect("a process").trim().to_owned();
        assert_eq!(run(Command::new("kill").args(["-KILL", &demo])).await.code, 0);
        shell.says("as it was").await;
        let restored = async || {
            let raw = String::from_utf8_lossy(&shell.raw()).into_owned();
            RESTORED.iter().all(|restored| raw.contains(restored))
        };
        wait_until("the usual screen is back", SOON, restored).await;
        // Keys are echoed again, and a line ends by Enter.
        shell.types(b"hello\r").await;
        assert_eq!(shell.ends().await, 0, "{}", shell.screen());
        assert!(shell.screen().contains("got hello"), "{}", shell.screen());
        place.is_left(&[port], GONE).await;
    });
}

#[test]
fn a_terminal_that_goes_away_takes_all_of_it_along() {
    fast(|server| async move {
        let place = Place::new();
        let demo = place.on_terminal(&["--server", &server]);
        let port = place.begins().await;
        demo.says("visits: run ok").await;
        demo.signal("HUP");
        place.is_left(&[port], GONE).await;
    });
}
