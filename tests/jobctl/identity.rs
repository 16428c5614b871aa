//! Nobody makes, changes or runs a job as somebody else: foreign code in one's session, and names that look alike.

use std::time::Duration;

use mysql_async::Error;

use crate::attack::{api, holdings, jobs, of, options, owned};
use crate::db::{Account, Db, stamp};
use crate::each::{each, each_private, wait_until};
use crate::servers::Private;
use crate::session::name;

/// Two owners: Alice attacks, Bob has the job `x`.
async fn town(db: &Db) -> (Account, Account) {
    let (alice, bob) = (db.account("alice").await, db.account("bob").await);
    db.body("hello", "DO 0").await;
    db.define(&bob, "x", "hello", "3600", "").await;
    (alice, bob)
}

/// A trigger or function cannot end transactions (1422), nor prepare (1336) or answer (1415), and a handler does not change that.
fn refused<T: std::fmt::Debug>(outcome: Result<T, Error>, handler: &str) {
    match outcome {
        Err(Error::Server(error)) => assert!([1422, 1336, 1415].contains(&error.code), "{error}"),
        Ok(_) if !handler.is_empty() => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_foreign_trigger_on_a_table_that_bob_writes_to_does_nothing_as_bob() {
    each(|db| async move {
        let (alice, bob) = town(&db).await;
        let before = holdings(&db, &bob).await;
        let mut session = db.login(&bob).await;
        for (i, call) in api(&db).iter().enumerate() {
            for handler in ["", "DECLARE CONTINUE HANDLER FOR SQLEXCEPTION, SQLWARNING SET @swallowed = 1;"] {
                let table = format!("t{i}_{}", handler.len());
                db.table(&table, "(id INT)").await;
                let trigger = format!("TRIGGER {table} BEFORE INSERT ON {table} FOR EACH ROW BEGIN {handler} {call}; END");
                owned(&db, &alice, &trigger).await;
                refused(session.attempt(&format!("INSERT INTO {}.{table} VALUES (1)", name(db.bodies()))).await, handler);
            }
        }
        assert_eq!(holdings(&db, &bob).await, before);
        assert_eq!(jobs(&db).await, [(bob.user, "x".into())]);
    });
}

#[test]
fn a_foreign_function_that_bob_uses_does_nothing_as_bob() {
    each(|db| async move {
        let (alice, bob) = town(&db).await;
        let before = holdings(&db, &bob).await;
        let mut session = db.login(&bob).await;
        for (i, call) in api(&db).iter().enumerate() {
            for handler in ["", "DECLARE CONTINUE HANDLER FOR SQLEXCEPTION, SQLWARNING SET @swallowed = 1;"] {
                let function = format!("f{i}_{}", handler.len());
                let body = format!("BEGIN {handler} {call}; RETURN 1; END");
                owned(&db, &alice, &format!("FUNCTION {function}() RETURNS INT DETERMINISTIC {body}")).await;
                refused(session.attempt(&format!("SELECT {}.{function}()", name(db.bodies()))).await, handler);
            }
        }
        assert_eq!(holdings(&db, &bob).await, before);
        assert_eq!(jobs(&db).await, [(bob.user, "x".into())]);
    });
}

#[test]
fn a_definer_procedure_that_bob_calls_acts_as_its_definer() {
    each(|db| async move {
        let (alice, bob) = town(&db).await;
        let before = holdings(&db, &bob).await;
        let mut session = db.login(&bob).await;
        for (i, call) in api(&db).iter().enumerate() {
            owned(&db, &alice, &format!("PROCEDURE p{i}() SQL SECURITY DEFINER {call}")).await;
            let _ = session.attempt(&format!("CALL {}.p{i}()", name(db.bodies()))).await;
        }
        assert_eq!(holdings(&db, &bob).await, before);
        // What she defined there is her own.
        assert_eq!(jobs(&db).await, [(alice.user, "evil".into()), (bob.user, "x".into())]);
    });
}

#[test]
fn own_and_foreign_calls_in_one_session_keep_their_owners() {
    each(|db| async move {
        let (alice, bob) = town(&db).await;
        let mut session = db.login(&bob).await;
        for i in 0..3 {
            let define = |job: &str| format!("CALL {}('{job}{i}', {})", of(&db, "job$define"), options(&db));
            owned(&db, &alice, &format!("PROCEDURE p{i}() SQL SECURITY DEFINER {}", define("hers"))).await;
            session.run(&define("mine")).await;
            session.run(&format!("CALL {}.p{i}()", name(db.bodies()))).await;
        }
        let jobs = jobs(&db).await;
        let of = |account: &Account| -> Vec<_> {
            jobs.iter().filter(|(owner, _)| *owner == account.user).map(|(_, job)| job.as_str()).collect()
        };
        assert_eq!(of(&alice), ["hers0", "hers1", "hers2"]);
        assert_eq!(of(&bob), ["mine0", "mine1", "mine2", "x"]);
    });
}

#[test]
fn an_event_acts_as_its_definer() {
    each(|db| async move {
        let (alice, bob) = town(&db).await;
        let before = holdings(&db, &bob).await;
        db.table("done", "(id INT PRIMARY KEY)").await;
        let calls: String = api(&db)
            .iter()
            .map(|call| format!("BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; {call}; END;"))
            .collect();
        // Her own `x` is defined in it first, and the last call runs that one: without a finish it would go on for ever.
        let calls = calls.replace("\"every\": 7200", "\"every\": 7200, \"finish\": \"2100-01-01 00:00:00\"");
        let stop = format!("CALL {}('x', '{{\"purge_history\": true}}');", of(&db, "job$drop"));
        let runs =
            calls.find(&format!("BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; CALL {}", of(&db, "job$run")));
        let (head, tail) = calls.split_at(runs.expect("a call of job$run"));
        let drop = format!("BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; {stop} END;");
        let insert = format!("INSERT INTO {}.done VALUES (1);", name(db.bodies()));
        let event = format!("EVENT e ON SCHEDULE AT CURRENT_TIMESTAMP DO BEGIN {head} {drop} {tail} {insert} END");
        owned(&db, &alice, &event).await;
        let mut admin = db.admin().await;
        let done = format!("SELECT COUNT(*) FROM {}.done", name(db.bodies()));
        wait_until("the event has ended", Duration::from_secs(60), async || admin.number(&done).await == 1).await;
        assert_eq!(holdings(&db, &bob).await, before);
        assert_eq!(jobs(&db).await, [(alice.user, "evil".into()), (bob.user, "x".into())]);
    });
}

#[test]
fn an_anonymous_login_as_bob_is_nobody() {
    // On an instance of its own: an anonymous account catches the logins of other tests.
    each_private(|server| async move {
        let private = Private::start(&server.name, &[]);
        for host in ["%", "localhost", "127.0.0.1"] {
            let db = Db::installed(&private.server, "anonymous").await;
            let bob = db.account("bob").await;
            db.body("hello", "DO 0").await;
            db.define(&bob, "x", "hello", "3600", "").await;
            let before = holdings(&db, &bob).await;
            db.admin().await.run(&format!("DROP USER {bob}")).await;
            let anonymous = db.stranger_at("", host).await;
            db.own(&anonymous).await;
            let login = Account { user: bob.user.clone(), ..anonymous };
            let mut session = db.login(&login).await;
            assert!(session.one("SELECT USER()").await.starts_with(&bob.user));
            assert!(session.one("SELECT CURRENT_USER()").await.starts_with('@'));
            for call in api(&db) {
                match session.attempt(&call).await {
                    Err(Error::Server(error)) => assert_eq!(error.code, 45004, "{call}: {error}"),
                    // The runner answers with a row.
                    Ok(sets) if call.contains("job$run") => {
                        let row = &sets.last().expect("a set")[0];
                        assert!(row[1].contains("anonymous"), "{call}: {row:?}");
                    }
                    other => panic!("{call}: {other:?}"),
                }
            }
            assert_eq!(holdings(&db, &bob).await, before, "{host}");
            db.remove().await;
        }
        drop(private);
    });
}

#[test]
fn owners_whose_names_collate_alike_are_different_people() {
    each(|db| async move {
        let stamp = stamp();
        let mut owners = Vec::new();
        db.body("hello", "DO 0").await;
        for user in ["ana", "Ana", "ANA", "anà", "aná", "äna", "a\u{301}na"] {
            let owner = db.stranger_at(&format!("{user}{stamp}"), "%").await;
            db.own(&owner).await;
            let mut session = db.login(&owner).await;
            assert!(session.rows("CALL job$overview(NULL)").await.is_empty(), "{owner} sees a job of somebody before");
            assert_eq!(session.error("CALL job$overview('x')").await.0, 45003, "{owner}");
            assert_eq!(session.error("CALL job$drop('x', NULL)").await.0, 45003, "{owner}");
            assert_eq!(session.define(&db, "x", "hello", "3600", "").await[1], "CREATED", "{owner}");
            owners.push(owner);
        }
        for owner in &owners {
            let rows = db.login(owner).await.rows("CALL job$overview(NULL)").await;
            assert_eq!(rows.len(), 1);
            assert_eq!(rows[0][1], owner.user);
        }
        // Each holds its own lock.
        let mut holders = Vec::new();
        for owner in &owners {
            let mut session = db.login(owner).await;
            session.run("CALL job$get_lock('x', @status, @by)").await;
            assert_eq!(session.one("SELECT @status").await, "1", "{owner}");
            holders.push(session);
        }
    });
}

#[test]
fn a_blank_behind_a_user_name_makes_no_second_owner() {
    each(|db| async move {
        let stamp = stamp();
        let ana = db.stranger_at(&format!("ana{stamp}"), "%").await;
        db.own(&ana).await;
        db.body("hello", "DO 0").await;
        db.define(&ana, "x", "hello", "3600", "").await;
        // `ana` and `ana ` are equal where blanks are padded, as in the column of owners. The servers cut the blank, or refuse it.
        let blank = format!("{}@`%`", name(&format!("ana{stamp} ")));
        let mut admin = db.admin().await;
        let created = admin.attempt(&format!("CREATE USER {blank} IDENTIFIED BY 'other'")).await;
        assert!(created.is_err(), "an account `ana ` beside `ana`: {created:?}");
        let _ = admin.attempt(&format!("DROP USER {blank}")).await;
    });
}

#[test]
fn an_at_sign_in_a_user_name_belongs_to_the_name() {
    each(|db| async move {
        let stamp = stamp();
        db.body("hello", "DO 0").await;
        let plain = db.stranger_at(&format!("bob{stamp}"), "%").await;
        let odd = db.stranger_at(&format!("bob{stamp}@x"), "%").await;
        let odder = db.stranger_at(&format!("@bob{stamp}"), "%").await;
        let oddest = db.stranger_at(&format!("bob{stamp}@%"), "%").await;
        let owners = [plain, odd, odder, oddest];
        for owner in &owners {
            db.own(owner).await;
            let mut session = db.login(owner).await;
            assert_eq!(session.define(&db, "x", "hello", "3600", "").await[1], "CREATED", "{owner}");
            let rows = session.rows("CALL job$overview(NULL)").await;
            assert_eq!(rows.len(), 1);
            assert_eq!(rows[0][1], owner.user);
        }
        assert_eq!(jobs(&db).await.len(), owners.len());
    });
}

#[test]
fn job_names_that_collate_alike_are_different_jobs() {
    each(|db| async move {
        let bob = db.account("bob").await;
        db.body("hello", "DO 0").await;
        let mut session = db.login(&bob).await;
        for job in ["nightly", "Nightly", "NIGHTLY", "nightlÿ", "nïghtly"] {
            assert_eq!(session.define(&db, job, "hello", "3600", "").await[1], "CREATED", "{job}");
        }
        session.run("CALL job$drop('NIGHTLY', NULL)").await;
        assert_eq!(session.rows("CALL job$overview(NULL)").await.len(), 4);
    });
}

#[test]
fn a_role_of_bobs_name_is_not_bob() {
    each(|db| async move {
        let (alice, bob) = town(&db).await;
        let before = holdings(&db, &bob).await;
        let mut admin = db.admin().await;
        // On MySQL a role is an account, and the same name and host would be Bob's own.
        if !db.mariadb() {
            return;
        }
        let role = name(&bob.user);
        admin.run(&format!("CREATE ROLE {role}")).await;
        admin.run(&format!("GRANT {role} TO {alice}")).await;
        for grant in db.grants() {
            let (what, _) = grant.rsplit_once(" TO ").expect("a GRANT has a TO");
            admin.run(&format!("{what} TO {role}")).await;
        }
        admin.run(&format!("GRANT ALL ON {}.* TO {role}", name(db.bodies()))).await;
        let mut session = db.login(&alice).await;
        session.run(&format!("SET ROLE {role}")).await;
        session.run(&format!("USE {}", name(db.bodies()))).await;
        for (i, call) in api(&db).iter().enumerate() {
            session.run(&format!("CREATE DEFINER = {role} PROCEDURE r{i}() SQL SECURITY DEFINER {call}")).await;
            let _ = session.attempt(&format!("CALL r{i}()")).await;
        }
        let after = holdings(&db, &bob).await;
        let jobs = jobs(&db).await;
        admin.run(&format!("DROP ROLE {role}")).await;
        assert_eq!(after, before);
        assert_eq!(jobs, [(bob.user, "x".into())]);
    });
}
