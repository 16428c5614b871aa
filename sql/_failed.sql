CREATE PROCEDURE job$_failed(
    IN in_job_id BIGINT UNSIGNED,
    IN in_outcome VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_error_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    INOUT io_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Makes a job ERROR when a failure, which is counted already, was one too many in a row; io_message then says why the runner must end. Inside the transaction of the caller, who holds the lock of the job row. Errors: none of its own. Example: CALL job$_failed(v_job_id, ''ERROR'', v_error_message, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_status VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_failures, v_max_failures INT UNSIGNED;

    SELECT job_status, job_runner_account, job_failures, job_max_failures
    INTO v_status, v_account, v_failures, v_max_failures
    FROM job WHERE job_id = in_job_id FOR UPDATE;
    IF v_failures >= v_max_failures AND in_outcome <> 'KILLED' AND v_status IN ('ENABLED', 'RESUMED') THEN
        UPDATE job SET job_status = 'ERROR', job_changed = job_changed WHERE job_id = in_job_id;
        CALL job$_event(in_job_id, 'STATUS', v_account, v_status, 'ERROR', CONCAT(v_failures, ' failed occurrences in a row'));
        SET io_message = CONCAT('The job procedure failed ', v_failures, ' time', IF(v_failures > 1, 's', ''), ' in a row: ',
            COALESCE(in_error_message, 'no diagnostics'));
    END IF;
END
