//! What is said, word for word, to whoever gives wrong input: one sentence, what to type next, and an exit code.

use super::missing_dependencies::without_routines;
use super::screens::sh;
use super::tool::{Tool, call, good};
use super::transcript::{settings, show};
use crate::db::{Account, Db};
use crate::each::each;

/// Puts two accounts, three procedures and a job there.
async fn scene(db: &Db) -> (Account, Account) {
    let bob = db.account("bob").await;
    let eve = db.stranger("eve").await;
    db.own(&eve).await;
    db.body("roll_up", "DO 0").await;
    let mut admin = db.admin().await;
    admin.run(&format!("CREATE PROCEDURE {}.wants(IN in_day DATE) DO 0", db.bodies())).await;
    db.define(&bob, "nightly", "roll_up", "3600", "").await;
    (bob, eve)
}

#[test]
fn the_words_for_wrong_input() {
    each(|db| async move {
        let (bob, eve) = scene(&db).await;
        let (root, procedure) = (db.root(), call(&db, "roll_up"));
        let mut text = String::new();
        let mut say = async |account: &Account, arguments: &[&str]| {
            text += &show(arguments, &Tool::new(&db, account, arguments).env("COLUMNS", "250").run().await);
        };
        let long = "n".repeat(130);
        for name in ["", " a", "a\tb", &long] {
            say(&bob, &["define", name, "--call", &procedure, "--every", "1h"]).await;
        }
        for every in ["0", "0s", "-1s", "0.05s", "101y", "36526d", "soon", "1.0000001s"] {
            say(&bob, &["define", "x", "--call", &procedure, &format!("--every={every}")]).await;
        }
        for (start, finish) in [
            ("2031-02-01", "2031-01-31"),
            ("2031-02-30", "2031-03-01"),
            ("999-01-01", "2031-03-01"),
            ("2031-01-01", "99999-01-01"),
            ("tomorrow", "2031-03-01"),
        ] {
            say(&bob, &["define", "x", "--call", &procedure, "--every", "1h", "--start", start, "--finish", finish]).await;
        }
        say(&bob, &["define", "x", "--call", &procedure, "--every", "1h", "--start", "2031-01-01", "--tz", "Mars/Olympus"])
            .await;
        say(&bob, &["define", "x", "--call", "roll_up", "--every", "1h"]).await;
        say(&bob, &["define", "x", "--call", &call(&db, "nothing"), "--every", "1h"]).await;
        say(&bob, &["define", "x", "--call", &call(&db, "wants"), "--every", "1h"]).await;
        for verb in ["show", "status", "start", "pause", "resume", "abort", "enable", "disable", "drop"] {
            say(&bob, &[verb, "yearly"]).await;
        }
        say(&bob, &["alter", "yearly", "--every", "1h"]).await;
        say(&eve, &["pause", "nightly"]).await;
        say(&bob, &["adopt"]).await;
        say(&bob, &["-D", &"s".repeat(65), "status"]).await;
        say(&bob, &["--host", "127.0.0.1", "--port", "70000", "status"]).await;
        let shown = |arguments: &[&str], ran| show(arguments, &ran);
        for closed in ["mysql://bob@127.0.0.1:1/jobctl", "mysql://bob@127.0.0.1:1,127.0.0.1:2/jobctl"] {
            let closed = ["--url", closed, "status"];
            text += &shown(&closed, Tool::bare(&closed).run().await);
        }
        let host = ["--host", "a,b:no", "status"];
        text += &shown(&host, Tool::bare(&host).run().await);
        let url = ["--url", "postgres://bob@127.0.0.1/jobctl", "status"];
        text += &shown(&url, Tool::bare(&url).run().await);
        let wrong = Account { password: "hunter2".into(), ..bob.clone() };
        text += &shown(&["status"], Tool::new(&db, &wrong, &["status"]).run().await);
        text += &shown(&["status", ">/dev/full"], sh(&db, &bob, "J status >/dev/full").await);
        // A procedure that was there when its job was defined.
        db.body("later", "DO 0").await;
        db.define(&bob, "later", "later", "4", r#", "max_failures": 1"#).await;
        let mut admin = db.admin().await;
        admin.run(&format!("DROP PROCEDURE {}.later", db.bodies())).await;
        text += &shown(&["start", "later"], Tool::new(&db, &bob, &["start", "later"]).run().await);
        // One that its owner may not execute any more.
        admin.run(&format!("REVOKE ALL PRIVILEGES ON {}.* FROM {bob}", db.bodies())).await;
        let define = ["define", "x", "--call", &procedure, "--every", "1h"];
        text += &shown(&define, Tool::new(&db, &bob, &define).run().await);
        // A definer that was dropped.
        let definer = format!("gone_t{}", &db.schema()[db.schema().len() - 14..]);
        admin.run(&format!("CREATE USER {definer}@localhost")).await;
        admin.run(&format!("GRANT ALL ON *.* TO {definer}@localhost")).await;
        good(&db, &root, &["install", "--definer", &format!("{definer}@localhost")]).await;
        admin.run(&format!("DROP USER {definer}@localhost")).await;
        text += &shown(&["status"], Tool::new(&db, &bob, &["status"]).run().await);
        good(&db, &root, &["install", "--definer", &admin.one("SELECT CURRENT_USER()").await]).await;
        without_routines(&db, &mut db.admin().await).await;
        for arguments in [&["status"][..], &["pause", "nightly"], &["start", "nightly"]] {
            text += &shown(arguments, Tool::new(&db, &root, arguments).run().await);
        }
        let nowhere = ["-D", "no_such_schema", "status"];
        text += &shown(&nowhere, Tool::new(&db, &root, &nowhere).run().await);
        settings(Some(&db)).bind(|| insta::assert_snapshot!("errors", text));
    });
}
