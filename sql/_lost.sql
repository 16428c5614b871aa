CREATE PROCEDURE job$_lost(
    IN in_job_id BIGINT UNSIGNED,
    IN in_run_no BIGINT UNSIGNED,
    IN in_by VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Closes the run that a dead runner left open: as LOST, or, if somebody had asked for its end, as KILLED or TIMEOUT; all but KILLED count as a failure, and the occurrence of a LOST one is tried again if the job says so; inside the transaction of the caller, who holds the lock of the job and of its row. Errors: none of its own. Example: CALL job$_lost(v_job_id, v_run_no, v_account)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_failures, v_max_failures INT UNSIGNED;
    DECLARE v_scheduled_for DATETIME(6);
    DECLARE v_attempt INT UNSIGNED;
    DECLARE v_connection BIGINT UNSIGNED;
    DECLARE v_status, v_stop VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    SELECT MAX(run_stop), MAX(scheduled_for), MAX(attempt) INTO v_stop, v_scheduled_for, v_attempt FROM job_run WHERE job_id = in_job_id AND run_no = in_run_no FOR UPDATE;
    SELECT job_failures + IF(v_stop <=> 'KILLED', 0, 1), job_max_failures, job_status, job_runner_connection_id
    INTO v_failures, v_max_failures, v_status, v_connection
    FROM job WHERE job_id = in_job_id FOR UPDATE;
    UPDATE job_run
    SET outcome = COALESCE(v_stop, 'LOST'), finished_at = UTC_TIMESTAMP(6),
        error_message = CASE v_stop
            WHEN 'KILLED' THEN LEFT(CONCAT('Stopped by ', run_stop_by, COALESCE(CONCAT(': ', run_stop_reason), ''), '; what it had committed stays'), 1024)
            WHEN 'TIMEOUT' THEN 'Stopped, as it took longer than its timeout; what it had committed stays'
            ELSE 'The session that ran it is gone, and nobody recorded how the run ended'
        END
    WHERE job_id = in_job_id AND run_no = in_run_no AND outcome = 'RUNNING';
    UPDATE job
    SET job_run_open = NULL,
        job_failures = v_failures,
        job_retry_for = IF(v_stop IS NULL AND job_on_lost = 'RETRY', v_scheduled_for, job_retry_for),
        job_retry_attempt = IF(v_stop IS NULL AND job_on_lost = 'RETRY', v_attempt + 1, job_retry_attempt),
        job_changed = job_changed
    WHERE job_id = in_job_id;
    CALL job$_event(in_job_id, COALESCE(v_stop, 'LOST'), in_by, NULL, CAST(in_run_no AS CHAR),
        CONCAT('The runner on connection ', v_connection, ' ended without recording its run'));
    IF v_failures >= v_max_failures AND NOT v_stop <=> 'KILLED' AND v_status IN ('ENABLED', 'RESUMED') THEN
        UPDATE job SET job_status = 'ERROR', job_changed = job_changed WHERE job_id = in_job_id;
        CALL job$_event(in_job_id, 'STATUS', in_by, v_status, 'ERROR', CONCAT(v_failures, ' failed occurrences in a row'));
    END IF;
END
