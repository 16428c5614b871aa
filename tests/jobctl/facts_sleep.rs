//! What the servers do when a sleeping session is killed, or its client dies.
//!
//! Not here: that a primary of a group that is demoted fails its writes with 1290; a read-only server does so in `facts_locks`.

use std::time::Duration;

use crate::db::{Account, Db};
use crate::each::{each, wait_until};
use crate::runner::Runner;

const SOON: Duration = Duration::from_secs(10);

/// Starts a call of `body`, waits until it sleeps, and kills its query.
async fn killed_in_sleep(db: &Db, bob: &Account, body: &str) -> Vec<Vec<String>> {
    db.table("answer", "(what VARCHAR(64))").await;
    db.body("doze", body).await;
    let sleeping = Runner::call(db.login(bob).await, format!("CALL `{}`.doze()", db.bodies()));
    let mut admin = db.admin().await;
    let state =
        format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {} AND state = 'User sleep'", sleeping.id);
    wait_until("it sleeps", SOON, async || admin.number(&state).await == 1).await;
    admin.run(&format!("KILL QUERY {}", sleeping.id)).await;
    sleeping.outcome().await.expect("the procedure goes on");
    admin.rows(&format!("SELECT what FROM `{}`.answer", db.bodies())).await
}

#[test]
fn a_kill_of_do_sleep_is_swallowed() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        let body = "BEGIN
            DECLARE CONTINUE HANDLER FOR SQLEXCEPTION INSERT INTO answer VALUES ('an error');
            DO SLEEP(600);
            INSERT INTO answer VALUES ('goes on');
        END";
        assert_eq!(killed_in_sleep(&db, &bob, body).await, [["goes on"]]);
    });
}

#[test]
fn a_kill_of_select_sleep_into_can_be_seen() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        let body = "BEGIN
            DECLARE v_woken INT DEFAULT NULL;
            DECLARE CONTINUE HANDLER FOR 1317 INSERT INTO answer VALUES ('1317');
            SELECT SLEEP(600) INTO v_woken;
            INSERT INTO answer VALUES (COALESCE(v_woken, 'NULL'));
        END";
        let seen = killed_in_sleep(&db, &bob, body).await;
        if db.mariadb() {
            assert_eq!(seen, [["1317"], ["NULL"]]);
        } else {
            assert_eq!(seen, [["1"]]);
        }
    });
}

#[test]
fn a_sleep_that_nobody_disturbs_answers_0_and_is_neither_short_nor_long() {
    each(|db| async move {
        let mut session = db.admin().await;
        let mut shortest = i64::MAX;
        for _ in 0..5 {
            let row = session.row("SELECT SLEEP(0.3), TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))").await;
            assert_eq!(row[0], "0");
            shortest = shortest.min(row[1].parse().expect("a number"));
        }
        // Nobody can say how late a busy machine is at worst.
        assert!((299_000..320_000).contains(&shortest), "{shortest}");
    });
}

#[test]
fn who_sleeps_or_waits_for_a_lock_counts_as_running() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        let (mut admin, mut holder) = (db.admin().await, db.admin().await);
        holder.run(&format!("DO GET_LOCK('{}', 0)", db.schema())).await;
        let mut waiting = Vec::new();
        for _ in 0..3 {
            for wait in ["SLEEP(600)".to_owned(), format!("GET_LOCK('{}', 600)", db.schema())] {
                waiting.push(Runner::call(db.login(&bob).await, format!("DO {wait}")));
            }
        }
        let state = format!(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE user = '{}' AND command <> 'Sleep' AND state IN ('User sleep', 'User lock')",
            bob.user
        );
        wait_until("all wait", SOON, async || admin.number(&state).await == 6).await;
        let running: i64 = admin.row("SHOW GLOBAL STATUS LIKE 'Threads_running'").await[1].parse().expect("a number");
        // They and the one who asks.
        assert!(running >= 7, "{running}");
        assert!(waiting.iter().all(|waiting| !waiting.ended()));
    });
}

#[test]
fn once_the_client_is_dead_a_sleep_of_6_seconds_ends_after_5_and_one_of_1_second_in_time() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.table("nap", "(asked INT, took DECIMAL(20,6))").await;
        let nap = |seconds| {
            format!(
                "SET v_begun = SYSDATE(6); SELECT SLEEP({seconds}) INTO v_woken; \
                 INSERT INTO nap VALUES ({seconds}, TIMESTAMPDIFF(MICROSECOND, v_begun, SYSDATE(6)) * 0.000001);"
            )
        };
        let body = format!("BEGIN DECLARE v_begun DATETIME(6); DECLARE v_woken INT; DO SLEEP(1); {} {} END", nap(6), nap(1));
        db.body("naps", &body).await;
        let mut client = db.doomed(&bob, &format!("CALL `{}`.naps()", db.bodies()));
        let mut admin = db.admin().await;
        let state =
            format!("SELECT COUNT(*) FROM information_schema.processlist WHERE user = '{}' AND state = 'User sleep'", bob.user);
        wait_until("it sleeps", SOON, async || admin.number(&state).await == 1).await;
        client.kill().await.unwrap();
        let naps = format!("SELECT asked, took FROM `{}`.nap ORDER BY asked", db.bodies());
        wait_until("two naps", SOON + SOON, async || admin.rows(&naps).await.len() == 2).await;
        let naps: Vec<f64> = admin.rows(&naps).await.iter().map(|row| row[1].parse().expect("a number")).collect();
        assert!((0.99..2.0).contains(&naps[0]) && (4.9..5.9).contains(&naps[1]), "{naps:?}");
    });
}

#[test]
fn a_statement_whose_client_dies_is_finished_and_committed() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.table("t", "(id INT PRIMARY KEY, n INT)").await;
        let (mut admin, mut holder) = (db.admin().await, db.admin().await);
        holder.run(&format!("INSERT INTO `{}`.t VALUES (1, 0)", db.bodies())).await;
        holder.run("START TRANSACTION").await;
        holder.run(&format!("UPDATE `{}`.t SET n = 1", db.bodies())).await;
        let update = format!("UPDATE `{}`.t SET n = n + 10", db.bodies());
        let mut client = db.doomed(&bob, &update);
        let works =
            format!("SELECT COUNT(*) FROM information_schema.processlist WHERE user = '{}' AND info = '{update}'", bob.user);
        wait_until("it waits for the row", SOON, async || admin.number(&works).await == 1).await;
        client.kill().await.unwrap();
        holder.run("COMMIT").await;
        let sessions = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE user = '{}'", bob.user);
        wait_until("its session has ended", SOON, async || admin.number(&sessions).await == 0).await;
        assert_eq!(admin.one(&format!("SELECT n FROM `{}`.t", db.bodies())).await, "11");
    });
}

#[test]
fn after_the_death_of_its_client_a_procedure_goes_on_and_long_sleeps_end_early() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.table("lap", "(n INT PRIMARY KEY)").await;
        let body = "BEGIN
            DECLARE v_n INT DEFAULT 0;
            DECLARE v_woken INT;
            WHILE v_n < 3 DO
                SET v_n = v_n + 1;
                SELECT SLEEP(600) INTO v_woken;
                INSERT INTO lap VALUES (v_n);
            END WHILE;
        END";
        db.body("laps", body).await;
        let mut client = db.doomed(&bob, &format!("CALL `{}`.laps()", db.bodies()));
        let mut admin = db.admin().await;
        let state =
            format!("SELECT COUNT(*) FROM information_schema.processlist WHERE user = '{}' AND state = 'User sleep'", bob.user);
        wait_until("it sleeps", SOON, async || admin.number(&state).await == 1).await;
        client.kill().await.unwrap();
        let laps = format!("SELECT COUNT(*) FROM `{}`.lap", db.bodies());
        // Each of the three would last 10 minutes.
        wait_until("three sleeps have ended", Duration::from_secs(60), async || admin.number(&laps).await == 3).await;
    });
}

#[test]
fn an_empty_result_set_betrays_a_dead_client() {
    each(|db| async move {
        let bob = db.stranger("bob").await;
        db.table("seen", "(code INT)").await;
        let body = "BEGIN
            DECLARE v_n INT DEFAULT 0;
            DECLARE CONTINUE HANDLER FOR 1160 BEGIN INSERT INTO seen VALUES (1160); SET v_n = 100; END;
            WHILE v_n < 60 DO
                SET v_n = v_n + 1;
                DO SLEEP(1);
                SELECT 1 LIMIT 0;
            END WHILE;
            INSERT INTO seen VALUES (v_n);
        END";
        db.body("listen", body).await;
        let mut client = db.doomed(&bob, &format!("CALL `{}`.listen()", db.bodies()));
        let mut admin = db.admin().await;
        let state =
            format!("SELECT COUNT(*) FROM information_schema.processlist WHERE user = '{}' AND state = 'User sleep'", bob.user);
        wait_until("it sleeps", SOON, async || admin.number(&state).await == 1).await;
        client.kill().await.unwrap();
        let seen = format!("SELECT MIN(code), MAX(code) FROM `{}`.seen HAVING COUNT(*) = 2", db.bodies());
        wait_until("it is noticed", Duration::from_secs(60), async || !admin.rows(&seen).await.is_empty()).await;
        assert_eq!(admin.row(&seen).await, ["100", "1160"]);
    });
}
