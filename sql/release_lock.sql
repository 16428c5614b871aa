CREATE PROCEDURE job$release_lock(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_status INT,
    OUT out_locked_by BIGINT UNSIGNED
)
COMMENT 'Releases the lock that job$get_lock took in this session. out_status: 1 released, 0 held by the connection out_locked_by, NULL held by nobody. The lock of a runner is not released: that wants its run token. Commits the caller''s open transaction. Errors: 45003 no such job, 45004 it is a runner''s. Example: CALL job$release_lock(''nightly'', @status, @locked_by)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_release_lock(v_token, in_job_name, out_status, out_locked_by);
END
