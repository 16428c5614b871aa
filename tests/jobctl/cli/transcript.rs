//! What the main commands print, word for word. Review changes with `cargo insta review`.

use super::tool::{Tool, call};
use crate::db::{Account, Db, Ran};
use crate::each::each;

pub fn show(arguments: &[&str], ran: &Ran) -> String {
    let part = |prefix: &str, text: &str| {
        text.lines().map(|line| format!("{prefix}{line}").trim_end().to_owned() + "\n").collect::<String>()
    };
    let quoted = |word: &&str| if word.contains([' ', '\'']) { format!("\"{word}\"") } else { (*word).to_owned() };
    let words = arguments.iter().map(quoted).collect::<Vec<_>>().join(" ");
    format!("$ jobctl {words}\n{}{}-> {}\n\n", part("", &ran.stdout), part("! ", &ran.stderr), ran.code)
}

fn regex_of(text: &str) -> String {
    text.replace('\\', r"\\")
}

/// What differs from run to run and from server to server, and must not matter.
pub fn settings(db: Option<&Db>) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    if let Some(db) = db {
        let options = mysql_async::Opts::from(db.server().options());
        settings.add_filter(&format!("127.0.0.1:{}", options.tcp_port()), "[SERVER]");
        settings.add_filter(&regex_of(&db.schema().replace('_', "\\_")), "[SCHEMA]");
        settings.add_filter(db.schema(), "[SCHEMA]");
        settings.add_filter(db.bodies(), "shop");
        settings.add_filter(&format!("_t{}", &db.schema()[db.schema().len() - 14..]), "");
    }
    for (pattern, replacement) in [
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+]00:00", "[TIME]"),
        (r"connection \d+", "connection [N]"),
        (r"`[^`]*root`@`[^`]*`", "[ROOT]"),
        (r"\[TIME\], (in )?[\da-z]+( ago)?", "[TIME], [AGO]"),
        (r"id \d+", "id [N]"),
        (r"id +\d+\n", "id               [N]\n"),
        // MySQL says it itself, for MariaDB we do.
        (r"(PROCEDURE|there is no procedure) shop.nothing [^\n]*", "[NO SUCH PROCEDURE]"),
        (r"execute command denied to user 'bob'@'%' for routine 'shop.nothing'", "[NO SUCH PROCEDURE]"),
        (r"(Incorrect number of arguments|the procedure needs 1 argument)[^\n]*shop.wants[^\n]*", "[IT NEEDS AN ARGUMENT]"),
        (r"Table '.*' doesn't exist \(server error 1146\)", "[THE SERVER'S WORDS]"),
        (r"Unknown database '.*' \(server error 1049\)", "[THE SERVER'S WORDS]"),
        (r"failed in [\d.]+m?s", "failed in [SPAN]"),
        (r"occurrences skipped, [^\n]*", "occurrences skipped, [WHICH]"),
        (
            r"(execute command denied to user [^\n]* for routine 'shop.ro[^\n]*|there is no procedure shop.roll_up[^\n]*)",
            "[NO RIGHT TO IT]",
        ),
        (r"dropped \d+ objects", "dropped [N] objects"),
        // One of the routines stands for all.
        (r" +GRANT EXECUTE ON PROCEDURE [^\n]*`job\$(_\w+|[a-qs-z]\w*|r[a-tv-z]\w*|run_\w+)` TO [^\n]*\n", ""),
        (r"CONNECTION ADMIN", "CONNECTION_ADMIN"),
        (r"! hint: GRANT SELECT ON performance_schema.*\n", ""),
        (r"'bob'@'[^']*'", "'bob'@'%'"),
    ] {
        settings.add_filter(pattern, replacement);
    }
    settings.set_omit_expression(true);
    settings.set_prepend_module_to_snapshot(false);
    settings
}

#[test]
fn the_help_of_every_verb() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut text = String::new();
    for line in [
        "--help",
        "install --help",
        "uninstall --help",
        "define --help",
        "alter --help",
        "list --help",
        "show --help",
        "drop --help",
        "start --help",
        "pause --help",
        "resume --help",
        "abort --help",
        "enable --help",
        "disable --help",
        "status --help",
        "doctor --help",
        "cancel --help",
        "demo --help",
        "help --help",
        "help states",
        "help schedules",
        "help exit-codes",
        "help messages",
        "help weather",
        "",
        "stats",
        "start",
        "start --al",
        "pause",
        "abort --all",
        "alter",
        "alter x",
        "define x --call a.b --every 1h --replace --if-not-exists",
    ] {
        let arguments = &*line.split_whitespace().collect::<Vec<_>>();
        let ran = runtime.block_on(Tool::bare(arguments).run());
        text += &show(arguments, &ran);
    }
    settings(None).bind(|| insta::assert_snapshot!("help", text));
}

#[test]
fn help_of_a_verb_is_the_same_either_way() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for verb in ["define", "start", "demo"] {
        let helps = [["help", verb], [verb, "--help"]].map(|words| runtime.block_on(Tool::bare(&words).run()).stdout);
        assert_eq!(helps[0], helps[1], "{verb}");
    }
}

#[test]
fn a_day_with_jobctl() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("roll_up", "DO 0").await;
        let mut text = String::new();
        // Wide, as the schemas of a test have long names.
        let mut say = async |account: &Account, arguments: &[&str]| {
            text += &show(arguments, &Tool::new(&db, account, arguments).env("COLUMNS", "250").run().await);
        };
        let (root, procedure) = (db.root(), call(&db, "roll_up"));
        say(&root, &["install", "--owner", "bob@%"]).await;
        say(&bob, &["status"]).await;
        say(
            &bob,
            &[
                "define",
                "nightly",
                "--call",
                &procedure,
                "--every",
                "1d",
                "--start",
                "2031-01-31 04:00",
                "--description",
                "Sums up",
            ],
        )
        .await;
        say(&bob, &["define", "nightly", "--call", &procedure, "--every", "1d"]).await;
        say(
            &bob,
            &[
                "define",
                "often",
                "--call",
                &procedure,
                "--every",
                "1h30m",
                "--start",
                "2031-01-31",
                "--finish",
                "2031-02-01",
                "--max-failures",
                "3",
            ],
        )
        .await;
        say(&bob, &["define", "x", "--call", "shop.nothing", "--every", "5m"]).await;
        say(&bob, &["define", "x", "--call", &procedure, "--every", "5"]).await;
        say(&bob, &["define", "x", "--call", &procedure, "--every", "5m", "--start", "2031-02-30"]).await;
        say(&bob, &["define", "x", "--call", &procedure, "--every", "5m", "--start", "9999-12-01"]).await;
        say(&bob, &["define", "x", "--call", &procedure, "--every", "5m", "--finish", "2001-01-01"]).await;
        say(&bob, &["list"]).await;
        say(&bob, &["show", "nightly"]).await;
        say(&bob, &["alter", "nightly", "--every", "2d", "--finish", "2031-03-01", "--max-failures", "5"]).await;
        say(&bob, &["alter", "nightly", "--finish", "none", "--description", "none"]).await;
        say(&bob, &["alter", "often", "--rename", "nightly"]).await;
        say(&bob, &["alter", "often", "--rename", "hourly"]).await;
        say(&bob, &["alter", "hourly", "--rename", "often"]).await;
        say(&bob, &["pause", "nightly", "often", "--reason", "lunch"]).await;
        say(&bob, &["pause", "nightly"]).await;
        say(&bob, &["status"]).await;
        say(&bob, &["alter", "nightly", "--every", "1d"]).await;
        say(&bob, &["enable", "nightly"]).await;
        say(&bob, &["resume", "nightly"]).await;
        say(&bob, &["abort", "nightly", "often"]).await;
        say(&bob, &["resume", "nightly"]).await;
        say(&bob, &["alter", "nightly", "--every", "1d"]).await;
        say(&bob, &["start", "nightly"]).await;
        say(&bob, &["enable", "nightly"]).await;
        say(&bob, &["pause", "nightly", "often"]).await;
        say(&bob, &["disable", "nightly"]).await;
        say(&bob, &["disable", "nightly"]).await;
        say(&bob, &["abort", "nightly"]).await;
        say(&bob, &["enable", "nightly", "often"]).await;
        say(&bob, &["pause", "--all"]).await;
        say(&bob, &["pause", "--all"]).await;
        say(&bob, &["status"]).await;
        say(&bob, &["resume", "nightly"]).await;
        say(&bob, &["resume", "--all"]).await;
        say(&bob, &["resume", "--all"]).await;
        say(&bob, &["pause", "nightly", "yearly"]).await;
        say(&bob, &["show", "yearly"]).await;
        say(&bob, &["start", "yearly"]).await;
        say(&bob, &["drop", "often", "--purge-history"]).await;
        say(&bob, &["drop", "nightly"]).await;
        say(&root, &["uninstall"]).await;
        say(&root, &["uninstall", "--yes"]).await;
        say(&root, &["status"]).await;
        settings(Some(&db)).bind(|| insta::assert_snapshot!("day", text));
    });
}
