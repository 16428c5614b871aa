CREATE PROCEDURE job$run_with(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The runner: what job$run does, with options as one JSON document: controller (the name of the jobctl process that keeps this runner alive), life and bell (its life lock and the first bell of this runner, from job$controller and job$ring), session_max_age (seconds, {{session_max_age}} by default). Under a controller a row (job$notice, run_no, seconds, message) is sent for each thing that happens: STARTED, OK, ERROR, SKIPPED, RETIRED). Result sets of the job procedure pass through; an empty one is sent now and then while waiting, which tells whether the client still listens; the last one is the row (job_name, message). Errors: none; refusals are messages. Example: CALL job$run_with(''nightly'', ''{"controller": "ana@db1"}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
run: BEGIN
    DECLARE v_slice INT DEFAULT 6;
    DECLARE v_token, v_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_controller VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id, v_run_no, v_life, v_bell BIGINT UNSIGNED;
    DECLARE v_max_age INT DEFAULT {{session_max_age}};
    DECLARE v_action VARCHAR(8) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_call VARCHAR(300) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_wait, v_seconds DECIMAL(20,6);
    DECLARE v_woken INT DEFAULT 0;
    DECLARE v_probed, v_born DATETIME DEFAULT UTC_TIMESTAMP();
    DECLARE v_failed, v_open, v_ran, v_client_gone BOOLEAN DEFAULT FALSE;
    DECLARE v_sent BIGINT;
    DECLARE v_error_code INT UNSIGNED;
    DECLARE v_error_sqlstate CHAR(5) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_error_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_settings, v_settings_now LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_leaked, v_left VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_role VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin DEFAULT CURRENT_ROLE();
    DECLARE v_temporary, v_handles, v_undone BIGINT;
    DECLARE v_clock DECIMAL(20,6);
    DECLARE v_variables LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_stuck BOOLEAN;
    DECLARE v_warning_code_1, v_warning_code_2, v_warning_code_3, v_warning_code_4, v_warning_code_5,
        v_warning_code_6, v_warning_code_7, v_warning_code_8, v_warning_code_9, v_warning_code_10 INT UNSIGNED;
    DECLARE v_warning_1, v_warning_2, v_warning_3, v_warning_4, v_warning_5, v_warning_6, v_warning_7, v_warning_8, v_warning_9, v_warning_10
        VARCHAR(512) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_warnings VARCHAR(4096) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    -- The one outermost handler: on every way out the final state is written, the lock is free and the row is sent.
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        -- Where not even a rollback is possible (an XA transaction left open), the lock goes with the session.
        DECLARE EXIT HANDLER FOR SQLEXCEPTION KILL CONNECTION CONNECTION_ID();
        GET DIAGNOSTICS CONDITION 1 v_error_code = MYSQL_ERRNO, v_message = MESSAGE_TEXT;
        SET v_message = CONCAT('Ended by error ', COALESCE(v_error_code, 0), ': ', COALESCE(v_message, 'no diagnostics'));
        IF v_run_token IS NOT NULL THEN
            CALL job$_release(v_job_id, v_run_token, v_message);
        END IF;
        SELECT in_job_name AS job_name, v_message AS message;
    END;

    IF {{read_only}} THEN
        SELECT in_job_name AS job_name,
            CONCAT('This server (', @@hostname, ':', @@port, ') is read-only; run the job on the writable one') AS message;
        LEAVE run;
    END IF;
    SET v_controller = JSON_UNQUOTE(JSON_EXTRACT(in_options, '$.controller'));
    SET v_life = JSON_UNQUOTE(JSON_EXTRACT(in_options, '$.life')), v_bell = JSON_UNQUOTE(JSON_EXTRACT(in_options, '$.bell'));
    SET v_max_age = COALESCE(JSON_UNQUOTE(JSON_EXTRACT(in_options, '$.session_max_age')), v_max_age);
    -- A body gets the session as it is now each time, whatever the body before did to it.
    CALL job$_session(v_settings);
    CALL job$_traces(v_temporary, v_handles, v_variables);
    CALL job$ticket(v_token);
    CALL job$_acquire(v_token, in_job_name, v_controller, v_life, v_job_id, v_run_token, v_message);
    IF v_run_token IS NULL THEN
        SELECT in_job_name AS job_name, v_message AS message;
        LEAVE run;
    END IF;

    IF v_controller IS NOT NULL THEN
        -- Without a bell, a request of its controller, and the controller's death, must not wait for a long slice.
        SET v_slice = IF(v_life IS NULL, 2, 8);
        SELECT 'STARTED' AS `job$notice`, NULL AS run_no, NULL AS seconds, CONNECTION_ID() AS message;
    END IF;

    cycle: LOOP
        IF v_probed < UTC_TIMESTAMP() - INTERVAL 3 SECOND THEN
            -- Nothing else tells that the client is dead. The error comes just once; when a body has got it, nothing more is sent.
            SET v_probed = UTC_TIMESTAMP();
            BEGIN
                DECLARE EXIT HANDLER FOR 1158, 1159, 1160, 1161 SET v_client_gone = TRUE;
                IF v_ran THEN
                    SELECT variable_value INTO v_sent FROM {{status_schema}}.session_status WHERE variable_name = 'Bytes_sent';
                END IF;
                SELECT in_job_name AS job_name, NULL AS message LIMIT 0;
                IF v_ran THEN
                    SELECT variable_value = v_sent, FALSE INTO v_client_gone, v_ran
                    FROM {{status_schema}}.session_status WHERE variable_name = 'Bytes_sent';
                END IF;
            END;
            IF v_client_gone THEN
                SET v_message = 'Ended because its client is gone';
                LEAVE cycle;
            END IF;
        END IF;
        IF v_controller IS NOT NULL AND v_born < UTC_TIMESTAMP() - INTERVAL v_max_age SECOND THEN
            -- A session keeps the rights it logged in with, and on MariaDB the bodies that it loaded.
            SET v_message = 'Ended to renew the session, which was old';
            SELECT 'RETIRED' AS `job$notice`, NULL AS run_no, NULL AS seconds, NULL AS message;
            LEAVE cycle;
        END IF;
        CALL job$_step(v_job_id, v_run_token, v_life, v_action, v_wait, v_run_no, v_call, v_message);
        CASE v_action
        WHEN 'WAIT' THEN
            -- A sleep can return early, and at 5 s it does so for ever once the client is dead: the step looks at the clock.
            BEGIN
                DECLARE CONTINUE HANDLER FOR 1317 SET v_woken = 1;
                IF v_life IS NULL THEN
                    SELECT SLEEP(LEAST(v_wait, v_slice)) INTO v_woken;
                ELSE
                    CALL job$_wait(v_job_id, v_life, v_bell, LEAST(v_wait, v_slice), v_woken);
                END IF;
            END;
            IF NOT v_woken <=> 0 THEN
                SET v_message = 'Interrupted while it was waiting';
                LEAVE cycle;
            END IF;
        WHEN 'RUN' THEN
            SET v_ran = TRUE, v_failed = FALSE, v_error_code = NULL, v_error_sqlstate = NULL, v_error_message = NULL;
            SET v_warning_1 = NULL, v_warning_2 = NULL, v_warning_3 = NULL, v_warning_4 = NULL, v_warning_5 = NULL,
                v_warning_6 = NULL, v_warning_7 = NULL, v_warning_8 = NULL, v_warning_9 = NULL, v_warning_10 = NULL;
            SET @`job$call` = v_call;
            BEGIN
                DECLARE EXIT HANDLER FOR SQLEXCEPTION
                BEGIN
                    GET DIAGNOSTICS CONDITION 1
                        v_error_code = MYSQL_ERRNO, v_error_sqlstate = RETURNED_SQLSTATE, v_error_message = MESSAGE_TEXT;
                    SET v_failed = TRUE, v_error_message = COALESCE(v_error_message, 'failed, no diagnostics');
                END;
                PREPARE `job$statement` FROM @`job$call`;
                EXECUTE `job$statement`;
                -- What the body's last statement warned of; on MySQL any other statement in between would clear it.
                BEGIN
                    DECLARE CONTINUE HANDLER FOR 1758 BEGIN END;
                    GET DIAGNOSTICS CONDITION 1 v_warning_1 = MESSAGE_TEXT, v_warning_code_1 = MYSQL_ERRNO;
                    GET DIAGNOSTICS CONDITION 2 v_warning_2 = MESSAGE_TEXT, v_warning_code_2 = MYSQL_ERRNO;
                    GET DIAGNOSTICS CONDITION 3 v_warning_3 = MESSAGE_TEXT, v_warning_code_3 = MYSQL_ERRNO;
                    GET DIAGNOSTICS CONDITION 4 v_warning_4 = MESSAGE_TEXT, v_warning_code_4 = MYSQL_ERRNO;
                    GET DIAGNOSTICS CONDITION 5 v_warning_5 = MESSAGE_TEXT, v_warning_code_5 = MYSQL_ERRNO;
                    GET DIAGNOSTICS CONDITION 6 v_warning_6 = MESSAGE_TEXT, v_warning_code_6 = MYSQL_ERRNO;
                    GET DIAGNOSTICS CONDITION 7 v_warning_7 = MESSAGE_TEXT, v_warning_code_7 = MYSQL_ERRNO;
                    GET DIAGNOSTICS CONDITION 8 v_warning_8 = MESSAGE_TEXT, v_warning_code_8 = MYSQL_ERRNO;
                    GET DIAGNOSTICS CONDITION 9 v_warning_9 = MESSAGE_TEXT, v_warning_code_9 = MYSQL_ERRNO;
                    GET DIAGNOSTICS CONDITION 10 v_warning_10 = MESSAGE_TEXT, v_warning_code_10 = MYSQL_ERRNO;
                END;
            END;
            -- The body's rest is rolled back before anything else: setting autocommit first would commit it.
            SET v_open = FALSE, v_leaked = NULL;
            BEGIN
                DECLARE EXIT HANDLER FOR 1568 SET v_open = TRUE;
                SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            END;
            IF v_open AND @@session.completion_type = 'CHAIN' THEN
                -- A COMMIT that chains opens the next transaction: it counts if an engine has something to undo.
                SELECT variable_value INTO v_undone FROM {{status_schema}}.session_status WHERE variable_name = 'Handler_rollback';
            END IF;
            SET v_clock = @@session.timestamp;
            ROLLBACK AND NO CHAIN NO RELEASE;
            {{mend_gtid_next}}
            IF v_open AND @@session.completion_type = 'CHAIN' THEN
                SELECT variable_value > v_undone INTO v_open
                FROM {{status_schema}}.session_status WHERE variable_name = 'Handler_rollback';
            END IF;
            IF v_open AND NOT v_failed THEN
                SET v_failed = TRUE, v_error_message = 'The job procedure left a transaction open; it was rolled back';
            END IF;
            IF v_clock = @@session.timestamp THEN
                -- A clock that stands still was set; its own next reading is microseconds later.
                SET SESSION timestamp = DEFAULT;
                SET v_leaked = CONCAT_WS(', ', v_leaked, 'timestamp');
            END IF;
            SET v_warnings = NULLIF(LEFT(CONCAT_WS('\n',
                CONCAT(v_warning_code_1, ': ', v_warning_1),
                CONCAT(v_warning_code_2, ': ', v_warning_2),
                CONCAT(v_warning_code_3, ': ', v_warning_3),
                CONCAT(v_warning_code_4, ': ', v_warning_4),
                CONCAT(v_warning_code_5, ': ', v_warning_5),
                CONCAT(v_warning_code_6, ': ', v_warning_6),
                CONCAT(v_warning_code_7, ': ', v_warning_7),
                CONCAT(v_warning_code_8, ': ', v_warning_8),
                CONCAT(v_warning_code_9, ': ', v_warning_9),
                CONCAT(v_warning_code_10, ': ', v_warning_10)), 4096), '');
            SET v_left = NULL, v_stuck = FALSE;
            IF NOT CURRENT_ROLE() <=> v_role THEN
                -- Without its role the account may not even execute the routines below.
                SET @`job$call` = CONCAT('SET ROLE ', CASE
                    WHEN v_role IS NULL OR v_role = 'NONE' THEN 'NONE'
                    WHEN LEFT(v_role, 1) = '`' THEN v_role
                    ELSE CONCAT('`', REPLACE(v_role, '`', '``'), '`')
                END);
                PREPARE `job$statement` FROM @`job$call`;
                EXECUTE `job$statement`;
                SET v_leaked = CONCAT_WS(', ', v_leaked, 'role');
            END IF;
            CALL job$_session(v_settings_now);
            IF v_settings_now <> v_settings THEN
                CALL job$_session_restore(v_settings, v_left);
                SET v_leaked = NULLIF(CONCAT_WS(', ', v_leaked, v_left), '');
            END IF;
            BEGIN
                DECLARE EXIT HANDLER FOR 1100, 1192, 1223, 4145 SET v_stuck = TRUE;
                CALL job$_traces_clear(v_temporary, v_handles, v_variables, v_left);
                SET v_leaked = NULLIF(LEFT(CONCAT_WS(', ', v_leaked, v_left), 1024), '');
                CALL job$_record(v_job_id, v_run_token, v_run_no, v_failed, v_error_code, v_error_sqlstate, v_error_message,
                    v_warnings, v_leaked, v_seconds, v_message);
            END;
            IF v_stuck THEN
                -- Tables locked, or a backup begun, by PREPARE, as MariaDB allows: only the same way out is left.
                CALL job$_unlock();
                SET v_leaked = LEFT(CONCAT_WS(', ', v_leaked, 'table locks'), 1024);
                CALL job$_record(v_job_id, v_run_token, v_run_no, v_failed, v_error_code, v_error_sqlstate, v_error_message,
                    v_warnings, v_leaked, v_seconds, v_message);
            END IF;
            IF v_controller IS NOT NULL THEN
                SELECT IF(v_failed, 'ERROR', 'OK') AS `job$notice`, v_run_no AS run_no, v_seconds AS seconds, v_error_message AS message;
            END IF;
            IF v_message IS NOT NULL THEN
                LEAVE cycle;
            END IF;
            IF v_controller IS NOT NULL AND INSTR(v_leaked, '!') > 0 THEN
                -- Only a new session is clean again, and the controller opens one at once. A plain client goes on, and the row warns.
                SET v_message = CONCAT('Ended to renew the session, in which the body left: ', v_leaked);
                SELECT 'RETIRED' AS `job$notice`, NULL AS run_no, NULL AS seconds, v_leaked AS message;
                LEAVE cycle;
            END IF;
        WHEN 'SKIP' THEN
            IF v_controller IS NOT NULL THEN
                SELECT 'SKIPPED' AS `job$notice`, NULL AS run_no, NULL AS seconds, v_message AS message;
            END IF;
        ELSE
            LEAVE cycle;
        END CASE;
    END LOOP cycle;

    CALL job$_release(v_job_id, v_run_token, v_message);
    SELECT in_job_name AS job_name, v_message AS message;
END
