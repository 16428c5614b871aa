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
    OUT out_next DATETIME(6),
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Records how a run ended, in one transaction that begins by locking the job row and comparing the run token, and looks whether the lock is still held, since a body can give it away; under a controller every other user-level lock of the session is freed and named. Few statements, as in job$_step. out_seconds: how long the run took; out_next: the next instant, up to which a runner that has a bell may wait without asking, as whatever is asked rings; NULL: ask job$_step; out_message: NULL when the runner may go on, else why it must end. Errors: those of the server. Example: CALL job$_record(v_job_id, v_run_token, v_run_no, FALSE, NULL, NULL, NULL, NULL, NULL, v_seconds, v_next, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
record: BEGIN
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_outcome VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_known, v_ours, v_controlled, v_held BOOLEAN;
    DECLARE v_now, v_started DATETIME(6);
    DECLARE v_locks, v_tries INT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

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

            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            SELECT COUNT(*), COALESCE(MAX(job_runner_token) = SHA2(in_run_token, 256), FALSE),
                   MAX(job_runner_controller) IS NOT NULL, MAX(job_runner_last_cycle_start),
                   MAX(IF(job_status = 'ENABLED' AND job_runner_life IS NOT NULL AND job_stop_epoch < job_runner_epoch AND NOT in_failed
                              AND job_next <= COALESCE(job_schedule_finish, job_next), job_next, NULL)),
                   NULL
            INTO v_known, v_ours, v_controlled, v_started, out_next, out_message
            FROM job WHERE job_id = in_job_id FOR UPDATE;
            IF NOT v_ours THEN
                COMMIT AND NO CHAIN NO RELEASE;
                SET out_message = IF(v_known, 'Another runner took the job over', 'The job is gone');
                LEAVE record;
            END IF;

            SELECT UTC_TIMESTAMP(6), TIMESTAMPDIFF(MICROSECOND, v_started, UTC_TIMESTAMP(6)) * 0.000001,
                   SHA2(CONCAT(setting_value, ':', {{schema}}, ':job:', in_job_id), 256),
                   IS_USED_LOCK(SHA2(CONCAT(setting_value, ':', {{schema}}, ':job:', in_job_id), 256)) <=> CONNECTION_ID()
            INTO v_now, out_seconds, v_lock_name, v_held
            FROM job_setting
            WHERE setting_name = 'secret';
            IF v_held AND v_controlled THEN
                -- Locks that the body kept would shut others out until the session ends. Whoever takes the job's lock in the
                -- microsecond between waits for its row, which is locked here, and so finds this run recorded.
                SET v_locks = v_locks + RELEASE_ALL_LOCKS() - 1;
            END IF;
            IF (v_controlled OR NOT v_held) AND NOT GET_LOCK(v_lock_name, 0) <=> 1 THEN
                SET out_message = IF(v_held, 'Another runner took the job over', 'The lock of the job was lost during the run');
            END IF;
            IF NOT v_held OR out_message IS NOT NULL THEN
                CALL job$_event(in_job_id, 'LOCK_LOST', (SELECT job_runner_account FROM job WHERE job_id = in_job_id), NULL, CAST(in_run_no AS CHAR),
                    'The lock of the job was gone after this run; a body must not call RELEASE_ALL_LOCKS()');
            END IF;
            -- A run that was to be stopped and completed all the same, did complete.
            SELECT IF(in_failed, COALESCE(MAX(run_stop), 'ERROR'), 'OK') INTO v_outcome
            FROM job_run WHERE job_id = in_job_id AND run_no = in_run_no FOR UPDATE;
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
                job_failures = CASE v_outcome WHEN 'OK' THEN 0 WHEN 'KILLED' THEN job_failures ELSE job_failures + 1 END,
                job_runner_status = 'SLEEPING',
                job_runner_seen = v_now,
                job_runner_cycles = job_runner_cycles + 1,
                job_runner_last_cycle_finish = v_now,
                job_changed = job_changed
            WHERE job_id = in_job_id;
            IF in_failed THEN
                CALL job$_failed(in_job_id, v_outcome, in_error_message, out_message);
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE record;
        END;
    END LOOP again;
END
