CREATE PROCEDURE job$_release(
    IN in_job_id BIGINT UNSIGNED,
    IN in_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Ends the runner that in_run_token proves: writes its final state, then releases its lock, the latter also where nothing can be written any more (a server that became read-only, a disk that is full). A runner that was superseded changes nothing; one that only gives its session back, with the message Parked, leaves no event. Errors: 45004 when the session can write nothing any more, and must go. Example: CALL job$_release(v_job_id, v_run_token, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
release_runner: BEGIN
    DECLARE v_token, v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_known, v_epoch, v_open BIGINT UNSIGNED;
    DECLARE v_tries INT DEFAULT 0;
    DECLARE v_error_code INT UNSIGNED;

    ROLLBACK AND NO CHAIN NO RELEASE;
    SELECT COUNT(*), MAX(job_runner_token) INTO v_known, v_token FROM job WHERE job_id = in_job_id;
    IF v_known = 1 AND NOT COALESCE(v_token = SHA2(in_run_token, 256), FALSE) THEN
        LEAVE release_runner;
    END IF;

    again: LOOP
        BEGIN
            DECLARE EXIT HANDLER FOR SQLEXCEPTION
            BEGIN
                GET DIAGNOSTICS CONDITION 1 v_error_code = MYSQL_ERRNO;
                ROLLBACK AND NO CHAIN NO RELEASE;
                SET v_tries = v_tries + 1;
            END;

            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            SELECT MAX(job_runner_token), MAX(job_runner_account), MAX(job_runner_epoch), MAX(job_run_open)
            INTO v_token, v_account, v_epoch, v_open
            FROM job WHERE job_id = in_job_id FOR UPDATE;
            IF v_token = SHA2(in_run_token, 256) THEN
                IF v_open IS NOT NULL THEN
                    CALL job$_lost(in_job_id, v_open, v_account);
                END IF;
                UPDATE job
                SET job_runner_status = NULL,
                    job_runner_reason = NULL,
                    job_runner_message = in_message,
                    job_runner_finish = UTC_TIMESTAMP(6),
                    job_runner_seen = UTC_TIMESTAMP(6),
                    job_runner_token = NULL,
                    job_changed = job_changed
                WHERE job_id = in_job_id;
                IF NOT in_message <=> 'Parked' THEN
                    CALL job$_event(in_job_id, 'RUNNER_STOP', v_account, CAST(v_epoch AS CHAR), NULL, in_message);
                END IF;
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
        IF v_tries >= 10 THEN
            LEAVE again;
        END IF;
    END LOOP again;
    CALL job$_lock_name('job', in_job_id, v_lock_name);
    DO RELEASE_LOCK(v_lock_name);
    IF v_tries >= 10 AND COALESCE(v_error_code, 0) NOT IN (1021, 1114, 1290, 1792, 1836) THEN
        -- The server takes writes, but not from this session: something that the body left holds it.
        CALL job$_fail(45004, CONCAT('job$_release: this session can write nothing any more, error ', COALESCE(v_error_code, 0)));
    END IF;
END
