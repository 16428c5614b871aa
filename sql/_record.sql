CREATE PROCEDURE job$_record(
    IN in_job_id BIGINT UNSIGNED,
    IN in_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_run_no BIGINT UNSIGNED,
    IN in_failed BOOLEAN,
    IN in_error_code INT UNSIGNED,
    IN in_error_sqlstate CHAR(5) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_error_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_warnings VARCHAR(4096) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_leaked VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_seconds DECIMAL(20,6),
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Records how a run ended, in one transaction that begins by locking the job row and comparing the run token, and looks whether the lock is still held, since a body can give it away; under a controller every other user-level lock of the session is freed and named. out_seconds: how long the run took; out_message: NULL when the runner may go on, else why it must end. Errors: those of the server. Example: CALL job$_record(v_job_id, v_run_token, v_run_no, FALSE, NULL, NULL, NULL, NULL, NULL, v_seconds, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
record: BEGIN
    DECLARE v_token, v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_status, v_outcome, v_stop VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_failures, v_max_failures INT UNSIGNED;
    DECLARE v_known, v_cycles BIGINT UNSIGNED;
    DECLARE v_controlled BOOLEAN;
    DECLARE v_locks INT DEFAULT 0;
    DECLARE v_now, v_started DATETIME(6);
    DECLARE v_tries INT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    CALL job$_lock_name('job', in_job_id, v_lock_name);
    again: LOOP
        BEGIN
            DECLARE EXIT HANDLER FOR 1213, 1205, 1020
            BEGIN
                ROLLBACK AND NO CHAIN NO RELEASE;
                SET v_tries = v_tries + 1;
                IF v_tries >= 10 THEN
                    RESIGNAL;
                END IF;
            END;

            SET out_seconds = NULL, out_message = NULL;
            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            SELECT COUNT(*), MAX(job_runner_token), MAX(job_status), MAX(job_failures), MAX(job_max_failures), MAX(job_runner_cycles),
                   MAX(job_runner_account), MAX(job_runner_last_cycle_start), MAX(job_runner_controller) IS NOT NULL
            INTO v_known, v_token, v_status, v_failures, v_max_failures, v_cycles, v_account, v_started, v_controlled
            FROM job WHERE job_id = in_job_id FOR UPDATE;
            IF v_known = 0 OR NOT COALESCE(v_token = SHA2(in_run_token, 256), FALSE) THEN
                SET out_message = IF(v_known = 0, 'The job is gone', 'Another runner took the job over');
                COMMIT AND NO CHAIN NO RELEASE;
                LEAVE record;
            END IF;

            SET v_now = UTC_TIMESTAMP(6);
            IF NOT IS_USED_LOCK(v_lock_name) <=> CONNECTION_ID() THEN
                CALL job$_event(in_job_id, 'LOCK_LOST', v_account, NULL, CAST(in_run_no AS CHAR),
                    'The lock of the job was gone after this run; a body must not call RELEASE_ALL_LOCKS()');
                IF NOT GET_LOCK(v_lock_name, 0) <=> 1 THEN
                    SET out_message = 'The lock of the job was lost during the run';
                END IF;
            ELSEIF v_controlled THEN
                -- Locks that the body kept would shut others out until the session ends. Whoever takes the job's lock in the
                -- microsecond between waits for its row, which is locked here, and so finds this run recorded.
                SET v_locks = v_locks + RELEASE_ALL_LOCKS() - 1;
                IF NOT GET_LOCK(v_lock_name, 0) <=> 1 THEN
                    SET out_message = 'Another runner took the job over';
                END IF;
            END IF;
            SET out_seconds = TIMESTAMPDIFF(MICROSECOND, v_started, v_now) * 0.000001;
            -- A run that was to be stopped and completed all the same, did complete.
            SELECT MAX(run_stop) INTO v_stop FROM job_run WHERE job_id = in_job_id AND run_no = in_run_no FOR UPDATE;
            SET v_outcome = IF(in_failed, COALESCE(v_stop, 'ERROR'), 'OK');
            SET v_failures = CASE v_outcome WHEN 'OK' THEN 0 WHEN 'KILLED' THEN v_failures ELSE v_failures + 1 END;
            UPDATE job_run
            SET outcome = v_outcome,
                finished_at = v_now,
                error_code = in_error_code,
                error_sqlstate = in_error_sqlstate,
                error_message = in_error_message,
                run_warnings = in_warnings,
                run_leaked = NULLIF(LEFT(CONCAT_WS(', ', in_leaked, IF(v_locks > 0, 'user-level locks', NULL)), 1024), '')
            WHERE job_id = in_job_id AND run_no = in_run_no AND outcome = 'RUNNING';
            UPDATE job
            SET job_run_open = NULL,
                job_failures = v_failures,
                job_runner_status = 'SLEEPING',
                job_runner_seen = v_now,
                job_runner_cycles = v_cycles + 1,
                job_runner_last_cycle_finish = v_now,
                job_changed = job_changed
            WHERE job_id = in_job_id;
            IF v_failures >= v_max_failures AND v_outcome <> 'KILLED' AND v_status IN ('ENABLED', 'RESUMED') THEN
                UPDATE job SET job_status = 'ERROR', job_changed = job_changed WHERE job_id = in_job_id;
                CALL job$_event(in_job_id, 'STATUS', v_account, v_status, 'ERROR', CONCAT(v_failures, ' failed occurrences in a row'));
                SET out_message = CONCAT('The job procedure failed ', v_failures, ' time', IF(v_failures > 1, 's', ''), ' in a row: ',
                    COALESCE(in_error_message, 'no diagnostics'));
            END IF;
            IF NOT IS_USED_LOCK(v_lock_name) <=> CONNECTION_ID() THEN
                CALL job$_event(in_job_id, 'LOCK_LOST', v_account, NULL, CAST(in_run_no AS CHAR),
                    'The lock of the job was gone after this run; a body must not call RELEASE_ALL_LOCKS()');
                IF NOT GET_LOCK(v_lock_name, 0) <=> 1 THEN
                    SET out_message = 'The lock of the job was lost during the run';
                END IF;
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE record;
        END;
    END LOOP again;
END
