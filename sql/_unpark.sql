CREATE PROCEDURE job$_unpark(
    IN in_job_id BIGINT UNSIGNED,
    IN in_lot_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_life BIGINT UNSIGNED,
    OUT out_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Makes this session the runner of a parked job, which in_lot_token proves: raises its epoch, so that the lot has no say in it any more. The lock follows, by job$_hand_over there and job$_receive here. A request that the parked runner ends holds for this one too. out_run_token: what the runner proves itself with from now on; NULL when refused, and then out_message says why. Errors: those of the server. Example: CALL job$_unpark(v_job_id, v_lot_token, v_life, v_run_token, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
unpark: BEGIN
    DECLARE v_token, v_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_life, v_epoch, v_stop_epoch BIGINT UNSIGNED;
    DECLARE v_parked BOOLEAN;
    DECLARE v_tries INT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    SET out_run_token = NULL, out_message = NULL;
    CALL job$token(v_run_token);
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
            SELECT MAX(job_runner_token), MAX(job_runner_life), MAX(job_runner_epoch), MAX(job_stop_epoch),
                   MAX(job_runner_lot) = MAX(job_runner_connection_id) AND MAX(job_runner_server) = {{server_identity}}
            INTO v_token, v_life, v_epoch, v_stop_epoch, v_parked
            FROM job WHERE job_id = in_job_id FOR UPDATE;
            IF NOT COALESCE(v_token = SHA2(in_lot_token, 256) AND v_life = in_life AND v_parked, FALSE) THEN
                SET out_message = 'The job is not parked there any more';
                COMMIT AND NO CHAIN NO RELEASE;
                LEAVE unpark;
            END IF;
            UPDATE job
            SET job_runner_epoch = v_epoch + 1,
                job_stop_epoch = IF(v_stop_epoch >= v_epoch, v_epoch + 1, v_stop_epoch),
                job_runner_token = SHA2(v_run_token, 256),
                job_runner_connection_id = CONNECTION_ID(),
                job_runner_host = SUBSTRING_INDEX(USER(), '@', -1),
                job_runner_seen = UTC_TIMESTAMP(6),
                job_changed = job_changed
            WHERE job_id = in_job_id;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;
    SET out_run_token = v_run_token;
END
