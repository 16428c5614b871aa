CREATE PROCEDURE job$_stop_run(
    IN in_job_id BIGINT UNSIGNED,
    INOUT io_run_no BIGINT UNSIGNED,
    IN in_stop VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_by VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_reason VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_insist BOOLEAN,
    OUT out_connection_id BIGINT UNSIGNED,
    OUT out_outcome VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The one way in which runs are stopped. io_run_no: the run, NULL for the present one. First it is marked (in_stop: KILLED or TIMEOUT, who and why), which is committed before anything is killed; then its statement is killed, or, when in_insist, its session. A run whose lock is free is over, rollback and all: its row is closed. out_outcome: RUNNING as long as it is not, NULL when there is none to be stopped. Errors: 45004 when this server does not let the definer kill. Example: CALL job$_stop_run(v_job_id, v_run_no, ''KILLED'', v_account, NULL, FALSE, v_connection, v_outcome)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
stop_run: BEGIN
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_open BIGINT UNSIGNED;
    DECLARE v_started DATETIME(6);
    DECLARE v_timeout DECIMAL(16,6);
    DECLARE v_stop VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_busy VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_tries INT DEFAULT 0;
    DECLARE v_new, v_locked BOOLEAN DEFAULT FALSE;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        IF v_locked THEN
            DO RELEASE_LOCK(v_lock_name);
        END IF;
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

            SET out_outcome = NULL, out_connection_id = NULL;
            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            SELECT job_run_open, job_timeout INTO v_open, v_timeout FROM job WHERE job_id = in_job_id FOR UPDATE;
            SET io_run_no = COALESCE(io_run_no, v_open);
            SELECT MAX(outcome), MAX(run_connection_id), MAX(started_at), MAX(run_stop)
            INTO out_outcome, out_connection_id, v_started, v_stop
            FROM job_run WHERE job_id = in_job_id AND run_no = io_run_no FOR UPDATE;
            SET v_new = out_outcome = 'RUNNING' AND v_stop IS NULL;
            IF v_new AND in_stop = 'TIMEOUT' AND NOT COALESCE(UTC_TIMESTAMP(6) >= v_started + INTERVAL v_timeout SECOND, FALSE) THEN
                SET out_outcome = NULL, v_new = FALSE;
            END IF;
            IF v_new THEN
                UPDATE job_run
                SET run_stop = in_stop, run_stop_at = UTC_TIMESTAMP(6), run_stop_by = in_by, run_stop_reason = in_reason
                WHERE job_id = in_job_id AND run_no = io_run_no;
                CALL job$_event(in_job_id, 'KILL', in_by, NULL, CAST(io_run_no AS CHAR), COALESCE(in_reason, in_stop));
            END IF;
            SET v_busy = NULL;
            IF out_outcome = 'RUNNING' AND GET_LOCK(v_lock_name, 0) = 1 THEN
                SET v_locked = TRUE;
                -- A body can give the lock away and go on.
                CALL job$_in_progress(in_job_id, v_busy);
                IF v_busy IS NOT NULL THEN
                    DO RELEASE_LOCK(v_lock_name);
                    SET v_locked = FALSE;
                END IF;
            END IF;
            IF v_locked THEN
                -- Its session is gone, and the lock with it, which outlives the rollback: so nothing of it goes on.
                CALL job$_lost(in_job_id, io_run_no, in_by);
                UPDATE job
                SET job_runner_status = NULL, job_runner_reason = NULL, job_runner_token = NULL,
                    job_runner_message = 'Its run was stopped', job_runner_finish = UTC_TIMESTAMP(6), job_changed = job_changed
                WHERE job_id = in_job_id;
                SELECT outcome INTO out_outcome FROM job_run WHERE job_id = in_job_id AND run_no = io_run_no;
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;
    IF v_locked THEN
        DO RELEASE_LOCK(v_lock_name);
        SET v_locked = FALSE;
        LEAVE stop_run;
    END IF;
    IF out_outcome = 'RUNNING' AND (v_new OR in_insist) AND (v_busy IS NOT NULL OR IS_USED_LOCK(v_lock_name) = out_connection_id) THEN
        BEGIN
            -- 1094: it is gone by now.
            DECLARE CONTINUE HANDLER FOR 1094 BEGIN END;
            DECLARE EXIT HANDLER FOR 1095, 1227
            BEGIN
                -- A run that nobody stopped ends as it ends.
                START TRANSACTION READ WRITE;
                UPDATE job_run
                SET run_stop = NULL, run_stop_at = NULL, run_stop_by = NULL, run_stop_reason = NULL
                WHERE v_new AND job_id = in_job_id AND run_no = io_run_no AND outcome = 'RUNNING';
                COMMIT AND NO CHAIN NO RELEASE;
                CALL job$_fail(45004, 'job$cancel: the definer may not kill that session; install tells what it needs');
            END;
            IF in_insist THEN
                KILL CONNECTION out_connection_id;
            ELSE
                KILL QUERY out_connection_id;
            END IF;
        END;
    END IF;
END
