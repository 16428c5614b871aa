//! The ends of what may be, for intervals, times, counts and the names of schemas: what is outside is refused, what is just
//! inside works.

use super::tool::{Tool, bad, call, good, jobctl};
use super::wrong_input::{everything, hello, refused};
use crate::each::{each, join};
use crate::session::{literal, name};

#[test]
fn intervals_and_times_that_cannot_be_are_refused_by_define_alter_and_their_twins() {
    each(|db| async move {
        let (bob, procedure) = hello(&db).await;
        good(&db, &bob, &["define", "x", "--call", &procedure, "--every", "1h", "--start", "2031-01-01"]).await;
        let before = everything(&db).await;
        let lines = [
            &["--every=0s"][..],
            &["--every=0"],
            &["--every=-5m"],
            &["--every=0.05s"],
            &["--every=50ms"],
            &["--every=36525.1d"],
            &["--every=101y"],
            &["--every=3155760001s"],
            &["--start=2026-02-30"],
            &["--start=2027-02-29 04:00"],
            &["--start=2031-04-31T00:00:00Z"],
            &["--start=2031-00-10"],
            &["--start=2031-01-01 24:01"],
            &["--start=0000-01-01"],
            &["--start=-0001-01-01"],
            &["--start=1969-12-31 23:59:59"],
            &["--start=9000-01-01"],
            &["--start=9999-12-31 23:59:59"],
            &["--start=10000-01-01"],
            &["--start="],
            &["--start=now"],
            &["--finish=2026-02-30"],
            &["--finish=0000-00-00"],
            &["--finish=9999-12-31"],
            &["--finish=2001-01-01"],
            &["--start=2031-01-02", "--finish=2031-01-01"],
            &["--start=2031-01-02T00:00:00+01:00", "--finish=2031-01-01T22:59:59Z"],
            &["--max-failures=0"],
            &["--max-failures=-1"],
            &["--max-failures=1000000000000"],
            &["--max-failures=often"],
            &["--tz=Mars/Olympus", "--start=2031-01-01"],
            &["--call=nothing"],
            &["--call=a.b.c"],
        ];
        for more in lines {
            let line = [&["alter", "x"][..], more].concat();
            refused(2, &line, &jobctl(&db, &bob, &line).await);
            let start = more.iter().any(|word| word.starts_with("--every") || word.starts_with("--call"));
            let rest: &[&str] = if start { &[] } else { &["--every", "1h"] };
            let call = more.iter().any(|word| word.starts_with("--call"));
            let (every, procedure) = (["--every", "1h"], ["--call", &procedure]);
            let rest = [rest, if call { &every } else { &procedure }].concat();
            let line = [&["define", "y"][..], &rest, more].concat();
            refused(2, &line, &jobctl(&db, &bob, &line).await);
        }
        let told = bad(&db, &bob, 2, &["alter", "x", "--start", "9999-12-31"]).await;
        assert!(told.contains("9999-12-31"), "{told}");
        // A finish before the start that is there already; a start after the finish.
        refused(2, &[], &jobctl(&db, &bob, &["alter", "x", "--finish", "2030-12-31"]).await);
        let mut session = db.login(&bob).await;
        for options in [
            r#""every": 0"#,
            r#""every": -1"#,
            r#""every": 0.05"#,
            r#""every": 3155760000.000001"#,
            r#""every": 1e300"#,
            r#""start": "2026-02-30 00:00:00""#,
            r#""start": "0000-00-00 00:00:00""#,
            r#""start": "0000-01-01 00:00:00""#,
            r#""start": "1969-12-31 23:59:59""#,
            r#""start": "9999-12-31 23:59:59""#,
            r#""start": "2031-01-01 24:00:00""#,
            r#""start": "2031-01-01 23:59:60""#,
            r#""start": """#,
            r#""start": 20310101"#,
            r#""start": true"#,
            r#""finish": "2026-02-30 00:00:00""#,
            r#""finish": "9999-12-31 23:59:59""#,
            r#""finish": "2001-01-01 00:00:00""#,
            r#""start": "2031-01-02 00:00:00", "finish": "2031-01-01 00:00:00""#,
            r#""max_failures": 0"#,
            r#""max_failures": -1"#,
        ] {
            let alter = format!("CALL job$alter('x', {})", literal(&format!("{{{options}}}")));
            let (code, message) = session.error(&alter).await;
            assert_eq!(code, 45002, "{alter}: {message}");
            let every = if options.contains("every") { "" } else { r#", "every": 60"# };
            let options = format!(r#"{{"schema": "{}", "procedure": "hello", {options}{every}}}"#, db.bodies());
            let define = format!("CALL job$define('y', {})", literal(&options));
            let (code, message) = session.error(&define).await;
            assert_eq!(code, 45002, "{define}: {message}");
        }
        assert_eq!(everything(&db).await, before);
        // The ends of what may be.
        for more in [["--every", "0.1s"], ["--every", "36525d"], ["--start", "1970-01-01"], ["--finish", "8999-12-31 23:59:59"]]
        {
            good(&db, &bob, &[&["alter", "x"][..], &more].concat()).await;
        }
    });
}

#[test]
fn schemas_of_64_characters_and_of_odd_names_work_from_install_to_uninstall() {
    each(|db| async move {
        db.body("hello", "DO 0").await;
        let (root, procedure) = (db.root(), call(&db, "hello"));
        let stamp = crate::db::stamp();
        let prefixes =
            ["l".repeat(64 - stamp.len()), "a_b%c".into(), "a`b``c".into(), "two  blanks".into(), "it's \"ü\"".into()];
        let schemas = prefixes.map(|prefix| format!("{prefix}{stamp}"));
        let work = schemas.iter().map(|schema| {
            let (db, root, procedure) = (db.clone(), root.clone(), procedure.clone());
            async move {
                let jobctl = async |code: i32, line: &[&str]| {
                    let ran = Tool::new(&db, &root, &[&["-D", schema][..], line].concat()).run().await;
                    assert_eq!(ran.code, code, "`{schema}`: jobctl {line:?}: {ran:#?}");
                    ran
                };
                jobctl(0, &["install"]).await;
                let again = jobctl(0, &["install", "--owner", "bob@%"]).await;
                assert!(again.stdout.contains("nothing to do"), "{again:#?}");
                let define = ["define", "x", "--call", &procedure, "--every", "0.1s", "--max-failures", "3"];
                jobctl(0, &define).await;
                let start = Tool::new(&db, &root, &["-D", schema, "start", "x"]).start();
                start.says("run ok", 2).await;
                jobctl(0, &["pause", "x"]).await;
                jobctl(0, &["resume", "x"]).await;
                assert!(jobctl(0, &["status"]).await.stdout.contains('x'));
                jobctl(0, &["show", "x"]).await;
                jobctl(4, &["uninstall", "--yes"]).await;
                jobctl(0, &["abort", "x"]).await;
                assert_eq!(start.ends().await.0, 1, "aborted is not finished");
                jobctl(0, &["uninstall", "--yes"]).await;
            }
        });
        join(work.collect()).await;
        let mut admin = db.admin().await;
        let like = format!("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name LIKE '%{stamp}'");
        let left = admin.one(&like).await;
        for schema in &schemas {
            admin.run(&format!("DROP DATABASE IF EXISTS {}", name(schema))).await;
        }
        assert_eq!(left, "0", "each schema goes with what it was made for");
    });
}
