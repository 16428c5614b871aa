//! What the screen of `jobctl status --watch` shows at every size, and in which colours.

use super::{KEYS, SIZES, Screen, Watching, jobs, on_one};
use crate::cli::tool::{SOON, status};
use crate::each::{join, wait_until};

#[test]
fn a_screen_of_any_size_has_its_parts_and_nothing_is_sent_twice_while_only_clocks_move() {
    on_one(|db| async move {
        let (bob, mut session) = jobs(&db, &["still"]).await;
        session.define(&db, "tick", "hello", "59", r#", "description": "for the clocks""#).await;
        let _runner = db.runner(&bob, "tick").await;
        status(&db, &bob, "tick", "SLEEPING").await;
        let check = async |size: (u16, u16)| {
            let mut watching = Watching::start(&db, &bob, size, &[], &[]).await;
            watching.chooses("j", "tick").await;
            watching.shows("its details", |screen| screen.has("tick calls")).await;
            let screen = watching.screen();
            let (lines, title) = (&screen.lines, "jobctl status of `");
            assert_eq!(lines.len(), usize::from(size.1), "{lines:#?}");
            assert!(screen.alternate && screen.hidden && lines[0].starts_with(title), "{lines:#?}");
            assert!(lines[1].is_empty() && lines[2].starts_with("name ") && lines[2].contains("status"), "{lines:#?}");
            assert!(lines[3].starts_with("still ") && lines[4].starts_with("tick ") && lines[5].is_empty(), "{lines:#?}");
            assert!(lines[4].contains("SLEEPING") && lines[6].starts_with("tick calls"), "{lines:#?}");
            assert_eq!((screen.last(), &screen.reversed[..]), (KEYS, &[4][..]));
            for row in &lines[2..5] {
                assert_eq!(row.contains("owner") || row.contains("bob"), size.0 >= 80, "{lines:#?}");
            }

            let (sent, frames) = (watching.terminal.raw().len(), watching.frames());
            watching.shows("clocks that move", |now| now.lines[3..] != lines[3..]).await;
            wait_until("frames", SOON, async || watching.frames() >= frames + 8).await;
            let sent = watching.terminal.raw()[sent..].to_vec();
            let text = String::from_utf8_lossy(&sent);
            for unchanged in ["\u{1b}[2J", "\u{1b}[J", "jobctl", "name", "still", "tick", "SLEEP", "calls", "last", "quit"] {
                assert!(!text.contains(unchanged), "{size:?}: {unchanged} in {text:?}");
            }
            watching.quits().await;
        };
        join(SIZES.map(check).into()).await;
    });
}

#[test]
fn three_lines_tell_about_the_chosen_job_at_every_size() {
    on_one(|db| async move {
        let (bob, _) = jobs(&db, &["a", "b"]).await;
        for size in SIZES {
            let mut watching = Watching::start(&db, &bob, size, &[], &[]).await;
            watching.chooses("j", "b").await;
            watching.shows("what it is", |screen| screen.lines[6].starts_with("b calls")).await;
            let lines = watching.screen().lines;
            watching.quits().await;
            // The first is folded where that leaves room for the others.
            let after = lines.iter().skip_while(|line| !line.starts_with("last run: none")).nth(1);
            assert!(after.is_some_and(|line| line.starts_with("next run: ")), "{size:?}: {lines:#?}");
        }
    });
}

#[test]
fn a_terminal_that_changes_its_size_is_filled_anew() {
    on_one(|db| async move {
        let (bob, _) = jobs(&db, &["a", "b", "c"]).await;
        let mut watching = Watching::start(&db, &bob, (80, 24), &[], &[]).await;
        for size in [(40, 12), (200, 50), (20, 6), (1, 1), (2, 3), (80, 24)] {
            watching.resizes(size);
            if size.0 >= 20 {
                let keys: String = KEYS.chars().take(usize::from(size.0) - 2).collect();
                let whole = |screen: &Screen| {
                    let (title, rows) = (screen.lines[0].as_str(), screen.jobs());
                    let part = if size.1 < 12 { rows.len() == 1 && title.ends_with(" 1-1 of 3") } else { rows.len() == 3 };
                    part && title.starts_with("jobctl st") && screen.last().starts_with(&keys) && rows[0].starts_with("a ")
                };
                watching.shows(&format!("all of it at {size:?}"), whole).await;
            } else {
                let frames = watching.frames();
                wait_until("it goes on", SOON, async || watching.frames() > frames + 1).await;
            }
        }
        watching.chooses("j", "b").await;
        watching.quits().await;
    });
}

#[test]
fn colours_are_for_a_terminal_that_wants_them() {
    on_one(|db| async move {
        let (bob, mut session) = jobs(&db, &["a"]).await;
        session.row("CALL job$pause('a', NULL)").await;
        session.define(&db, "b", "hello", "3600", "").await;
        session.row("CALL job$pause('b', NULL)").await;
        for (env, colours) in
            [(&[][..], true), (&[("NO_COLOR", "1")], false), (&[("NO_COLOR", "")], true), (&[("TERM", "dumb")], false)]
        {
            let mut watching = Watching::start(&db, &bob, (80, 24), &[], env).await;
            watching.types("p").await;
            watching.shows("a message", |screen| screen.last() == "`a` is ENABLED, was PAUSED").await;
            let raw = String::from_utf8(watching.terminal.raw()).expect("UTF-8");
            watching.quits().await;
            session.row("CALL job$pause('a', NULL)").await;
            let styles = raw.split("\u{1b}[").filter_map(|part| part.split_once('m').map(|(style, _)| style));
            let numbers = styles.flat_map(|style| style.split(';')).filter_map(|number| number.parse::<u8>().ok());
            let coloured = numbers.into_iter().any(|number| matches!(number, 30..=38 | 40..=48 | 90..=107));
            assert_eq!(coloured, colours, "{env:?}: {raw:?}");
        }
    });
}
