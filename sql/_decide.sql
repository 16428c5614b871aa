CREATE PROCEDURE job$_decide(
    IN in_job_id BIGINT UNSIGNED,
    IN in_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_life BIGINT UNSIGNED,
    IN in_parked BOOLEAN,
    OUT out_action VARCHAR(8) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_wait DECIMAL(20,6),
    OUT out_run_no BIGINT UNSIGNED,
    OUT out_call VARCHAR(300) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The whole of what job$_step decides, and what it leaves to this routine because it is not the plain case: a request, a changed schedule, missed occurrences, an error. Each try is one transaction that begins by locking the job row and comparing the run token. The parameters are those of job$_step, and in_parked: the job has no session of its own, so nothing is claimed, and a row that somebody has locked is not waited for again; out_action may then also be DUE (a session is to claim it) or IDLE (paused: nothing to do until it is changed). Errors: those of the server. Example: none, call job$_step'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
decide: BEGIN
    DECLARE v_now, v_done, v_claimed, v_next, v_last, v_after, v_anchor, v_start, v_finish, v_seen, v_runner_start, v_cycle_finish DATETIME(6);
    DECLARE v_interval DECIMAL(16,6);
    DECLARE v_status, v_runner_status, v_new_status, v_stop_reason VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_epoch, v_stop_epoch, v_known BIGINT UNSIGNED;
    DECLARE v_token, v_life_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_retry_for DATETIME(6);
    DECLARE v_attempt INT UNSIGNED;
    DECLARE v_tries INT DEFAULT 0;
    DECLARE v_reason VARCHAR(32) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_runner_reason, v_new_reason VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_switched BOOLEAN;
    DECLARE v_done_before BOOLEAN DEFAULT FALSE;

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
                IF in_parked OR v_tries >= 10 THEN
                    RESIGNAL;
                END IF;
            END;
            -- The occurrence is in job_run already, from before a clock step or a changed schedule: pass over it.
            DECLARE EXIT HANDLER FOR 1062
            BEGIN
                ROLLBACK AND NO CHAIN NO RELEASE;
                IF v_done_before THEN
                    RESIGNAL;
                END IF;
                SET v_done_before = TRUE;
            END;

            SET out_action = 'END', out_wait = 0, out_run_no = NULL, out_call = NULL, out_message = NULL, v_claimed = NULL;
            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            SELECT COUNT(*), MAX(job_runner_token), MAX(job_runner_epoch), MAX(job_stop_epoch), MAX(job_stop_reason), MAX(job_status)
            INTO v_known, v_token, v_epoch, v_stop_epoch, v_stop_reason, v_status
            FROM job WHERE job_id = in_job_id FOR UPDATE;
            IF v_known = 0 THEN
                SET out_message = 'The job is gone';
                COMMIT AND NO CHAIN NO RELEASE;
                LEAVE decide;
            ELSEIF NOT COALESCE(v_token = SHA2(in_run_token, 256), FALSE) THEN
                SET out_message = 'Another runner took the job over';
                COMMIT AND NO CHAIN NO RELEASE;
                LEAVE decide;
            END IF;

            IF v_status = 'RESUMED' THEN
                SET v_status = 'ENABLED';
                UPDATE job SET job_status = v_status, job_changed = job_changed WHERE job_id = in_job_id;
            END IF;
            IF v_status NOT IN ('ENABLED', 'PAUSED') THEN
                SET out_message = CASE v_status
                    WHEN 'ABORTED' THEN 'Aborted at request'
                    WHEN 'ERROR' THEN 'The job failed too often in a row'
                    ELSE CONCAT('The job became ', v_status)
                END;
            ELSEIF v_stop_epoch >= v_epoch THEN
                SET out_message = CASE v_stop_reason
                    WHEN 'ABORT' THEN 'Aborted at request'
                    WHEN 'SHUTDOWN' THEN 'Ended because its controller shuts down'
                    WHEN 'RENEW' THEN 'Ended to renew the session'
                    WHEN 'UPGRADE' THEN 'Ended to be replaced by a new version'
                    WHEN 'STALE' THEN 'Ended because its controller shows no sign of life'
                    ELSE 'Ended at request'
                END;
            ELSEIF {{read_only}} THEN
                SET out_message = 'Ended because this server became read-only';
            ELSE
                CALL job$_held(out_message);
                IF out_message IS NULL AND in_life IS NOT NULL THEN
                    CALL job$_lock_name('life', in_life, v_life_name);
                    IF IS_USED_LOCK(v_life_name) IS NULL THEN
                        SET out_message = 'Ended because its controller is gone';
                    END IF;
                END IF;
            END IF;
            IF out_message IS NOT NULL THEN
                COMMIT AND NO CHAIN NO RELEASE;
                LEAVE decide;
            END IF;

            CALL job$_plan(in_job_id);
            SELECT job_next, job_schedule_anchor, job_schedule_start, job_schedule_finish, job_schedule_interval, job_runner_status, job_runner_reason,
                   job_runner_seen, job_runner_start, job_runner_last_cycle_finish,
                   job_owner, job_runner_account, job_retry_for, job_retry_attempt
            INTO v_next, v_anchor, v_start, v_finish, v_interval, v_runner_status, v_runner_reason,
                 v_seen, v_runner_start, v_cycle_finish,
                 v_owner, v_account, v_retry_for, v_attempt
            FROM job WHERE job_id = in_job_id FOR UPDATE;
            SET v_now = UTC_TIMESTAMP(6);
            SET v_switched = EXISTS (SELECT 1 FROM job_switch WHERE switch_owner IN ('', v_owner));

            IF v_status = 'ENABLED' AND NOT v_switched AND v_runner_status = 'PAUSED' AND v_next <= v_now THEN
                -- Resumed by a plain UPDATE: what fell into the pause is never caught up.
                CALL job$_grid(v_anchor, v_interval, LEAST(v_now, COALESCE(v_finish, v_now)), v_last, v_after);
                SET v_reason = IF(v_runner_reason <=> 'all jobs are paused', 'SWITCH', 'PAUSED');
                CALL job$_skip(in_job_id, v_last, v_reason, v_account);
                SET out_message = CONCAT(v_reason, ': skipped ', v_next, ' to ', v_last, ' UTC');
                COMMIT AND NO CHAIN NO RELEASE;
                SET out_action = 'SKIP';
                LEAVE decide;
            END IF;

            IF in_parked AND v_status = 'ENABLED' AND NOT v_switched
                AND (v_retry_for IS NOT NULL OR v_next <= LEAST(v_now, COALESCE(v_finish, v_now)))
            THEN
                COMMIT AND NO CHAIN NO RELEASE;
                SET out_action = 'DUE';
                LEAVE decide;
            END IF;

            IF v_retry_for IS NOT NULL AND (v_status = 'PAUSED' OR v_switched) THEN
                -- What falls into a pause is never caught up.
                UPDATE job SET job_retry_for = NULL, job_retry_attempt = NULL, job_changed = job_changed WHERE job_id = in_job_id;
                SET v_retry_for = NULL;
            END IF;

            IF v_retry_for IS NOT NULL THEN
                SET v_claimed = v_retry_for, v_after = v_next;
            ELSEIF v_status = 'ENABLED' AND (v_next IS NULL OR v_next > v_finish) THEN
                UPDATE job
                SET job_status = 'FINISHED', job_changed = job_changed
                WHERE job_id = in_job_id;
                CALL job$_event(in_job_id, 'STATUS', v_account, v_status, 'FINISHED', 'The schedule is over');
                SET out_message = 'Ok: the schedule is over';
                COMMIT AND NO CHAIN NO RELEASE;
                LEAVE decide;
            ELSEIF v_status = 'ENABLED' AND NOT v_switched AND v_next <= v_now THEN
                -- Due. The latest instant that has come runs, late or not; whole intervals missed before it are one span.
                CALL job$_grid(v_anchor, v_interval, LEAST(v_now, COALESCE(v_finish, v_now)), v_last, v_after);
                IF v_last > v_next THEN
                    -- Never over what has its row already, should somebody have moved job_next back.
                    SET v_done = NULL;
                    SELECT MAX(done) INTO v_done FROM (
                        SELECT COALESCE(span_last, scheduled_for) AS done
                        FROM job_run
                        WHERE job_id = in_job_id AND run_kind = 'SCHEDULED'
                        ORDER BY scheduled_for DESC
                        LIMIT 1
                    ) AS r;
                    IF v_done >= v_next THEN
                        CALL job$_grid(v_anchor, v_interval, v_done, v_last, v_after);
                        UPDATE job SET job_next = v_after, job_changed = job_changed WHERE job_id = in_job_id;
                        SET out_message = CONCAT('DONE BEFORE: passed over ', v_next, ' to ', v_last, ' UTC');
                        COMMIT AND NO CHAIN NO RELEASE;
                        SET out_action = 'SKIP';
                        LEAVE decide;
                    END IF;
                    CALL job$_grid(v_anchor, v_interval, v_last - INTERVAL 1 MICROSECOND, v_last, v_after);
                    SET v_reason = CASE
                        WHEN v_next < v_runner_start THEN 'NO_RUNNER'
                        WHEN v_next < v_cycle_finish THEN 'OVERRUN'
                        ELSE 'STALLED'
                    END;
                    -- In the transaction that claims the latest one: a runner that only skips is overtaken by a short interval.
                    CALL job$_skip(in_job_id, v_last, v_reason, v_account);
                    SET out_message = CONCAT(v_reason, ': skipped ', v_next, ' to ', v_last, ' UTC'), v_last = v_after;
                END IF;
                CALL job$_grid(v_anchor, v_interval, v_last, v_next, v_after);
                IF v_done_before THEN
                    UPDATE job SET job_next = v_after, job_changed = job_changed WHERE job_id = in_job_id;
                    SET out_message = CONCAT_WS('; ', out_message, CONCAT('DONE BEFORE: passed over ', v_next, ' UTC'));
                    COMMIT AND NO CHAIN NO RELEASE;
                    SET out_action = 'SKIP';
                    LEAVE decide;
                END IF;
                SET v_claimed = v_next, v_attempt = 1;
            END IF;
            IF v_claimed IS NOT NULL THEN
                SELECT job_run_counter + 1, CONCAT('CALL `', REPLACE(job_procedure_schema, '`', '``'), '`.`', REPLACE(job_procedure_name, '`', '``'), '`()')
                INTO out_run_no, out_call
                FROM job WHERE job_id = in_job_id FOR UPDATE;
                CALL job$_claim(in_job_id, v_claimed, v_attempt, v_after, out_run_no);
                COMMIT AND NO CHAIN NO RELEASE;
                SET out_action = 'RUN';
                LEAVE decide;
            END IF;

            SET v_new_status = CASE
                WHEN v_status = 'PAUSED' OR v_switched THEN 'PAUSED'
                WHEN v_start > v_now THEN 'WAITING'
                ELSE 'SLEEPING'
            END;
            SET v_new_reason = CASE
                WHEN v_status = 'ENABLED' AND v_switched THEN 'all jobs are paused'
                WHEN v_new_status = 'WAITING' THEN 'before the start'
            END;
            IF NOT v_new_status <=> v_runner_status OR NOT v_new_reason <=> v_runner_reason OR v_seen < v_now - INTERVAL 20 SECOND THEN
                UPDATE job
                SET job_runner_status = v_new_status,
                    job_runner_reason = v_new_reason,
                    job_runner_seen = v_now,
                    job_changed = job_changed
                WHERE job_id = in_job_id;
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            SET out_action = 'WAIT';
            IF v_new_status = 'PAUSED' THEN
                -- Awake at each planned instant, so that the first one after a resume is not slept through.
                CALL job$_grid(v_anchor, v_interval, v_now, v_last, v_next);
            END IF;
            SET out_wait = COALESCE(TIMESTAMPDIFF(MICROSECOND, v_now, v_next) * 0.000001, 6);
            IF v_new_status = 'PAUSED' THEN
                SET out_wait = GREATEST(out_wait, 1), out_message = 'PAUSED', out_action = IF(in_parked, 'IDLE', out_action);
            END IF;
            LEAVE decide;
        END;
    END LOOP again;
END
