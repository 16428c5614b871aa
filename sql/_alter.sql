CREATE PROCEDURE job$_alter(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$alter that checks values and writes; in_token: the ticket. Errors: 45002 wrong definition, 45003 no such job, 45004 the new name is taken. Example: none, call job$alter'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_rename, v_before, v_after LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id BIGINT UNSIGNED;
    DECLARE v_status VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_next_1, v_next_2, v_next_3 DATETIME(6);
    DECLARE v_tries INT DEFAULT 0;
    DECLARE v_known LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
        DEFAULT '["schema", "procedure", "every", "start", "finish", "max_failures", "timeout", "on_lost", "description", "rename"]';

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_options('job$alter', in_options, v_known);
    IF COALESCE(JSON_LENGTH(in_options), 0) = 0 THEN
        CALL job$_fail(45002, 'job$alter: the options name nothing to change');
    END IF;
    CALL job$_option(in_options, 'rename', v_rename);
    IF JSON_CONTAINS_PATH(in_options, 'one', '$.rename') THEN
        CALL job$_check_name('job$alter', v_rename);
    END IF;
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
            DECLARE EXIT HANDLER FOR 1062 CALL job$_fail(45004, 'job$alter: you have a job of the new name already');

            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            CALL job$_find(v_owner, in_job_name, 'job$alter', v_job_id);
            CALL job$_definition(v_job_id, v_before);
            SET v_after = JSON_REMOVE(JSON_MERGE_PATCH(v_before, in_options), '$.rename');
            CALL job$_write('job$alter', v_job_id, v_after, COALESCE(JSON_CONTAINS_PATH(in_options, 'one', '$.finish'), FALSE));
            IF v_rename IS NOT NULL THEN
                UPDATE job SET job_name = v_rename WHERE job_id = v_job_id;
            END IF;
            CALL job$_event(v_job_id, 'CHANGED', v_account, LEFT(v_before, 1024), LEFT(in_options, 1024), NULL);
            CALL job$_plan(v_job_id);
            CALL job$_forecast(v_job_id, v_next_1, v_next_2, v_next_3);
            SELECT job_status INTO v_status FROM job WHERE job_id = v_job_id FOR UPDATE;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;
    CALL job$_wake(v_owner);
    SELECT v_job_id AS job_id, v_status AS job_status, v_next_1 AS next_1, v_next_2 AS next_2, v_next_3 AS next_3;
END
