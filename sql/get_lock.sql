CREATE PROCEDURE job$get_lock(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_status INT,
    OUT out_locked_by BIGINT UNSIGNED
)
COMMENT 'Takes the lock of the caller''s own job in_job_name for this session, without waiting: the same lock that its runner holds, so while it is held no runner can start. out_status: 1 taken, 0 held by the connection out_locked_by (perhaps this one), NULL an error. Free it with job$release_lock or by disconnecting. Commits the caller''s open transaction. Errors: 45003 no such job. Example: CALL job$get_lock(''nightly'', @status, @locked_by)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_get_lock(v_token, in_job_name, out_status, out_locked_by);
END
