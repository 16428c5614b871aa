//! Names and texts of any characters: each stays in its place, and none makes the terminal obey.

use super::{KEYS, SIZES, Screen, Watching, jobs, on_one};
use crate::each::{each, join};

/// What would make a terminal obey.
const EVIL: &str = "a\u{1b}[2J\u{1b}]0;t\u{7}\u{8}\r\u{7f}\u{9b}31m\nsecond line\tend";

#[test]
fn odd_names_and_texts_break_no_line_and_reach_no_terminal_as_control_characters() {
    each(|db| async move {
        let (letters, accents) = ("n".repeat(129), "é".repeat(128) + "🐬");
        let names = ["plain", "🚀 grüße", "日本語の仕事", "e\u{301}te\u{301}", "x\" `y` $z", &letters, &accents];
        let (bob, mut session) = jobs(&db, &names).await;
        let text = "CONCAT('a', CHAR(27), '[2J', CHAR(7), CHAR(13), CHAR(10), 'second line')";
        let body = format!("BEGIN DECLARE m VARCHAR(99) DEFAULT {text}; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = m; END");
        db.body("fails", &body).await;
        let more = format!(r#", "max_failures": 1, "description": {}"#, serde_json::json!(EVIL));
        session.define(&db, "evil", "fails", "0.1", &more).await;
        db.runner(&bob, "evil").await.message().await;
        let check = async |size: (u16, u16)| {
            let mut watching = Watching::start(&db, &bob, size, &[], &[]).await;
            let mut seen = Vec::new();
            for _ in 0..names.len() + 1 {
                let screen = watching.screen();
                // Nothing in the names before that column is of another width than the terminal has it.
                let column = screen.lines[2].find("status").and_then(|column| u16::try_from(column).ok()).expect("a column");
                let mut states = screen.shown.rows(column, size.0 - column).skip(3).take(screen.jobs().len());
                let good = |state: String| state.starts_with("ENABLED") || state.starts_with("ERROR");
                assert!(states.all(good), "{:#?}", screen.lines);
                assert_eq!(screen.last(), KEYS, "{:#?}", screen.lines);
                assert!(screen.lines[0].starts_with("jobctl status of `") && screen.lines[1].is_empty(), "{:#?}", screen.lines);
                seen.push(screen.chosen().to_owned());
                watching.types("j").await;
                let moved = |now: &Screen| now.chosen() != screen.chosen() || seen.len() > names.len();
                watching.shows("the next one", moved).await;
            }
            assert!(seen.iter().any(|row| row.starts_with("🚀 grüße ")), "{seen:#?}");
            watching.chooses("g", "evil").await;
            watching.shows("its error", |screen| screen.has("evil calls ") && screen.has("last run: error at ")).await;
            let raw = String::from_utf8(watching.terminal.raw()).expect("UTF-8");
            // Where there is room for it, it is there; the terminal of these tests leaves out what stands for a control character.
            assert!(size.0 < 80 || raw.contains("a\u{fffd}[2J"), "{raw:?}");
            assert!(size.0 < 200 || raw.contains("\u{fffd}]0;t\u{fffd}"), "{raw:?}");
            watching.quits().await;
            harmless(raw.splitn(3, '\n').last().expect("more than what the shell said"));
        };
        join(SIZES.map(check).into()).await;
    });
}

/// Nothing but text, and what moves the cursor, sets colours or switches modes; the screen is cleared at most once.
fn harmless(sent: &str) {
    assert!(sent.matches("\u{1b}[2J").count() <= 1, "{sent:?}");
    for (at, part) in sent.split('\u{1b}').enumerate() {
        let text = match part.strip_prefix('[') {
            Some(sequence) => {
                let end = sequence.find(|c: char| c.is_ascii_alphabetic()).expect("a sequence ends");
                assert!("HmhlJ".contains(&sequence[end..=end]), "{sequence:?}");
                &sequence[end + 1..]
            }
            None => part,
        };
        assert!(at == 0 || part.starts_with('['), "{part:?}");
        assert!(!text.contains(char::is_control), "{text:?}");
    }
}

#[test]
fn names_of_characters_that_are_joined_are_cut() {
    on_one(|db| async move {
        let hearts = "❤\u{fe0f}".repeat(64);
        let family = "👩\u{200d}👩\u{200d}👧".repeat(25);
        let (shifted, flags) = (format!("a{hearts}"), "🇩🇪".repeat(64));
        let (bob, _) = jobs(&db, &[&hearts, &shifted, &family, &flags, "plain"]).await;
        let check = async |size: (u16, u16)| {
            let mut watching = Watching::start(&db, &bob, size, &[], &[]).await;
            watching.shows("all of them", |screen| screen.jobs().len() == 5 && screen.has("plain")).await;
            watching.quits().await;
        };
        join(SIZES.map(check).into()).await;
    });
}
