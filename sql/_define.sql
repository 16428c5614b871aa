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
    DECLARE v_schema, v_procedure, v_every, v_max_failures, v_description, v_replace, v_keep, v_time
        LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_start, v_finish, v_next_1, v_next_2, v_next_3, v_anchor, v_last DATETIME(6);
    DECLARE v_interval DECIMAL(16,6);
    DECLARE v_job_id, v_counter BIGINT UNSIGNED;
    DECLARE v_action VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_from VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_tries INT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_options('job$define', in_options,
        '["schema", "procedure", "every", "start", "finish", "max_failures", "description", "replace", "if_not_exists"]');
    CALL job$_check_name(in_job_name);
    CALL job$_option(in_options, 'schema', v_schema);
    CALL job$_option(in_options, 'procedure', v_procedure);
    CALL job$_option(in_options, 'every', v_every);
    CALL job$_option(in_options, 'start', v_time);
    CALL job$_check_time('start', v_time, v_start);
    CALL job$_option(in_options, 'finish', v_time);
    CALL job$_check_time('finish', v_time, v_finish);
    CALL job$_option(in_options, 'max_failures', v_max_failures);
    CALL job$_option(in_options, 'description', v_description);
    CALL job$_option(in_options, 'replace', v_replace);
    CALL job$_option(in_options, 'if_not_exists', v_keep);

    IF COALESCE(v_schema, '') = '' OR COALESCE(v_procedure, '') = '' OR CHAR_LENGTH(v_schema) > 64 OR CHAR_LENGTH(v_procedure) > 64 THEN
        CALL job$_fail(45002, 'job$define: say which procedure to call, by the options schema and procedure');
    END IF;
    IF v_every IS NULL OR v_every NOT REGEXP '^[0-9]{1,10}([.][0-9]{1,6})?$' THEN
        CALL job$_fail(45002, 'job$define: every must be seconds, such as 300 or 0.5, with at most 6 decimals');
    END IF;
    SET v_interval = v_every;
    IF v_interval NOT BETWEEN 0.1 AND 3155760000 THEN
        CALL job$_fail(45002, 'job$define: every must be between 0.1 seconds and 100 years (3155760000 seconds)');
    END IF;
    IF v_finish < v_start THEN
        CALL job$_fail(45002, 'job$define: finish is before start');
    END IF;
    IF v_finish <= UTC_TIMESTAMP(6) THEN
        CALL job$_fail(45002, 'job$define: finish is in the past');
    END IF;
    IF v_max_failures IS NOT NULL AND v_max_failures NOT REGEXP '^[1-9][0-9]{0,8}$' THEN
        CALL job$_fail(45002, 'job$define: max_failures must be a whole number from 1 to 999999999');
    END IF;
    IF CHAR_LENGTH(v_description) > 1024 THEN
        CALL job$_fail(45002, 'job$define: a description has at most 1024 characters');
    END IF;
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
                INSERT INTO job (
                    job_id, job_owner, job_name, job_description, job_kind, job_procedure_schema, job_procedure_name,
                    job_schedule_start, job_schedule_finish, job_schedule_interval, job_max_failures, job_defined
                ) VALUES (
                    v_job_id, v_owner, in_job_name, v_description, 'PROCEDURE', v_schema, v_procedure,
                    v_start, v_finish, v_interval, v_max_failures, UTC_TIMESTAMP(6)
                );
                CALL job$_event(v_job_id, 'DEFINED', v_account, NULL, LEFT(in_options, 1024), NULL);
            ELSEIF v_replace = 'true' THEN
                SET v_action = 'REPLACED';
                SELECT LEFT(JSON_OBJECT('schema', job_procedure_schema, 'procedure', job_procedure_name, 'every', job_schedule_interval,
                        'start', CAST(job_schedule_start AS CHAR), 'finish', CAST(job_schedule_finish AS CHAR),
                        'max_failures', job_max_failures, 'description', job_description), 1024)
                INTO v_from FROM job WHERE job_id = v_job_id FOR UPDATE;
                UPDATE job
                SET job_description = v_description,
                    job_kind = 'PROCEDURE',
                    job_procedure_schema = v_schema,
                    job_procedure_name = v_procedure,
                    job_schedule_start = v_start,
                    job_schedule_finish = v_finish,
                    job_schedule_interval = v_interval,
                    job_max_failures = v_max_failures
                WHERE job_id = v_job_id;
                CALL job$_event(v_job_id, 'CHANGED', v_account, v_from, LEFT(in_options, 1024), NULL);
            ELSEIF v_keep = 'true' THEN
                SET v_action = 'UNCHANGED';
            ELSE
                CALL job$_fail(45004, 'job$define: you have a job of that name already; use replace or if_not_exists');
            END IF;
            CALL job$_plan(v_job_id);
            SELECT job_next, job_schedule_anchor, job_schedule_finish, job_schedule_interval
            INTO v_next_1, v_anchor, v_finish, v_interval
            FROM job WHERE job_id = v_job_id FOR UPDATE;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;

    CALL job$_grid(v_anchor, v_interval, v_next_1, v_last, v_next_2);
    CALL job$_grid(v_anchor, v_interval, v_next_2, v_last, v_next_3);
    SELECT v_job_id AS job_id, v_action AS action,
        IF(v_next_1 > v_finish, NULL, v_next_1) AS next_1,
        IF(v_next_2 > v_finish, NULL, v_next_2) AS next_2,
        IF(v_next_3 > v_finish, NULL, v_next_3) AS next_3;
END
