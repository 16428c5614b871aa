CREATE PROCEDURE job$cancel(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Stops the present run of the caller''s job in_job_name: marks it, kills its statement, and answers one row (run_no, connection_id, outcome, rows_to_undo, seconds). Its transaction is rolled back first, which can take long, and a body may swallow the kill: so call it again with the run_no until outcome is no longer RUNNING. rows_to_undo: what is still to be rolled back, NULL where it is not known. Options, one JSON document: reason, run_no (this run, asked before), insist (true: end its session), timeout (true: only if it has taken longer than the job''s timeout). The job keeps its status. Commits the caller''s open transaction. Errors: 45002, 45003 no such job, 45004 nothing runs, or it may not be killed. Example: CALL job$cancel(''nightly'', ''{"reason": "too slow"}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_cancel(v_token, in_job_name, in_options);
END
