CREATE PROCEDURE job$_ring(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_life BIGINT UNSIGNED,
    IN in_bells LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$ring that knows lock names; in_token: the ticket. It never waits: a bell that waits for a runner, while that runner waits for the bell, is a deadlock. Errors: 45004. Example: none, call job$ring'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id, v_bell BIGINT UNSIGNED;
    DECLARE v_i INT DEFAULT 0;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_lock_name('life', in_life, v_lock_name);
    IF NOT IS_USED_LOCK(v_lock_name) <=> CONNECTION_ID() THEN
        CALL job$_fail(45004, 'job$ring: this session is not the bell of that controller');
    END IF;
    WHILE v_i < JSON_LENGTH(in_bells) DO
        SET v_job_id = JSON_EXTRACT(in_bells, CONCAT('$[', v_i, '][0]'));
        SET v_bell = JSON_EXTRACT(in_bells, CONCAT('$[', v_i, '][1]'));
        -- A job that was dropped a moment ago has no runner to be woken, and must not keep the others asleep.
        IF EXISTS (SELECT 1 FROM job WHERE job_id = v_job_id AND job_owner = v_owner) THEN
            CALL job$_lock_name('bell', CONCAT(in_life, ':', v_job_id, ':', v_bell), v_lock_name);
            DO GET_LOCK(v_lock_name, 0);
        END IF;
        CALL job$_lock_name('bell', CONCAT(in_life, ':', v_job_id, ':', v_bell - 1), v_lock_name);
        DO RELEASE_LOCK(v_lock_name);
        SET v_i = v_i + 1;
    END WHILE;
END
