CREATE PROCEDURE job$disable(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Disables the caller''s job in_job_name: its runner ends as after job$abort. Any job can be disabled; job$enable is the way back. Asking for the state that it is in already succeeds. Options, one JSON document: reason (a text for the record). Answers one row (job_id, status_from, status_to, message). Commits the caller''s open transaction. Errors: 45002, 45003 no such job, 45004 refused in its state. Example: CALL job$disable(''nightly'', ''{"reason": "deploy"}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_request(v_token, 'disable', in_job_name, in_options);
END
