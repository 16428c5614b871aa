CREATE PROCEDURE job$stop(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Asks the present runner of the caller''s job in_job_name to end after its present cycle; the job keeps its status, so another runner may start. Options, one JSON document: reason (SHUTDOWN, the default, RENEW or UPGRADE), connection_id (only if that connection is the runner). Commits the caller''s open transaction. Errors: 45002, 45003 no such job. Example: CALL job$stop(''nightly'', NULL)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_stop(v_token, in_job_name, in_options);
END
