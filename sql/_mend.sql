CREATE PROCEDURE job$_mend(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$mend that writes, under the lock of the job; in_token: the ticket. Errors: 45003, 45004. Example: none, call job$mend'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id, v_open BIGINT UNSIGNED;
    DECLARE v_claims, v_locked BOOLEAN DEFAULT FALSE;
    DECLARE v_tries INT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        IF v_locked THEN
            DO RELEASE_LOCK(v_lock_name);
        END IF;
        RESIGNAL;
    END;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_find(v_owner, in_job_name, 'job$mend', v_job_id);
    CALL job$_lock_name('job', v_job_id, v_lock_name);
    IF EXISTS (SELECT 1 FROM job WHERE job_id = v_job_id AND job_runner_token IS NOT NULL AND job_runner_server <> {{server_identity}}) THEN
        CALL job$_fail(45004, 'job$mend: the row tells of a runner on another server, and only that one knows better');
    ELSEIF IS_USED_LOCK(v_lock_name) IS NOT NULL OR NOT GET_LOCK(v_lock_name, 0) <=> 1 THEN
        CALL job$_fail(45004, 'job$mend: a runner lives, or somebody holds the lock of the job');
    END IF;
    SET v_locked = TRUE;
    CALL job$_in_progress(v_job_id, v_message);
    IF v_message IS NOT NULL THEN
        CALL job$_fail(45004, CONCAT('job$mend: ', v_message));
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
            SELECT job_run_open, job_runner_token IS NOT NULL OR job_runner_status IS NOT NULL INTO v_open, v_claims
            FROM job WHERE job_id = v_job_id FOR UPDATE;
            IF v_open IS NOT NULL THEN
                CALL job$_lost(v_job_id, v_open, v_account);
            END IF;
            IF v_claims THEN
                UPDATE job
                SET job_runner_status = NULL, job_runner_reason = NULL, job_runner_token = NULL,
                    job_runner_message = 'It was gone, and its row was put right', job_runner_finish = UTC_TIMESTAMP(6),
                    job_changed = job_changed
                WHERE job_id = v_job_id;
                CALL job$_event(v_job_id, 'MENDED', v_account, NULL, NULL, 'The row told of a runner that was gone');
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;
    DO RELEASE_LOCK(v_lock_name);
    SELECT v_open IS NOT NULL OR v_claims AS mended;
END
