CREATE PROCEDURE job$_get_lock(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_status INT,
    OUT out_locked_by BIGINT UNSIGNED
)
COMMENT 'The part of job$get_lock that knows lock names; in_token: the ticket. Errors: 45003 no such job. Example: none, call job$get_lock'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id BIGINT UNSIGNED;
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_find(v_owner, in_job_name, 'job$get_lock', v_job_id);
    CALL job$_lock_name('job', v_job_id, v_lock_name);
    -- A lock can be taken twice by one session, and then needs two releases: do not count up.
    SET out_locked_by = IS_USED_LOCK(v_lock_name);
    SET out_status = IF(out_locked_by IS NULL, GET_LOCK(v_lock_name, 0), 0);
    SET out_locked_by = IS_USED_LOCK(v_lock_name);
END
