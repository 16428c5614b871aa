CREATE PROCEDURE job$_wait(
    IN in_job_id BIGINT UNSIGNED,
    IN in_life BIGINT UNSIGNED,
    INOUT io_bell BIGINT UNSIGNED,
    IN in_seconds DECIMAL(20,6),
    OUT out_interrupted INT
)
COMMENT 'Waits at most in_seconds for bell io_bell of the runner of job in_job_id, which the controller with life lock in_life rings; a bell that was rung meanwhile is heard at once, and io_bell becomes the next. When the controller dies, its bells ring. out_interrupted: 0 unless somebody killed the statement. Errors: 1317 where a server raises that. Example: CALL job$_wait(v_job_id, v_life, v_bell, 6, v_interrupted)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_heard INT;
    -- MySQL rounds the time that it waits for a lock to whole seconds.
    DECLARE v_seconds DECIMAL(20,6) DEFAULT {{lock_seconds}};

    IF v_seconds = 0 THEN
        SELECT SLEEP(in_seconds) INTO out_interrupted;
    ELSE
        CALL job$_lock_name('bell', CONCAT(in_life, ':', in_job_id, ':', io_bell), v_lock_name);
        SET v_heard = GET_LOCK(v_lock_name, v_seconds);
        SET out_interrupted = v_heard IS NULL;
        IF v_heard = 1 THEN
            DO RELEASE_LOCK(v_lock_name);
            SET io_bell = io_bell + 1;
        END IF;
    END IF;
END
