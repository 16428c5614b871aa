CREATE PROCEDURE job$run_with(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The runner: what job$run does, with options as one JSON document: controller (the name of the jobctl process that keeps this runner alive), life and bell (its life lock and the first bell of this runner, from job$controller and job$ring), session_max_age (seconds, {{session_max_age}} by default), park (seconds: a job that is not due within them is given back, with the message Parked), lot (job_id and token, from job$park: the job is parked there and taken over from it). Under a controller a row (job$notice, run_no, seconds, message) is sent for each thing that happens: STARTED, OK, ERROR, SKIPPED, RETIRED, PARKED, UNPARKED (the lot is to let go of the lock: job$_hand_over). Result sets of the job procedure pass through; an empty one is sent now and then while waiting, which tells whether the client still listens; the last one is the row (job_name, message). Errors: none; refusals are messages. Example: CALL job$run_with(''nightly'', ''{"controller": "ana@db1"}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
run: BEGIN
    DECLARE v_token, v_lot, v_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_controller, v_call, v_message, v_leaked, v_action VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_settings, v_variables LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id, v_run_no, v_life, v_bell BIGINT UNSIGNED;
    DECLARE v_temporary, v_handles BIGINT;
    DECLARE v_max_age, v_error_code, v_woken INT;
    DECLARE v_wait DECIMAL(20,6) DEFAULT 0;
    DECLARE v_park DECIMAL(20,6);
    DECLARE v_next DATETIME(6);
    DECLARE v_probed, v_born, v_search DATETIME DEFAULT UTC_TIMESTAMP();
    DECLARE v_ran, v_client_gone BOOLEAN DEFAULT FALSE;
    DECLARE v_role VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin DEFAULT CURRENT_ROLE();

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
    SELECT JSON_UNQUOTE(JSON_EXTRACT(in_options, '$.controller')), JSON_UNQUOTE(JSON_EXTRACT(in_options, '$.life')),
           JSON_UNQUOTE(JSON_EXTRACT(in_options, '$.bell')),
           COALESCE(JSON_UNQUOTE(JSON_EXTRACT(in_options, '$.session_max_age')), {{session_max_age}}),
           JSON_UNQUOTE(JSON_EXTRACT(in_options, '$.park')),
           JSON_UNQUOTE(JSON_EXTRACT(in_options, '$.lot.job_id')), JSON_UNQUOTE(JSON_EXTRACT(in_options, '$.lot.token'))
    INTO v_controller, v_life, v_bell, v_max_age, v_park, v_job_id, v_lot;
    IF v_lot IS NULL THEN
        CALL job$ticket(v_token);
        CALL job$_acquire(v_token, in_job_name, v_controller, v_life, FALSE, v_job_id, v_run_token, v_message);
    ELSE
        CALL job$_unpark(v_job_id, v_lot, v_life, v_run_token, v_message);
        IF v_run_token IS NOT NULL THEN
            SELECT 'UNPARKED' AS `job$notice`, NULL AS run_no, NULL AS seconds, NULL AS message;
            CALL job$_receive(v_job_id, v_run_token, v_message);
            IF v_message IS NOT NULL THEN
                CALL job$_release(v_job_id, v_run_token, v_message);
                SET v_run_token = NULL;
            END IF;
        END IF;
    END IF;
    IF v_run_token IS NULL THEN
        SELECT in_job_name AS job_name, v_message AS message;
        LEAVE run;
    END IF;
    IF v_controller IS NOT NULL THEN
        SELECT 'STARTED' AS `job$notice`, NULL AS run_no, NULL AS seconds, CONNECTION_ID() AS message;
    END IF;

    -- A body gets the session as it is now each time, whatever the body before did to it.
    CALL job$_session(v_settings);
    CALL job$_traces(v_temporary, v_handles, v_variables);
    cycle: LOOP
        IF v_probed < UTC_TIMESTAMP() - INTERVAL 3 SECOND THEN
            -- Nothing else tells that the client is dead; a wait for a bell ends at once then.
            CALL job$_probe(v_ran, v_client_gone);
            SET v_probed = UTC_TIMESTAMP(), v_ran = FALSE;
            IF v_client_gone THEN
                SET v_message = 'Ended because its client is gone';
                LEAVE cycle;
            END IF;
        END IF;
        -- A session keeps the rights it logged in with, and on MariaDB the bodies that it loaded: a new one is to be there for the
        -- next run, but not before that one is near.
        IF v_controller IS NOT NULL AND v_wait < 90 AND v_born < UTC_TIMESTAMP() - INTERVAL v_max_age SECOND THEN
            SET v_message = 'Ended to renew the session, which was old';
            SELECT 'RETIRED' AS `job$notice`, NULL AS run_no, NULL AS seconds, NULL AS message;
            LEAVE cycle;
        END IF;
        IF v_next > UTC_TIMESTAMP(6) THEN
            SET v_action = 'WAIT', v_wait = TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), v_next) * 0.000001, v_next = NULL;
        ELSE
            CALL job$_step(v_job_id, v_run_token, v_life, v_action, v_wait, v_run_no, v_call, v_message);
        END IF;
        IF v_action = 'WAIT' THEN
            IF v_park < v_wait OR (v_park IS NOT NULL AND v_message = 'PAUSED') THEN
                SET v_message = 'Parked';
                SELECT 'PARKED' AS `job$notice`, NULL AS run_no, NULL AS seconds, NULL AS message;
                LEAVE cycle;
            END IF;
            -- A sleep can return early, and at 5 s it does so for ever once the client is dead: the step looks at the clock.
            BEGIN
                DECLARE CONTINUE HANDLER FOR 1317 SET v_woken = 1;
                IF v_life IS NULL THEN
                    -- Without a bell, a request must not wait for a long slice.
                    SELECT SLEEP(LEAST(v_wait, IF(v_controller IS NULL, 6, 2))) INTO v_woken;
                ELSE
                    CALL job$_wait(v_job_id, v_life, v_bell, LEAST(v_wait, 60), v_woken);
                END IF;
            END;
            IF NOT v_woken <=> 0 THEN
                SET v_message = 'Interrupted while it was waiting';
                LEAVE cycle;
            END IF;
        ELSEIF v_action = 'END' THEN
            LEAVE cycle;
        ELSE
            IF v_controller IS NOT NULL AND v_message IS NOT NULL THEN
                -- A run that is claimed takes place, also when the client is dead.
                BEGIN
                    DECLARE CONTINUE HANDLER FOR 1158, 1159, 1160, 1161 SET v_client_gone = TRUE;
                    SELECT 'SKIPPED' AS `job$notice`, NULL AS run_no, NULL AS seconds, v_message AS message;
                END;
            END IF;
            IF v_action = 'RUN' THEN
                SET v_ran = TRUE;
                CALL job$_execute(v_job_id, v_run_token, v_run_no, v_call, v_controller IS NOT NULL, v_role,
                    v_settings, v_variables, v_temporary, v_handles, v_search, v_leaked, v_next, v_message);
                IF v_message IS NOT NULL THEN
                    LEAVE cycle;
                ELSEIF v_controller IS NOT NULL AND INSTR(v_leaked, '!') > 0 THEN
                    -- Only a new session is clean again, and the controller opens one at once. A plain client goes on, and the row warns.
                    SET v_message = CONCAT('Ended to renew the session, in which the body left: ', v_leaked);
                    SELECT 'RETIRED' AS `job$notice`, NULL AS run_no, NULL AS seconds, v_leaked AS message;
                    LEAVE cycle;
                END IF;
            END IF;
            IF v_client_gone THEN
                SET v_message = 'Ended because its client is gone';
                LEAVE cycle;
            END IF;
        END IF;
    END LOOP cycle;

    CALL job$_release(v_job_id, v_run_token, v_message);
    SELECT in_job_name AS job_name, v_message AS message;
END
