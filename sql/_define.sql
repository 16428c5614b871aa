CREATE PROCEDURE job$_define(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$define that checks values and writes; in_token: the ticket. Errors: 45002 wrong definition, 45004 refused. Example: none, call job$define'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
define: BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_replace, v_keep, v_before LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_next_1, v_next_2, v_next_3 DATETIME(6);
    DECLARE v_job_id, v_counter BIGINT UNSIGNED;
    DECLARE v_action VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_tries INT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_options('job$define', in_options,
        '["schema", "procedure", "every", "start", "finish", "max_failures", "timeout", "on_lost", "description", "replace", "if_not_exists"]');
    CALL job$_check_name('job$define', in_job_name);
    CALL job$_option(in_options, 'replace', v_replace);
    CALL job$_option(in_options, 'if_not_exists', v_keep);
    IF COALESCE(v_replace, 'false') NOT IN ('true', 'false') OR COALESCE(v_keep, 'false') NOT IN ('true', 'false')
        OR (v_replace = 'true' AND v_keep = 'true')
    THEN
        CALL job$_fail(45002, 'job$define: replace and if_not_exists are true or false, and not both true');
    END IF;

    again: LOOP
        BEGIN
            -- 1062: somebody defined the same name in the same moment; look again.
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
            -- The id comes from a counter of our own: whoever calls may have set insert_id in this session.
            SELECT CAST(setting_value AS UNSIGNED) INTO v_counter FROM job_setting WHERE setting_name = 'job_counter' FOR UPDATE;
            SELECT MAX(job_id) INTO v_job_id FROM job WHERE job_owner = v_owner AND job_name = in_job_name FOR UPDATE;
            IF v_job_id IS NULL THEN
                SET v_action = 'CREATED';
                SELECT GREATEST(v_counter, COALESCE(MAX(job_id), 0)) + 1 INTO v_job_id FROM job;
                UPDATE job_setting SET setting_value = v_job_id WHERE setting_name = 'job_counter';
                INSERT INTO job (job_id, job_owner, job_name, job_procedure_schema, job_procedure_name, job_defined)
                VALUES (v_job_id, v_owner, in_job_name, '', '', UTC_TIMESTAMP(6));
                CALL job$_write('job$define', v_job_id, in_options, TRUE);
                CALL job$_event(v_job_id, 'DEFINED', v_account, NULL, LEFT(in_options, 1024), NULL);
            ELSEIF v_replace = 'true' THEN
                SET v_action = 'REPLACED';
                CALL job$_definition(v_job_id, v_before);
                CALL job$_write('job$define', v_job_id, in_options, TRUE);
                CALL job$_event(v_job_id, 'CHANGED', v_account, LEFT(v_before, 1024), LEFT(in_options, 1024), NULL);
            ELSEIF v_keep = 'true' THEN
                SET v_action = 'UNCHANGED';
            ELSE
                CALL job$_fail(45004, 'job$define: you have a job of that name already; use replace or if_not_exists');
            END IF;
            CALL job$_plan(v_job_id);
            CALL job$_forecast(v_job_id, v_next_1, v_next_2, v_next_3);
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;
    CALL job$_wake(v_owner);
    SELECT v_job_id AS job_id, v_action AS action, v_next_1 AS next_1, v_next_2 AS next_2, v_next_3 AS next_3;
END
