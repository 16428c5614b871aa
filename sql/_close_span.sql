CREATE PROCEDURE job$_close_span(
    IN in_job_id BIGINT UNSIGNED,
    IN in_by VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Records, before a request changes the state of a job, the occurrences that have come due in the state it is in and that nobody will run any more: one span with that state as its reason. Inside the transaction of the caller, who holds the lock of the job row. Errors: none of its own. Example: CALL job$_close_span(v_job_id, v_account)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_status, v_runner_status VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_anchor, v_finish, v_last, v_next DATETIME(6);
    DECLARE v_interval DECIMAL(16,6);
    DECLARE v_connection, v_lot BIGINT UNSIGNED;
    DECLARE v_now DATETIME(6) DEFAULT UTC_TIMESTAMP(6);

    CALL job$_plan(in_job_id);
    SELECT job_status, job_runner_status, job_owner, job_schedule_anchor, job_schedule_finish, job_schedule_interval,
           IF(job_runner_token IS NULL, NULL, job_runner_connection_id), IF(job_runner_token IS NULL, NULL, job_runner_lot)
    INTO v_status, v_runner_status, v_owner, v_anchor, v_finish, v_interval, v_connection, v_lot
    FROM job WHERE job_id = in_job_id FOR UPDATE;
    CALL job$_lock_name('job', in_job_id, v_lock_name);
    CALL job$_grid(v_anchor, v_interval, LEAST(v_now, COALESCE(v_finish, v_now)), v_last, v_next);
    CALL job$_skip(
        in_job_id, v_last,
        CASE
            WHEN v_status NOT IN ('ENABLED', 'RESUMED') THEN v_status
            WHEN EXISTS (SELECT 1 FROM job_switch WHERE switch_owner IN ('', v_owner)) THEN 'SWITCH'
            WHEN NOT COALESCE(IS_USED_LOCK(v_lock_name) IN (v_connection, v_lot), FALSE) THEN 'NO_RUNNER'
            WHEN v_runner_status = 'RUNNING' THEN 'OVERRUN'
            ELSE 'STALLED'
        END,
        in_by
    );
END
