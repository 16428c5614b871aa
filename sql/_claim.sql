CREATE PROCEDURE job$_claim(
    IN in_job_id BIGINT UNSIGNED,
    IN in_scheduled_for DATETIME(6),
    IN in_attempt INT UNSIGNED,
    IN in_next DATETIME(6),
    OUT out_run_no BIGINT UNSIGNED,
    OUT out_call VARCHAR(300) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Claims an attempt at an occurrence for the present runner, by inserting its row, which is unique; job_next moves on to in_next. Inside the transaction of the caller, who holds the lock of the job row and has compared the run token. out_call: the statement to execute. Errors: 1062 when it was claimed before. Example: CALL job$_claim(v_job_id, v_next, 1, v_after, v_run_no, v_call)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_now DATETIME(6) DEFAULT UTC_TIMESTAMP(6);

    SELECT job_run_counter + 1,
           CONCAT('CALL `', REPLACE(job_procedure_schema, '`', '``'), '`.`', REPLACE(job_procedure_name, '`', '``'), '`()')
    INTO out_run_no, out_call
    FROM job WHERE job_id = in_job_id FOR UPDATE;
    INSERT INTO job_run (
        job_id, run_no, run_kind, outcome, job_owner, job_name, scheduled_for, attempt, started_at,
        run_account, run_host, run_connection_id, run_server, run_controller, run_epoch
    )
    SELECT job_id, out_run_no, 'SCHEDULED', 'RUNNING', job_owner, job_name, in_scheduled_for, in_attempt, v_now,
           job_runner_account, job_runner_host, CONNECTION_ID(), job_runner_server, job_runner_controller, job_runner_epoch
    FROM job WHERE job_id = in_job_id;
    UPDATE job
    SET job_next = in_next,
        job_retry_for = NULL,
        job_retry_attempt = NULL,
        job_run_counter = out_run_no,
        job_run_open = out_run_no,
        job_run_last = out_run_no,
        job_runner_status = 'RUNNING',
        job_runner_reason = NULL,
        job_runner_seen = v_now,
        job_runner_last_cycle_start = v_now,
        job_runner_last_cycle_finish = NULL,
        job_changed = job_changed
    WHERE job_id = in_job_id;
END
