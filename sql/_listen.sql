CREATE PROCEDURE job$_listen(
    IN in_life BIGINT UNSIGNED,
    IN in_heard VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_digest VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The ear of the controller with life in_life, a number that it alone knows, and which therefore needs no ticket: waits until something of its owner''s jobs changes, for a second at most. in_heard, in_digest: what the call before answered, NULL at first. Answers one row (alive, heard, digest). alive: 0, and at once, when no controller of that life works on this server. heard: requests, the newest stamp, whether the jobs are held or paused at once, other controllers that live. A request interrupts the wait (job$_wake); what else changes is looked for every 0.025 s, and what is not in the rows of jobs every 0.25 s. digest: of all stamps, at the end of each call; it tells of those that were committed late, of a clock that went back and of rows that are gone. Errors: 1317 where a wait that is interrupted raises that; then call again. Example: CALL job$_listen(42, NULL, NULL)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
listen: BEGIN
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_prefix VARCHAR(1200) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_state VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_changed, v_before TIMESTAMP(6) DEFAULT NULL;
    DECLARE v_digest VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_turn, v_slept INT DEFAULT 0;

    SELECT MAX(controller_owner) INTO v_owner
    FROM job_controller
    WHERE controller_life = in_life AND controller_life > 0 AND controller_finish IS NULL AND controller_server = {{server_identity}};
    IF v_owner IS NULL THEN
        SELECT 0 AS alive, NULL AS heard, NULL AS digest;
        LEAVE listen;
    END IF;
    -- By this lock a request finds the session to be woken. One that has fallen silent may hold it for a moment still.
    CALL job$_lock_name('ear', in_life, v_lock_name);
    IF IS_USED_LOCK(v_lock_name) IS NULL THEN
        DO GET_LOCK(v_lock_name, 0);
    END IF;
    SELECT CONCAT(setting_value, ':', {{schema}}, ':life:') INTO v_prefix FROM job_setting WHERE setting_name = 'secret';

    -- Each turn sees what was committed by then: no transaction is open.
    hear: LOOP
        -- Answered from the end of the index; all else is asked when a request has interrupted the wait, and now and then.
        SELECT MAX(job_changed) INTO v_changed FROM job FORCE INDEX (ix_job_owner_changed) WHERE job_owner = v_owner;
        IF v_turn % 10 = 0 OR NOT v_changed <=> v_before THEN
            SELECT CONCAT_WS(' ',
                COALESCE((SELECT SUM(request_counter) FROM job_request WHERE request_owner IN ('', v_owner)), 0),
                COALESCE(UNIX_TIMESTAMP(v_changed), 0),
                (SELECT COUNT(*) FROM job_setting WHERE setting_name = 'hold'),
                (SELECT COUNT(*) FROM job_switch WHERE switch_owner IN ('', v_owner)),
                COALESCE(SUM(controller_life), 0)
            ) INTO v_state
            FROM job_controller
            WHERE controller_owner = v_owner AND controller_life <> in_life AND controller_finish IS NULL
              AND IS_USED_LOCK(SHA2(CONCAT(v_prefix, controller_life), 256)) IS NOT NULL;
            IF NOT v_state <=> in_heard THEN
                LEAVE hear;
            END IF;
            SET v_before = v_changed;
        END IF;
        -- Less than a second in all: many servers note what takes longer as slow.
        IF v_turn >= 38 THEN
            LEAVE hear;
        END IF;
        SET v_slept = 1;
        BEGIN
            DECLARE CONTINUE HANDLER FOR 1317 BEGIN END;
            SELECT SLEEP(0.025) INTO v_slept;
        END;
        SET v_turn = IF(v_slept = 0, v_turn + 1, 10 * (v_turn DIV 10 + 1));
    END LOOP hear;
    -- A sum: under BIT_XOR, stamps that one UPDATE gives to an even number of rows would cancel each other out.
    SELECT CONCAT(COUNT(*), ' ', COALESCE(SUM(CRC32(CONCAT(job_id, ' ', UNIX_TIMESTAMP(job_changed)))), 0)) INTO v_digest
    FROM job FORCE INDEX (ix_job_owner_changed)
    WHERE job_owner = v_owner;
    SELECT 1 AS alive, v_state AS heard, v_digest AS digest;
END
