CREATE PROCEDURE job$_request(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_request VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Changes what is wanted of a job, for job$pause and its like; in_token: the ticket. The one place that writes job_status at a person''s request: in one transaction under the lock of the job row, with the span of the state that ends and an event. Errors: 45002, 45003 no such job, 45004 refused in its state. Example: none, call job$pause'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_from, v_to VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_reason LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id, v_epoch BIGINT UNSIGNED;
    DECLARE v_next, v_finish DATETIME(6);
    DECLARE v_tries INT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_options(CONCAT('job$', in_request), in_options, '["reason"]');
    CALL job$_option(in_options, 'reason', v_reason);
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
            CALL job$_find(v_owner, in_job_name, CONCAT('job$', in_request), v_job_id);
            SELECT IF(job_status = 'RESUMED', 'ENABLED', job_status), job_runner_epoch INTO v_from, v_epoch
            FROM job WHERE job_id = v_job_id FOR UPDATE;
            CALL job$_transition(in_request, v_from, v_to);
            IF v_to IS NULL THEN
                CALL job$_fail(45004, CONCAT('job$', in_request, ': the job is ', v_from, '; ', CASE in_request
                    WHEN 'pause' THEN 'only an ENABLED one can be paused'
                    WHEN 'resume' THEN 'only a PAUSED one can be resumed'
                    WHEN 'abort' THEN 'only an ENABLED or PAUSED one can be aborted'
                    ELSE 'a PAUSED one is resumed, not enabled'
                END));
            END IF;
            IF v_to <> v_from THEN
                CALL job$_close_span(v_job_id, v_account);
                UPDATE job
                SET job_status = v_to,
                    -- From here on what comes due runs again, also where the runner has not noticed yet.
                    job_runner_status = IF(v_to = 'ENABLED' AND job_runner_status = 'PAUSED', 'SLEEPING', job_runner_status),
                    job_failures = IF(in_request = 'enable', 0, job_failures),
                    -- It belongs to the epoch that it met: that runner ends, even if the job is enabled again before its cycle ends.
                    job_stop_epoch = IF(in_request IN ('abort', 'disable'), v_epoch, job_stop_epoch),
                    job_stop_reason = IF(in_request IN ('abort', 'disable'), 'ABORT', job_stop_reason)
                WHERE job_id = v_job_id;
                CALL job$_event(v_job_id, 'STATUS', v_account, v_from, v_to, LEFT(v_reason, 1024));
            END IF;
            SELECT job_next, job_schedule_finish INTO v_next, v_finish FROM job WHERE job_id = v_job_id FOR UPDATE;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;
    CALL job$_wake(v_owner);
    SELECT v_job_id AS job_id, v_from AS status_from, v_to AS status_to,
        CASE
            WHEN v_to = 'ENABLED' AND EXISTS (SELECT 1 FROM job_switch WHERE switch_owner IN ('', v_owner))
                THEN 'All your jobs are paused at once; job$resume_all (jobctl resume --all) lifts that'
            WHEN v_to = v_from THEN CONCAT('It was ', v_to, ' already')
            WHEN v_to = 'ENABLED' AND (v_next IS NULL OR v_next > v_finish) THEN 'Its schedule is over: nothing is planned any more'
        END AS message;
END
