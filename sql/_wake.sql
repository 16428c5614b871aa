CREATE PROCEDURE job$_wake(
    IN in_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Raises the counter of in_owner''s requests, in a transaction of its own, as many may ask at once, and wakes the ears of in_owner''s controllers, or of all where that is empty, after a request was committed. An ear is whoever holds its lock; it can be interrupted only inside job$_listen, which has the same definer, and where it is not, its call ends, and the next one begins with the counter. Errors: none. Example: CALL job$_wake(v_owner)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_life, v_ear BIGINT UNSIGNED DEFAULT 0;
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    -- 1094, 1095: it ended, or does not wait. What was requested is done, and is heard a little later.
    DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;

    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
    START TRANSACTION READ WRITE;
    INSERT INTO job_request (request_owner, request_counter) VALUES (in_owner, 1)
    ON DUPLICATE KEY UPDATE request_counter = request_counter + 1;
    COMMIT AND NO CHAIN NO RELEASE;
    wake: LOOP
        SELECT MIN(controller_life) INTO v_life
        FROM job_controller
        WHERE in_owner IN ('', controller_owner) AND controller_finish IS NULL AND controller_life > v_life;
        IF v_life IS NULL THEN
            LEAVE wake;
        END IF;
        CALL job$_lock_name('ear', v_life, v_lock_name);
        SET v_ear = IS_USED_LOCK(v_lock_name);
        IF v_ear <> CONNECTION_ID() THEN
            KILL QUERY v_ear;
        END IF;
    END LOOP wake;
END
