CREATE PROCEDURE job$_controller(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$controller that knows lock names; in_token: the ticket. Errors: 45002, 45075. Example: none, call job$controller'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_base, v_name, v_exact, v_host, v_pid, v_version, v_ttl, v_former LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_token, v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_life, v_other BIGINT UNSIGNED;
    DECLARE v_number INT DEFAULT 1;
    DECLARE v_tries INT DEFAULT 0;
    DECLARE v_lives, v_known BOOLEAN;
    DECLARE v_left DATETIME(6);

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        IF v_lock_name IS NOT NULL THEN
            DO RELEASE_LOCK(v_lock_name);
        END IF;
        RESIGNAL;
    END;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_options('job$controller', in_options, '["name", "exact", "host", "pid", "version", "ttl", "former"]');
    CALL job$_option(in_options, 'name', v_base);
    CALL job$_option(in_options, 'exact', v_exact);
    CALL job$_option(in_options, 'host', v_host);
    CALL job$_option(in_options, 'pid', v_pid);
    CALL job$_option(in_options, 'version', v_version);
    CALL job$_option(in_options, 'ttl', v_ttl);
    CALL job$_option(in_options, 'former', v_former);
    SET v_ttl = COALESCE(v_ttl, '30');
    IF v_base IS NULL OR v_base = '' OR CHAR_LENGTH(v_base) > 240 THEN
        CALL job$_fail(45002, 'job$controller: name has 1 to 240 characters');
    ELSEIF v_ttl NOT REGEXP '^[0-9]{1,6}([.][0-9]{1,6})?$' OR v_ttl + 0 < 1 THEN
        CALL job$_fail(45002, 'job$controller: ttl is a number of seconds, at least 1');
    ELSEIF NOT COALESCE(v_former, '0') REGEXP '^[0-9]{1,19}$' THEN
        CALL job$_fail(45002, 'job$controller: former is a life that job$controller answered');
    ELSEIF {{read_only}} THEN
        CALL job$_fail(45004, 'job$controller: this server is read-only');
    END IF;

    -- A number that no controller before had: its locks must not be taken for those of another.
    CALL job$token(v_token);
    SET v_life = CONV(LEFT(v_token, 15), 16, 10);
    CALL job$_lock_name('life', v_life, v_lock_name);
    IF NOT GET_LOCK(v_lock_name, 0) <=> 1 THEN
        CALL job$_fail(45075, 'job$controller: the lock of this controller could not be taken; try again');
    END IF;

    again: LOOP
        BEGIN
            DECLARE EXIT HANDLER FOR 1213, 1205, 1020, 1062
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
            CALL job$_in_turn();
            SET v_name = IF(v_number = 1, v_base, CONCAT(v_base, '/', v_number));
            CALL job$_controller_lives(v_owner, v_name, v_former, v_lives, v_other);
            IF v_lives AND v_exact IN ('1', 'true') THEN
                CALL job$_fail(45075, CONCAT('job$controller: a controller of that name lives on connection ', COALESCE(v_other, 0)));
            ELSEIF v_lives THEN
                SET v_number = v_number + 1;
                ROLLBACK AND NO CHAIN NO RELEASE;
                ITERATE again;
            END IF;
            DELETE FROM job_controller
            WHERE controller_owner = v_owner AND controller_heartbeat < UTC_TIMESTAMP(6) - INTERVAL 30 DAY;
            SELECT COUNT(*) > 0 INTO v_known
            FROM job_controller WHERE controller_owner = v_owner AND controller_name IN (v_base, v_name);
            CALL job$_server(v_account, v_known);
            -- A runner that was left on another server lives on as long as its controller was heard there.
            SELECT MAX(IF(controller_server = {{server_identity}}, controller_left, controller_heartbeat)) INTO v_left
            FROM job_controller WHERE controller_owner = v_owner AND controller_name = v_name;
            DELETE FROM job_controller WHERE controller_owner = v_owner AND controller_name = v_name;
            INSERT INTO job_controller (
                controller_name, controller_owner, controller_account, controller_host, controller_pid, controller_version,
                controller_server, controller_start, controller_heartbeat, controller_steady, controller_ttl,
                controller_left, controller_bell_connection_id, controller_life
            ) VALUES (
                v_name, v_owner, v_account, v_host, v_pid, v_version,
                {{server_identity}}, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), v_ttl,
                v_left, CONNECTION_ID(), v_life
            );
            CALL job$_event(0, 'CONTROLLER_START', v_account, NULL, v_name, CONCAT('Process ', COALESCE(v_pid, '?'), ' on ', COALESCE(v_host, '?')));
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;
    SELECT v_name AS controller_name, v_life AS controller_life;
END
