CREATE PROCEDURE job$_stop(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$stop that writes; in_token: the ticket. Errors: 45002, 45003 no such job. Example: none, call job$stop'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_reason, v_text LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id, v_connection, v_epoch, v_stop_epoch BIGINT UNSIGNED;
    DECLARE v_tries INT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_options('job$stop', in_options, '["reason", "connection_id"]');
    CALL job$_option(in_options, 'reason', v_reason);
    SET v_reason = COALESCE(v_reason, 'SHUTDOWN');
    CALL job$_option(in_options, 'connection_id', v_text);
    IF v_reason NOT IN ('SHUTDOWN', 'RENEW', 'UPGRADE') THEN
        CALL job$_fail(45002, 'job$stop: reason must be SHUTDOWN, RENEW or UPGRADE');
    END IF;
    IF v_text IS NOT NULL AND v_text NOT REGEXP '^[0-9]{1,19}$' THEN
        CALL job$_fail(45002, 'job$stop: connection_id must be a whole number');
    END IF;
    SET v_connection = v_text;
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
            CALL job$_find(v_owner, in_job_name, 'job$stop', v_job_id);
            SELECT job_runner_epoch, job_stop_epoch INTO v_epoch, v_stop_epoch
            FROM job WHERE job_id = v_job_id FOR UPDATE;
            IF v_stop_epoch < v_epoch
                AND EXISTS (
                    SELECT 1 FROM job
                    WHERE job_id = v_job_id AND job_runner_token IS NOT NULL
                      AND (v_connection IS NULL OR job_runner_connection_id = v_connection)
                )
            THEN
                UPDATE job SET job_stop_epoch = v_epoch, job_stop_reason = v_reason WHERE job_id = v_job_id;
                CALL job$_event(v_job_id, 'STOP', v_account, NULL, v_reason, NULL);
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;
    IF v_stop_epoch < v_epoch THEN
        CALL job$_wake(v_owner);
    END IF;
END
