CREATE PROCEDURE job$_switch(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_on BOOLEAN,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Sets or lifts the switch of the caller''s jobs, for job$pause_all and job$resume_all; in_token: the ticket. In one transaction, all rows of the owner locked in the order of their ids: the span that ends is recorded for each job. Errors: 45002. Example: none, call job$pause_all'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_reason LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id BIGINT UNSIGNED;
    DECLARE v_is_on BOOLEAN;
    DECLARE v_tries INT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_options(IF(in_on, 'job$pause_all', 'job$resume_all'), in_options, '["reason"]');
    CALL job$_option(in_options, 'reason', v_reason);
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
            SELECT COUNT(*) INTO v_is_on FROM job_switch WHERE switch_owner = v_owner FOR UPDATE;
            IF v_is_on <> in_on THEN
                SELECT MIN(job_id) INTO v_job_id FROM job WHERE job_owner = v_owner AND job_status IN ('ENABLED', 'RESUMED');
                WHILE v_job_id IS NOT NULL DO
                    CALL job$_close_span(v_job_id, v_account);
                    UPDATE job
                    SET job_runner_status = IF(NOT in_on AND job_runner_status = 'PAUSED', 'SLEEPING', job_runner_status),
                        job_changed = job_changed
                    WHERE job_id = v_job_id;
                    CALL job$_event(v_job_id, 'SWITCH', v_account, IF(in_on, NULL, 'PAUSED'), IF(in_on, 'PAUSED', NULL), LEFT(v_reason, 1024));
                    SELECT MIN(job_id) INTO v_job_id
                    FROM job
                    WHERE job_owner = v_owner AND job_status IN ('ENABLED', 'RESUMED') AND job_id > v_job_id;
                END WHILE;
                IF in_on THEN
                    INSERT INTO job_switch (switch_owner, switch_at, switch_by, switch_reason)
                    VALUES (v_owner, UTC_TIMESTAMP(6), v_account, LEFT(v_reason, 1024));
                ELSE
                    DELETE FROM job_switch WHERE switch_owner = v_owner;
                END IF;
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;
    CALL job$_wake(v_owner);
    SELECT v_is_on <> in_on AS changed,
        CASE WHEN v_is_on = in_on THEN IF(in_on, 'They were paused already', 'They were not paused') END AS message;
END
