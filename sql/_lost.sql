CREATE PROCEDURE job$_lost(
    IN in_job_id BIGINT UNSIGNED,
    IN in_run_no BIGINT UNSIGNED,
    IN in_by VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Closes as LOST the run that a dead runner left open, and counts it as a failure; inside the transaction of the caller, who holds the lock of the job and of its row. Errors: none of its own. Example: CALL job$_lost(v_job_id, v_run_no, v_account)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_failures, v_max_failures INT UNSIGNED;
    DECLARE v_connection BIGINT UNSIGNED;
    DECLARE v_status VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    SELECT job_failures + 1, job_max_failures, job_status, job_runner_connection_id
    INTO v_failures, v_max_failures, v_status, v_connection
    FROM job WHERE job_id = in_job_id FOR UPDATE;
    UPDATE job_run
    SET outcome = 'LOST', finished_at = UTC_TIMESTAMP(6),
        error_message = 'The session that ran it is gone, and nobody recorded how the run ended'
    WHERE job_id = in_job_id AND run_no = in_run_no AND outcome = 'RUNNING';
    UPDATE job
    SET job_run_open = NULL, job_failures = v_failures, job_changed = job_changed
    WHERE job_id = in_job_id;
    CALL job$_event(in_job_id, 'LOST', in_by, NULL, CAST(in_run_no AS CHAR),
        CONCAT('The runner on connection ', v_connection, ' ended without recording its run'));
    IF v_failures >= v_max_failures AND v_status IN ('ENABLED', 'RESUMED') THEN
        UPDATE job SET job_status = 'ERROR', job_changed = job_changed WHERE job_id = in_job_id;
        CALL job$_event(in_job_id, 'STATUS', in_by, v_status, 'ERROR', CONCAT(v_failures, ' failed occurrences in a row'));
    END IF;
END
