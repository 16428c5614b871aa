//! A server that is lost while its jobs are watched: it is told, what was seen stays, and it goes on by itself.

use super::without_terminal::Printing;
use super::{KEYS, Watching, jobs};
use crate::db::Db;
use crate::each::each_private;
use crate::servers::Private;

#[test]
fn a_server_that_was_killed_and_comes_back_is_watched_again() {
    each_private(|server| async move {
        let mut private = Private::start(&server.name, &[]);
        let db = Db::installed(&private.server, "watching").await;
        let (bob, session) = jobs(&db, &["a", "b"]).await;
        let mut watching = Watching::start(&db, &bob, (120, 24), &[], &[]).await;
        let printing = Printing::start(&db, &bob, &[]);
        printing.says("\na ", 1).await;
        private.stop(true);
        drop(session);
        watching.shows("what is wrong", |screen| screen.last().starts_with("trying again: ")).await;
        // What was seen last stays, and so do the keys.
        watching.chooses("j", "b").await;
        assert_eq!(watching.screen().jobs().len(), 2);
        watching.types("p").await;
        watching.shows("why not", |screen| screen.last().starts_with("cannot connect to ")).await;
        private.restart(&[]);
        // Both messages go, also the answer to the key, which is there for some seconds.
        watching.shows("the keys again", |screen| screen.last() == KEYS).await;
        db.login(&bob).await.define(&db, "c", "hello", "3600", "").await;
        watching.shows("the new job", |screen| screen.chosen().starts_with("b ") && screen.jobs().len() == 3).await;
        watching.quits().await;
        printing.says("\nc ", 1).await;
        let (code, stdout, stderr) = printing.ends("INT").await;
        assert_eq!((code, stdout.matches("name ").count()), (130, 2), "{stdout}{stderr}");
        assert_eq!(stderr.matches("trying again: ").count(), 1, "{stderr}");
    });
}
