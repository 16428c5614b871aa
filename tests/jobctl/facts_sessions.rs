//! What a session that stays open for long keeps, and what limits it, as far as jobctl depends on it.

use std::time::Duration;

use crate::each::{each, wait_until};
use crate::runner::Runner;
use crate::session::name;

const SOON: Duration = Duration::from_secs(10);

#[test]
fn a_call_goes_on_with_the_rights_of_an_account_that_was_stripped_and_dropped() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.table("lap", "(n INT)").await;
        db.body("step", "INSERT INTO lap VALUES (1)").await;
        db.body("laps", "BEGIN WHILE TRUE DO CALL step(); DO SLEEP(0.05); END WHILE; END").await;
        let going = Runner::call(db.login(&bob).await, format!("CALL {}.laps()", name(db.bodies())));
        let mut admin = db.admin().await;
        let laps = format!("SELECT COUNT(*) FROM {}.lap", name(db.bodies()));
        wait_until("it goes", SOON, async || admin.number(&laps).await > 1).await;
        for strip in ["REVOKE ALL PRIVILEGES, GRANT OPTION FROM", "DROP USER"] {
            admin.run(&format!("{strip} {bob}")).await;
            let before = admin.number(&laps).await;
            wait_until("it goes on", SOON, async || admin.number(&laps).await > before + 2).await;
        }
        assert!(!going.ended());
        admin.run(&format!("KILL {}", going.id)).await;
    });
}

#[test]
fn a_procedure_that_runs_keeps_its_body_and_the_next_call_of_the_session_gets_the_new_one_on_mysql() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.table("said", "(id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(8))").await;
        let body = |what| {
            format!(
                "BEGIN DO GET_LOCK('{0}', 600); DO RELEASE_LOCK('{0}'); INSERT INTO said (what) VALUES ('{what}'); END",
                db.schema()
            )
        };
        db.body("speaks", &body("old")).await;
        db.body("twice", "BEGIN PREPARE s FROM 'CALL speaks()'; EXECUTE s; PREPARE s FROM 'CALL speaks()'; EXECUTE s; END")
            .await;
        let (mut admin, mut holder) = (db.admin().await, db.admin().await);
        holder.run(&format!("DO GET_LOCK('{}', 0)", db.schema())).await;
        let calling = Runner::call(db.login(&bob).await, format!("CALL {}.twice()", name(db.bodies())));
        let waits =
            format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {} AND state = 'User lock'", calling.id);
        wait_until("it waits", SOON, async || admin.number(&waits).await == 1).await;
        admin.run(&format!("DROP PROCEDURE {}.speaks", name(db.bodies()))).await;
        db.body("speaks", &body("new")).await;
        holder.run("DO RELEASE_ALL_LOCKS()").await;
        calling.outcome().await.expect("both calls");
        let said = format!("SELECT what FROM {}.said ORDER BY id", name(db.bodies()));
        let expected = if db.mariadb() { ["old", "old"] } else { ["old", "new"] };
        assert_eq!(admin.rows(&said).await.concat(), expected);
        db.login(&bob).await.run(&format!("CALL {}.speaks()", name(db.bodies()))).await;
        assert_eq!(admin.rows(&said).await.concat()[2], "new", "a new session");
    });
}

#[test]
fn a_time_limit_of_the_session_ends_a_call_on_mariadb_alone_and_never_in_its_sleep() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.body(
            "works",
            "BEGIN DECLARE i INT DEFAULT 0; WHILE i < 5 DO SET i = i + BENCHMARK(500000, SHA2('x', 512)) + 1; END WHILE; END",
        )
        .await;
        db.body("sleeps", "BEGIN DO SLEEP(1); SELECT 1 AS woke; END").await;
        let mut session = db.login(&bob).await;
        let limit = if db.mariadb() { "max_statement_time = 0.2" } else { "max_execution_time = 200" };
        session.run(&format!("SET SESSION {limit}")).await;
        let call = |body| format!("CALL {}.{body}()", name(db.bodies()));
        if db.mariadb() {
            assert_eq!(session.error(&call("works")).await.0, 1969);
        } else {
            session.run(&call("works")).await;
        }
        assert_eq!(session.one(&call("sleeps")).await, "1");
    });
}
