//! A demo that is kept: it stays until Ctrl-C, and its lines let in those who were told them, nobody else.

use mysql_async::{Conn, OptsBuilder};
use serde_json::Value;
use tokio::process::Command;

use super::{JOBCTL, Place, SUMMARY, ended_well, fast, listens, root, run, runs};
use crate::cli::tool::SOON;
use crate::each::{each_private, wait_until};

#[test]
fn kept_it_stays_after_q_until_ctrl_c() {
    fast(|server| async move {
        let place = Place::new();
        let mut demo = place.on_terminal(&["--server", &server, "--keep"]);
        demo.says("q quit").await;
        let port = place.begins().await;
        demo.types(b"q").await;
        demo.says("the shop stays open until Ctrl-C").await;
        let screen = demo.screen();
        assert!(screen.contains(&format!("mysql -h 127.0.0.1 -P {port} -u shop -p")), "{screen}");
        assert!(screen.contains("export JOBCTL_URL=mysql://shop:"), "{screen}");
        assert!(listens(port).is_some());
        demo.types(b"\x03").await;
        assert_eq!(demo.ends().await, 0, "{}", demo.screen());
        assert!(demo.screen().trim_end().ends_with(SUMMARY), "{}", demo.screen());
        place.is_clean(&[port]).await;
    });
}

#[test]
fn kept_it_prints_lines_that_connect_and_lets_nobody_in_without_a_password() {
    each_private(|server| async move {
        let place = Place::new();
        let demo = place.demo(&["--server", &root(&server), "--keep"]).start();
        runs(&demo).await;
        let log = demo.log();
        let line =
            |with: &str| log.iter().find_map(|line| Some(line.trim()).filter(|line| line.starts_with(with))).expect(with);
        let (mysql, export) = (line("mysql -h 127.0.0.1 "), line("export JOBCTL_URL="));

        // Each as it stands, typed into a shell.
        let client = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers");
        let select = "SELECT COUNT(*), CURRENT_USER() FROM stock";
        let typed = format!("mysql() {{ '{client}' client {} \"$@\"; }}; {mysql} -Ne '{select}'", server.name);
        let ran = run(Command::new("sh").args(["-c", &typed])).await;
        assert_eq!(ran.stdout.trim(), "5\tshop@127.0.0.1", "{ran:#?}");
        let typed = format!("{export}; exec '{JOBCTL}' status --output json");
        let status = async || {
            let ran = run(Command::new("sh").args(["-c", &typed])).await;
            assert_eq!(ran.code, 0, "{ran:#?}");
            serde_json::from_str::<Vec<Value>>(&ran.stdout).expect("rows")
        };
        let text = |row: &Value, column: &str| row[column].as_str().unwrap_or_default().to_owned();
        let rows = status().await;
        let jobs: Vec<_> = rows.iter().map(|row| (text(row, "job_name"), text(row, "job_procedure_name"))).collect();
        let defined = [
            ("carts", "expire_carts"),
            ("reminders", "send_reminders"),
            ("roll-up", "roll_up"),
            ("stock", "check_stock"),
            ("visits", "visit"),
        ];
        assert_eq!(jobs, defined.map(|(job, procedure)| (job.to_owned(), procedure.to_owned())));
        assert!(rows.iter().all(|row| text(row, "job_owner") == "shop"), "{rows:#?}");
        wait_until("stock has run", SOON, async || text(&status().await[3], "last_outcome") == "OK").await;

        // The password is for those who were told it.
        let url = mysql_async::Opts::from_url(export.trim_start_matches("export JOBCTL_URL=")).expect("a URL");
        let password = url.pass().expect("a password");
        let told: Vec<_> =
            place.processes().into_iter().filter(|line| line.iter().any(|word| word.contains(password))).collect();
        assert!(told.is_empty(), "on a command line: {told:#?}");
        for user in ["root", "shop", "mysql", "nobody", ""] {
            let options = OptsBuilder::default().ip_or_hostname("127.0.0.1").tcp_port(url.tcp_port()).user(Some(user));
            let refused = Conn::new(options.prefer_socket(false)).await.expect_err(user);
            // MySQL asks those whom it does not know for any kind of proof, also for one that our client cannot give.
            assert!(!matches!(refused, mysql_async::Error::Io(_)), "{user}: {refused}");
        }
        demo.signal("INT");
        let (code, log) = demo.ends().await;
        ended_well(code, &log.join("\n"));
        place.is_clean(&[url.tcp_port()]).await;
    });
}
