//! Keys move through the list of jobs, and pause and resume; the list follows what happens to the jobs.

use super::{KEYS, Screen, Watching, jobs, on_one};
use crate::each::{each, join};
use crate::session::{Session, literal};

#[test]
fn keys_move_through_a_hundred_jobs_and_the_chosen_one_is_always_to_be_seen() {
    on_one(|db| async move {
        let names: Vec<_> = (0..100).map(|job| format!("job {job:02}")).collect();
        let (bob, _) = jobs(&db, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let check = async |size: (u16, u16)| {
            let mut watching = Watching::start(&db, &bob, size, &[], &[]).await;
            let rows = watching.screen().jobs().len();
            assert!(rows >= usize::from(size.1) / 3, "{rows} rows of {size:?}");
            let part = |first: usize| format!(" {first}-{} of 100", first + rows - 1);
            let page = |job: usize| format!("job {job:02}");
            for (keys, job, first) in [
                ("", page(0), 1),
                ("\x1b[B", page(1), 1),
                ("j", page(2), 1),
                ("\x1b[A", page(1), 1),
                ("k", page(0), 1),
                // There is nothing above the first, and nothing behind keys that mean nothing.
                ("k\x1b[A\x1b[5~", page(0), 1),
                ("xX9\t\r\x1b[C\x1b[D\x1b[15~ä🚀j", page(1), 1),
                ("k\x1b[6~", page(rows), 2),
                ("\x1b[6~", page(2 * rows), rows + 2),
                ("\x1b[5~", page(rows), rows + 1),
                ("\x1b[F", page(99), 101 - rows),
                ("j\x1b[B\x1b[6~", page(99), 101 - rows),
                ("\x1b[H", page(0), 1),
                ("\x1bOF", page(99), 101 - rows),
                ("\x1bOH", page(0), 1),
                ("\x1b[4~", page(99), 101 - rows),
                ("\x1b[1~", page(0), 1),
                ("G", page(99), 101 - rows),
                ("g", page(0), 1),
                (&"j".repeat(50), page(50), 52 - rows),
                (&"\x1b[A".repeat(20), page(30), 31.min(52 - rows)),
            ] {
                watching.types(keys).await;
                let there = |screen: &Screen| screen.chosen().starts_with(&job) && screen.lines[0].ends_with(&part(first));
                watching.shows(&format!("`{job}` in{} after {keys:?} at {size:?}", part(first)), there).await;
                watching.shows("what it is", |screen| screen.has(&format!("{job} calls "))).await;
            }
            watching.quits().await;
        };
        join([(80, 24), (40, 12)].map(check).into()).await;
    });
}

#[test]
fn p_pauses_and_resumes_the_chosen_job_or_says_why_not() {
    each(|db| async move {
        let (bob, mut session) = jobs(&db, &["a", "b", "off"]).await;
        session.row("CALL job$disable('off', NULL)").await;
        let mut admin = db.admin().await;
        let mut watching = Watching::start(&db, &bob, (80, 24), &[], &[]).await;
        watching.chooses("j", "b").await;
        for (key, word, message) in
            [("p", "PAUSED", "`b` is PAUSED, was ENABLED"), ("P", "ENABLED", "`b` is ENABLED, was PAUSED")]
        {
            watching.types(key).await;
            watching.shows(message, |screen| screen.last() == message).await;
            // The next look brings the row after the message; only then is the key about the new state.
            watching.shows(word, |screen| screen.lines[4].contains(word)).await;
            let states = admin.rows("SELECT job_name, status FROM job_overview ORDER BY job_name").await;
            assert_eq!(states, [["a", "ENABLED"], ["b", word], ["off", "DISABLED"]]);
        }
        watching.chooses("j", "off").await;
        watching.types("p").await;
        let refused = "`off` is DISABLED; only an ENABLED one can be paused";
        watching.shows(refused, |screen| screen.last() == refused).await;
        assert_eq!(admin.one("SELECT status FROM job_overview WHERE job_name = 'off'").await, "DISABLED");
        watching.quits().await;

        // The administrator sees everybody's jobs, and may not touch them.
        let mut watching = Watching::start(&db, &db.root(), (80, 24), &["a"], &[]).await;
        watching.types("p").await;
        watching.shows("whose it is not", |screen| screen.last() == "you own no job named `a`").await;
        watching.quits().await;
    });
}

#[test]
fn jobs_come_and_go_and_the_chosen_one_stays_chosen() {
    each(|db| async move {
        let (bob, mut session) = jobs(&db, &["a", "c", "e"]).await;
        let mut watching = Watching::start(&db, &bob, (80, 24), &[], &[]).await;
        let mut named = Watching::start(&db, &bob, (200, 50), &["e", "c"], &[]).await;
        assert!(named.screen().jobs()[0].starts_with("e ") && named.screen().jobs()[1].starts_with("c "));
        watching.chooses("j", "c ").await;
        session.define(&db, "b", "hello", "3600", "").await;
        watching.shows("one more above it", |screen| screen.chosen().starts_with("c ") && screen.reversed == [5]).await;
        drop_job(&mut session, "a").await;
        watching.shows("one less above it", |screen| screen.chosen().starts_with("c ") && screen.reversed == [4]).await;
        named.chooses("j", "c ").await;
        drop_job(&mut session, "c").await;
        watching.shows("another chosen", |screen| screen.chosen().starts_with("e ") && screen.jobs().len() == 2).await;
        watching.shows("what that is", |screen| screen.has("e calls ")).await;
        // Of those named one is not there, for a while.
        named.shows("what is missing", |screen| screen.last().contains("no job named `c`")).await;
        session.define(&db, "c", "hello", "7200", "").await;
        named.shows("all of them", |screen| screen.last() == KEYS && screen.has("every 2h")).await;
        named.quits().await;
        for job in ["b", "c", "e"] {
            drop_job(&mut session, job).await;
        }
        watching.shows("no job", |screen| screen.jobs().is_empty() && screen.reversed.is_empty()).await;
        // Keys that need a job do nothing; then there is one again.
        watching.types("jkpGg\x1b[6~").await;
        session.define(&db, "z", "hello", "3600", "").await;
        watching.shows("the new one", |screen| screen.chosen().starts_with("z ")).await;
        watching.quits().await;
    });
}

async fn drop_job(session: &mut Session, job: &str) {
    session.row(&format!("CALL job$drop({}, NULL)", literal(job))).await;
}
