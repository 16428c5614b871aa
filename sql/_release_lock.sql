CREATE PROCEDURE job$_release_lock(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_status INT,
    OUT out_locked_by BIGINT UNSIGNED
)
COMMENT 'The part of job$release_lock that knows lock names; in_token: the ticket. Errors: 45003 no such job, 45004 the lock is a runner''s. Example: none, call job$release_lock'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id BIGINT UNSIGNED;
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_find(v_owner, in_job_name, 'job$release_lock', v_job_id);
    IF EXISTS (
        SELECT 1 FROM job
        WHERE job_id = v_job_id AND job_runner_connection_id = CONNECTION_ID() AND job_runner_token IS NOT NULL
    ) THEN
        SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 45004,
            MESSAGE_TEXT = 'job$release_lock: the lock belongs to the runner in this session';
    END IF;
    CALL job$_lock_name('job', v_job_id, v_lock_name);
    SET out_status = RELEASE_LOCK(v_lock_name);
    SET out_locked_by = IS_USED_LOCK(v_lock_name);
END
