//! The terminal is taken only for a screen, and given back as it was: at every end, and while it is stopped.

use super::{KEYS, Screen, Watching, count, jobs, on_one};
use crate::cli::tool::{Tool, bad};
use crate::each::{each, join};

#[test]
fn every_end_leaves_the_terminal_as_it_was() {
    on_one(|db| async move {
        let (bob, _) = jobs(&db, &["a"]).await;
        let ends = [("q", 0), ("Q", 0), ("\x1b", 0), ("\x03", 130), ("TERM", 143), ("INT", 130), ("HUP", 143), ("QUIT", 143)];
        let check = async |(how, code): (&str, i32)| {
            let mut watching = Watching::start(&db, &bob, (80, 24), &[], &[]).await;
            assert_ne!(watching.settings(&["-g"]), watching.before, "keys are for us");
            if how.len() > 1 {
                watching.terminal.signal(how);
            } else {
                watching.types(how).await;
            }
            assert_eq!(watching.ends().await, code, "{how:?}: {}", watching.terminal.screen());
            watching.gave_the_terminal_back(&watching.before).await;
            assert_eq!(
                watching.terminal.screen().contains("ended by SIG"),
                code != 0,
                "{how:?}: {}",
                watching.terminal.screen()
            );
        };
        join(ends.map(check).into()).await;
    });
}

#[test]
fn stopped_it_gives_the_terminal_back_and_continued_it_takes_it_again() {
    on_one(|db| async move {
        let (bob, _) = jobs(&db, &["a", "b", "c"]).await;
        let mut watching = Watching::start(&db, &bob, (80, 24), &[], &[]).await;
        let mut settings = watching.before.clone();
        for (how, job) in [("\x1a", "b"), ("TSTP", "c"), ("\x1a", "c")] {
            if how.len() > 1 {
                watching.terminal.signal(how);
            } else {
                watching.types(how).await;
            }
            watching.stops().await;
            watching.gave_the_terminal_back(&settings).await;
            // A shell may do what it likes; that is what the terminal is left at in the end.
            watching.settings(&[if how.len() > 1 { "ixon" } else { "-ixon" }]);
            settings = watching.settings(&["-g"]);
            watching.past = watching.terminal.raw().len();
            watching.terminal.signal("CONT");
            let whole =
                |screen: &Screen| screen.alternate && screen.hidden && screen.last() == KEYS && screen.jobs().len() == 3;
            watching.shows("all of it again", whole).await;
            assert!(watching.settings(&["-a"]).contains("-icanon"), "{}", watching.settings(&["-a"]));
            watching.chooses("j", job).await;
        }
        watching.types("q").await;
        assert_eq!(watching.ends().await, 0);
        watching.gave_the_terminal_back(&settings).await;
    });
}

#[test]
fn it_takes_the_terminal_again_without_an_answer_of_the_terminal() {
    on_one(|db| async move {
        let (bob, _) = jobs(&db, &["a", "b"]).await;
        let mut watching = Watching::start(&db, &bob, (80, 24), &[], &[]).await;
        watching.told = None;
        // What another program has left on the screen goes by Ctrl-L.
        let spoil = std::fs::OpenOptions::new().write(true).open(&watching.device).expect("a terminal");
        std::io::Write::write_all(&mut &spoil, b"\x1b[Hsomebody else").expect("a terminal");
        drop(spoil);
        watching.shows("what is not its own", |screen| screen.lines[0].starts_with("somebody else")).await;
        watching.types("\x0c").await;
        watching.shows("its title again", |screen| screen.lines[0].starts_with("jobctl status")).await;
        watching.types("\x1a").await;
        watching.stops().await;
        watching.past = watching.terminal.raw().len();
        watching.terminal.signal("CONT");
        watching.shows("its title again", |screen| screen.lines[0].starts_with("jobctl status")).await;
        watching.chooses("j", "b").await;
        watching.quits().await;
    });
}

#[test]
fn data_for_programs_is_never_drawn() {
    on_one(|db| async move {
        let (bob, _) = jobs(&db, &["a"]).await;
        let mut watching = Watching::run(&db.url(&bob), (80, 24), &["--output", "json"], &[]).await;
        watching.terminal.says("\"job_name\":\"a\"").await;
        assert_eq!(watching.settings(&["-g"]), watching.before);
        // Keys are the system's: this one is a signal.
        watching.types("\x03").await;
        assert_eq!(watching.ends().await, 130);
        assert_eq!(count(&watching.terminal.raw(), b"\x1b["), 0, "{}", watching.terminal.screen());
    });
}

#[test]
fn what_the_first_look_says_is_the_end_and_no_terminal_is_taken_for_it() {
    each(|db| async move {
        let (bob, _) = jobs(&db, &["a"]).await;
        let told = bad(&db, &bob, 3, &["status", "--watch", "a", "nope"]).await;
        assert!(told.starts_with("error: ") && told.contains("`nope`"), "{told}");
        assert_eq!(bad(&db, &bob, 3, &["status", "nope"]).await, bad(&db, &bob, 3, &["status", "--watch", "nope"]).await);
        // Nobody listens at port 1.
        let nowhere = "mysql://bob@127.0.0.1:1/jobs";
        assert_eq!(Tool::bare(&["--url", nowhere, "status", "--watch"]).run().await.code, 5);
        let url = db.url(&bob);
        for (url, more, code) in [(url.as_str(), &["nope"][..], 3), (nowhere, &[], 5)] {
            let mut watching = Watching::run(url, (80, 24), more, &[]).await;
            assert_eq!(watching.ends().await, code, "{}", watching.terminal.screen());
            assert!(watching.terminal.screen().contains("error: "), "{}", watching.terminal.screen());
            assert_eq!(count(&watching.terminal.raw(), b"\x1b["), 0, "{}", watching.terminal.screen());
            assert_eq!(watching.settings(&["-g"]), watching.before);
        }
    });
}
