CREATE PROCEDURE job$enable(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Enables the caller''s job in_job_name, so that a runner may start; what fell into the time before is not caught up. An ABORTED, DISABLED, FINISHED or ERROR job can be enabled. Asking for the state that it is in already succeeds. Options, one JSON document: reason (a text for the record). Answers one row (job_id, status_from, status_to, message). Commits the caller''s open transaction. Errors: 45002, 45003 no such job, 45004 refused in its state. Example: CALL job$enable(''nightly'', ''{"reason": "deploy"}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_request(v_token, 'enable', in_job_name, in_options);
END
