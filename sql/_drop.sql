CREATE PROCEDURE job$_drop(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$drop that writes; in_token: the ticket. Holds the job''s lock meanwhile, so no runner starts. Errors: 45002, 45003 no such job, 45004 it runs. Example: none, call job$drop'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id, v_open BIGINT UNSIGNED;
    DECLARE v_purge BOOLEAN;
    DECLARE v_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_status VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_locked INT DEFAULT 0;
    DECLARE v_tries INT DEFAULT 0;
    DECLARE v_purged BIGINT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        IF v_locked = 1 THEN
            DO RELEASE_LOCK(v_lock_name);
        END IF;
        RESIGNAL;
    END;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_options('job$drop', in_options, '["purge_history"]');
    SET v_purge = COALESCE(JSON_EXTRACT(in_options, '$.purge_history') = TRUE, FALSE);
    CALL job$_find(v_owner, in_job_name, 'job$drop', v_job_id);
    CALL job$_lock_name('job', v_job_id, v_lock_name);
    IF IS_USED_LOCK(v_lock_name) IS NULL THEN
        SET v_locked = COALESCE(GET_LOCK(v_lock_name, 0), 0);
    END IF;
    IF v_locked <> 1 THEN
        CALL job$_holder(v_job_id, v_lock_name, v_message);
        CALL job$_fail(45004, CONCAT('job$drop: ', v_message));
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

            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            SELECT job_run_open, job_status INTO v_open, v_status FROM job WHERE job_id = v_job_id FOR UPDATE;
            IF v_open IS NOT NULL THEN
                CALL job$_lost(v_job_id, v_open, v_account);
            END IF;
            CALL job$_event(v_job_id, 'DROPPED', v_account, v_status, NULL, NULL);
            DELETE FROM job WHERE job_id = v_job_id;
            DELETE FROM job_progress WHERE job_id = v_job_id;
            IF v_purge THEN
                DELETE FROM job_event WHERE job_id = v_job_id;
                DELETE FROM job_run WHERE job_id = v_job_id;
                SET v_purged = ROW_COUNT();
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;
    DO RELEASE_LOCK(v_lock_name);
    CALL job$_wake(v_owner);
    SELECT v_job_id AS job_id, v_purged AS runs_purged;
END
