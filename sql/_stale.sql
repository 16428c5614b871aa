CREATE PROCEDURE job$_stale(
    IN in_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_name VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_by VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Writes off a controller that shows no sign of life any more, and asks its runners to end after their present cycle; those that only wait are ended at once, and with one that is parked all that are parked with it. A run that is in progress is never killed. Errors: those of the server. Example: CALL job$_stale(v_owner, v_name, v_account)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_job_id, v_connection, v_lot, v_holder BIGINT UNSIGNED;
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_tries INT DEFAULT 0;
    DECLARE v_runs BOOLEAN;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    each_job: LOOP
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
            SELECT MIN(job_id) INTO v_job_id
            FROM job
            WHERE job_owner = in_owner AND job_runner_controller = in_name AND job_runner_token IS NOT NULL
              AND job_stop_epoch < job_runner_epoch;
            IF v_job_id IS NULL THEN
                CALL job$_in_turn();
                UPDATE job_controller
                SET controller_finish = UTC_TIMESTAMP(6)
                WHERE controller_owner = in_owner AND controller_name = in_name AND controller_finish IS NULL;
                CALL job$_event(0, 'CONTROLLER_STALE', in_by, in_name, NULL, 'It showed no sign of life for as long as its time to live');
                COMMIT AND NO CHAIN NO RELEASE;
                LEAVE each_job;
            END IF;
            SELECT job_runner_status = 'RUNNING', IF(job_runner_server = {{server_identity}}, job_runner_connection_id, NULL), job_runner_lot
            INTO v_runs, v_connection, v_lot
            FROM job WHERE job_id = v_job_id FOR UPDATE;
            UPDATE job SET job_stop_epoch = job_runner_epoch, job_stop_reason = 'STALE' WHERE job_id = v_job_id;
            CALL job$_event(v_job_id, 'STOP', in_by, NULL, 'STALE', CONCAT('Its controller ', in_name, ' shows no sign of life'));
            COMMIT AND NO CHAIN NO RELEASE;
        END;
        IF v_job_id IS NOT NULL AND NOT v_runs THEN
            -- It cannot claim any more, whatever it wakes up by: its next step reads what was just committed.
            CALL job$_lock_name('job', v_job_id, v_lock_name);
            BEGIN
                DECLARE CONTINUE HANDLER FOR 1094, 1095, 1227 BEGIN END;
                SET v_holder = IS_USED_LOCK(v_lock_name);
                IF v_holder = v_connection OR (v_connection IS NOT NULL AND v_holder = v_lot) THEN
                    KILL CONNECTION v_holder;
                END IF;
            END;
        END IF;
    END LOOP each_job;
END
