CREATE PROCEDURE job$_claim(
    IN in_job_id BIGINT UNSIGNED,
    IN in_scheduled_for DATETIME(6),
    IN in_attempt INT UNSIGNED,
    IN in_next DATETIME(6),
    IN in_run_no BIGINT UNSIGNED
)
COMMENT 'Claims an attempt at an occurrence for the present runner, by inserting its row, which is unique; job_next moves on to in_next. in_run_no: one more than job_run_counter. Inside the transaction of the caller, who holds the lock of the job row and has compared the run token. Errors: 1062 when it was claimed before. Example: CALL job$_claim(v_job_id, v_next, 1, v_after, v_run_no)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_now DATETIME(6) DEFAULT UTC_TIMESTAMP(6);

    INSERT INTO job_run (
        job_id, run_no, run_kind, outcome, job_owner, job_name, scheduled_for, attempt, started_at,
        run_account, run_host, run_connection_id, run_server, run_controller, run_epoch
    )
    SELECT job_id, in_run_no, 'SCHEDULED', 'RUNNING', job_owner, job_name, in_scheduled_for, in_attempt, v_now,
           job_runner_account, job_runner_host, CONNECTION_ID(), job_runner_server, job_runner_controller, job_runner_epoch
    FROM job WHERE job_id = in_job_id;
    UPDATE job
    SET job_next = in_next,
        job_retry_for = NULL,
        job_retry_attempt = NULL,
        job_run_counter = in_run_no,
        job_run_open = in_run_no,
        job_run_last = in_run_no,
        job_runner_status = 'RUNNING',
        job_runner_reason = NULL,
        job_runner_seen = v_now,
        job_runner_last_cycle_start = v_now,
        job_runner_last_cycle_finish = NULL,
        job_changed = job_changed
    WHERE job_id = in_job_id;
END
