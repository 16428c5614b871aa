//! How a server is named and entered.

use mysql_async::Opts;

use super::tool::Tool;
use crate::db::{Account, Db, Ran};
use crate::each::each;

/// Host and port of the server, as texts.
fn place(db: &Db) -> (String, String) {
    let options = Opts::from(db.server().options());
    (options.ip_or_hostname().to_owned(), options.tcp_port().to_string())
}

/// `jobctl list`, which names nothing but what is given.
async fn list(environment: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let tool = Tool::bare(&[&["list", "--output=json"], arguments].concat());
    environment.iter().fold(tool, |tool, (name, value)| tool.env(name, value)).run().await
}

fn fine(ran: Ran) {
    assert_eq!((ran.code, &*ran.stdout), (0, "[]\n"), "{ran:#?}");
}

fn refused(code: i32, words: &[&str], ran: Ran) {
    assert_eq!((ran.code, &*ran.stdout), (code, ""), "{ran:#?}");
    assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains("\nhint: "), "{ran:#?}");
    for word in words {
        assert!(ran.stderr.contains(word), "`{word}` in: {ran:#?}");
    }
}

#[test]
fn a_server_is_named_by_url_environment_or_flags() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let (host, port) = place(&db);
        let url = db.url(&bob);
        fine(list(&[], &["--url", &url]).await);
        fine(list(&[("JOBCTL_URL", &url)], &[]).await);
        // Flags over the URL, the URL over the environment.
        fine(list(&[("JOBCTL_URL", "mysql://nobody@127.0.0.1:1/none")], &["--url", &url]).await);
        let wrong = format!("mysql://{}:wrong@{host}:1/none", bob.user);
        let password = format!("-p{}", bob.password);
        fine(list(&[], &["--url", &wrong, "-P", &port, &password, "-D", db.schema()]).await);
        let user = ["-h", &host, "-P", &port, "-u", &bob.user, "-D", db.schema()];
        fine(list(&[], &[&user[..], &[&password]].concat()).await);
        fine(list(&[], &[&user[..], &[&format!("--password={}", bob.password)]].concat()).await);
        fine(list(&[("MYSQL_PWD", &bob.password)], &user).await);
        fine(list(&[("USER", &bob.user), ("MYSQL_PWD", &bob.password)], &["-h", &host, "-P", &port, "-D", db.schema()]).await);
        let long = [
            format!("--host={host}"),
            format!("--port={port}"),
            format!("--user={}", bob.user),
            format!("--database={}", db.schema()),
        ];
        fine(list(&[("MYSQL_PWD", &bob.password)], &long.iter().map(String::as_str).collect::<Vec<_>>()).await);
        // An attached password wins over the environment.
        fine(list(&[("MYSQL_PWD", "wrong")], &[&user[..], &[&password]].concat()).await);
    });
}

#[test]
fn a_bare_p_asks_and_never_eats_the_next_word() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let (host, port) = place(&db);
        let user = ["-h", &host, "-P", &port, "-u", &bob.user, "-D", db.schema()];
        // Without a terminal there is nobody to ask; `list` is still the verb.
        for bare in [&["-p", "list"][..], &["--password", "list"], &["list", "-p"]] {
            let ran = Tool::bare(&[&user[..], bare].concat()).run().await;
            refused(2, &["password", "MYSQL_PWD"], ran);
        }
        let line = [&user[..], &["-p", "list", "--output=json"]].concat();
        let ran = Tool::bare_on_terminal(&line).answering("Enter password: ", &format!("{}\n", bob.password)).await;
        assert!(ran.code == 0 && ran.stdout.contains("[]") && !ran.stdout.contains(&bob.password), "{ran:#?}");
        let ran = Tool::bare_on_terminal(&line).answering("Enter password: ", "wrong\n").await;
        assert_eq!(ran.code, 5, "{ran:#?}");
    });
}

#[test]
fn a_socket_is_used_when_it_is_named() {
    each(|db| async move {
        let mut admin = db.admin().await;
        let path = admin.one("SELECT CONCAT(@@datadir, '/', @@socket)").await;
        let path = if std::path::Path::new(&path).exists() { path } else { admin.one("SELECT @@socket").await };
        if !std::path::Path::new(&path).exists() {
            return; // A server of somebody's own, elsewhere.
        }
        let link = std::env::temp_dir().join(format!("jobctl{}.sock", &db.schema()[db.schema().len() - 16..]));
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let socket = link.to_str().unwrap().to_owned();
        let ran = list(&[], &["-S", &socket, "-u", "root", "-D", db.schema()]).await;
        let nothing = list(&[], &["-S", &format!("{socket}x"), "-u", "root", "-D", db.schema()]).await;
        // A socket is of this machine: with another host named, it is not used.
        let other = list(&[], &["-S", &socket, "-h", "127.0.0.1", "-P", "1", "-u", "root", "-D", db.schema()]).await;
        std::fs::remove_file(link).unwrap();
        fine(ran);
        refused(5, &[&socket], nothing);
        refused(5, &["127.0.0.1:1"], other);
    });
}

#[test]
fn who_cannot_enter_is_told_why() {
    each(|db| async move {
        let (bob, eve) = (db.account("bob").await, db.stranger("eve").await);
        let (host, port) = place(&db);
        let wrong = Account { password: "wrong".into(), ..bob.clone() };
        let ran = list(&[], &["--url", &db.url(&wrong)]).await;
        assert!(!ran.stderr.contains("wrong@") && !ran.stderr.contains(":wrong"), "no password is shown: {ran:#?}");
        refused(5, &["Access denied", &bob.user, "1045"], ran);
        refused(5, &["cannot connect to `127.0.0.1:1`"], list(&[], &["--url", "mysql://bob@127.0.0.1:1/x"]).await);
        refused(5, &["no.such.host.invalid"], list(&[], &["--url", "mysql://bob@no.such.host.invalid/x"]).await);
        refused(2, &[], list(&[], &["--url", "http://bob@127.0.0.1/x"]).await);
        let mut admin = db.admin().await;
        admin.run(&format!("ALTER USER {eve} ACCOUNT LOCK")).await;
        refused(5, &["locked"], list(&[], &["--url", &db.url(&eve)]).await);
        admin.run(&format!("ALTER USER {eve} ACCOUNT UNLOCK")).await;
        // Inside, but there is nothing for this account.
        refused(4, &["jobctl install"], list(&[], &["--url", &db.url(&eve)]).await);
        let root = db.root();
        let no_schema = ["-h", &host, "-P", &port, "-u", &root.user, "-D", "no_such_schema"];
        for verb in [
            &["list"][..],
            &["status"],
            &["show", "x"],
            &["drop", "x"],
            &["start", "--all"],
            &["define", "x", "--call", "a.b", "--every", "1h"],
        ] {
            refused(3, &["no_such_schema", "jobctl install"], Tool::bare(&[&no_schema[..], verb].concat()).run().await);
            let empty = Tool::new(&db, &root, &[&["-D", db.bodies()][..], verb].concat()).run().await;
            refused(3, &["jobctl install"], empty);
        }
    });
}

#[test]
fn encryption_is_preferred_and_can_be_required_or_refused() {
    each(|db| async move {
        let bob = db.account("bob").await;
        let url = db.url(&bob);
        let mut admin = db.admin().await;
        let offered = if db.mariadb() {
            "SELECT @@have_ssl = 'YES'"
        } else {
            "SELECT COUNT(*) > 0 FROM performance_schema.tls_channel_status WHERE property = 'Enabled' AND value = 'Yes'"
        };
        let offered = admin.one(offered).await == "1";
        // Who must not come without encryption shows whether it was there.
        admin.run(&format!("ALTER USER {bob} REQUIRE SSL")).await;
        let preferred = list(&[], &["--url", &url]).await;
        let required = list(&[], &["--url", &url, "--ssl-mode", "REQUIRED"]).await;
        let disabled = list(&[], &["--url", &url, "--ssl-mode=disabled"]).await;
        if offered {
            fine(preferred);
            fine(required);
        } else {
            refused(5, &[], preferred);
            refused(5, &["the server offers no encryption", "--ssl-mode PREFERRED"], required);
        }
        refused(5, &[], disabled);
        admin.run(&format!("ALTER USER {bob} REQUIRE NONE")).await;
        fine(list(&[], &["--url", &url]).await);
        fine(list(&[], &["--url", &url, "--ssl-mode", "disabled"]).await);
        refused(2, &["--ssl-mode"], list(&[], &["--url", &url, "--ssl-mode", "perhaps"]).await);
    });
}
