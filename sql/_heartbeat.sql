CREATE PROCEDURE job$_heartbeat(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$heartbeat that writes; in_token: the ticket. Errors: 45002, 45004. Example: none, call job$heartbeat'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
heartbeat: BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_name, v_text, v_finish LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_stale VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_now, v_steady DATETIME(6);
    DECLARE v_life BIGINT UNSIGNED;
    DECLARE v_known INT;
    DECLARE v_tries INT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_options('job$heartbeat', in_options, '["name", "life", "finish"]');
    CALL job$_option(in_options, 'name', v_name);
    CALL job$_option(in_options, 'life', v_text);
    CALL job$_option(in_options, 'finish', v_finish);
    IF v_name IS NULL OR NOT COALESCE(v_text, '') REGEXP '^[0-9]{1,19}$' THEN
        CALL job$_fail(45002, 'job$heartbeat: name and life are what job$controller answered');
    END IF;
    IF {{read_only}} THEN
        CALL job$_fail(45004, 'job$heartbeat: this server became read-only');
    END IF;
    -- As a number: compared as text with one, it would lose digits.
    SET v_life = v_text;

    again: LOOP
        BEGIN
            DECLARE EXIT HANDLER FOR 1213, 1205, 1020
            BEGIN
                ROLLBACK AND NO CHAIN NO RELEASE;
                SET v_tries = v_tries + 1;
                IF v_tries >= 10 THEN
                    RESIGNAL;
                END IF;
            END;

            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            IF v_finish IN ('1', 'true') THEN
                CALL job$_in_turn();
            END IF;
            SET v_now = UTC_TIMESTAMP(6);
            SELECT COUNT(*), MAX(IF(controller_heartbeat < v_now - INTERVAL controller_ttl / 2 SECOND, v_now, controller_steady))
            INTO v_known, v_steady
            FROM job_controller
            WHERE controller_owner = v_owner AND controller_name = v_name AND controller_life = v_life AND controller_finish IS NULL
              AND controller_server = {{server_identity}}
            FOR UPDATE;
            UPDATE job_controller
            SET controller_heartbeat = v_now,
                controller_steady = v_steady,
                controller_finish = IF(v_finish IN ('1', 'true'), v_now, NULL)
            WHERE controller_owner = v_owner AND controller_name = v_name AND controller_life = v_life AND controller_finish IS NULL
              AND controller_server = {{server_identity}};
            IF v_known = 1 AND v_finish IN ('1', 'true') THEN
                CALL job$_event(0, 'CONTROLLER_STOP', v_account, v_name, NULL, NULL);
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;

    IF v_known = 1 THEN
        -- After a stall of all writes everybody waits for one time to live: nobody could show a sign of life meanwhile.
        judge: LOOP
            SELECT MIN(controller_name) INTO v_stale
            FROM job_controller
            WHERE controller_owner = v_owner AND controller_name <> v_name AND controller_finish IS NULL
              AND controller_heartbeat < v_now - INTERVAL controller_ttl SECOND
              AND v_steady <= v_now - INTERVAL controller_ttl SECOND;
            IF v_stale IS NULL THEN
                LEAVE judge;
            END IF;
            CALL job$_stale(v_owner, v_stale, v_account);
        END LOOP judge;
    END IF;
    SELECT v_known AS alive;
END
