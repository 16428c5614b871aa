CREATE PROCEDURE job$_acquire(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_controller VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_life BIGINT UNSIGNED,
    IN in_lot BOOLEAN,
    OUT out_job_id BIGINT UNSIGNED,
    OUT out_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Makes this session the runner of the caller''s job in_job_name: takes its lock, raises its epoch, closes as LOST what a dead predecessor left. in_lot: the job is parked: this session has other jobs too, so it does not wait for a row that somebody has locked (1205), and a runner of the same controller that gave the job back goes on. out_run_token: what the runner proves itself with from now on; NULL when refused, and then out_message says why and nothing was changed. Errors: those of the server. Example: CALL job$_acquire(v_token, ''nightly'', NULL, NULL, FALSE, v_job_id, v_run_token, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
acquire: BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_lock_name, v_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_lock INT DEFAULT 0;
    DECLARE v_tries INT DEFAULT 0;
    DECLARE v_epoch, v_open BIGINT UNSIGNED;
    DECLARE v_sleeps, v_continues, v_free BOOLEAN;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        IF v_lock = 1 THEN
            DO RELEASE_LOCK(v_lock_name);
        END IF;
        RESIGNAL;
    END;

    SET out_job_id = NULL, out_run_token = NULL;
    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_refusal(v_owner, in_job_name, out_job_id, out_message);
    IF out_message IS NOT NULL THEN
        LEAVE acquire;
    END IF;

    CALL job$_lock_name('job', out_job_id, v_lock_name);
    IF IS_USED_LOCK(v_lock_name) = CONNECTION_ID() THEN
        SET out_message = 'This very session holds the lock of the job, from a call that was interrupted or is still going on; use another session';
        LEAVE acquire;
    END IF;
    SET v_lock = GET_LOCK(v_lock_name, 0);
    IF v_lock IS NULL THEN
        SET out_message = 'The server could not give the lock of the job: GET_LOCK failed';
        LEAVE acquire;
    ELSEIF v_lock = 0 THEN
        CALL job$_holder(out_job_id, v_lock_name, out_message);
        LEAVE acquire;
    END IF;

    CALL job$_in_progress(out_job_id, out_message);
    IF out_message IS NOT NULL THEN
        DO RELEASE_LOCK(v_lock_name);
        LEAVE acquire;
    END IF;

    CALL job$token(v_run_token);
    takeover: LOOP
        BEGIN
            DECLARE EXIT HANDLER FOR 1213, 1205, 1020
            BEGIN
                ROLLBACK AND NO CHAIN NO RELEASE;
                SET v_tries = v_tries + 1;
                IF in_lot OR v_tries >= 10 THEN
                    RESIGNAL;
                END IF;
            END;

            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            IF in_lot THEN
                SELECT COUNT(*) INTO v_free FROM job WHERE job_id = out_job_id FOR UPDATE SKIP LOCKED;
                IF NOT v_free THEN
                    CALL job$_fail(1205, 'job$park: somebody has locked the row of the job');
                END IF;
            END IF;
            -- Mostly it sleeps, and then its first step has nothing to write.
            SELECT job_runner_epoch + 1, job_run_open,
                   job_status = 'ENABLED' AND COALESCE(job_schedule_start <= UTC_TIMESTAMP(6), TRUE),
                   in_lot AND job_runner_message <=> 'Parked' AND job_runner_controller <=> in_controller AND job_runner_life <=> in_life
            INTO v_epoch, v_open, v_sleeps, v_continues
            FROM job WHERE job_id = out_job_id FOR UPDATE;
            IF v_open IS NOT NULL THEN
                CALL job$_lost(out_job_id, v_open, v_account);
            END IF;
            CALL job$_plan(out_job_id);
            UPDATE job
            SET job_runner_epoch = v_epoch,
                job_runner_token = SHA2(v_run_token, 256),
                job_runner_connection_id = CONNECTION_ID(),
                job_runner_lot = IF(in_lot, CONNECTION_ID(), NULL),
                job_runner_account = v_account,
                job_runner_host = SUBSTRING_INDEX(USER(), '@', -1),
                job_runner_server = {{server_identity}},
                job_runner_server_id = @@server_id,
                job_runner_server_name = CONCAT(@@hostname, ':', @@port),
                job_runner_controller = in_controller,
                job_runner_life = in_life,
                job_runner_version = {{version}},
                job_runner_status = IF(v_sleeps, 'SLEEPING', 'WAITING'),
                job_runner_reason = IF(v_sleeps, NULL, 'starting'),
                job_runner_message = NULL,
                job_runner_start = IF(v_continues, job_runner_start, UTC_TIMESTAMP(6)),
                job_runner_finish = NULL,
                job_runner_seen = UTC_TIMESTAMP(6),
                job_runner_cycles = IF(v_continues, job_runner_cycles, 0),
                job_runner_last_cycle_start = IF(v_continues, job_runner_last_cycle_start, NULL),
                job_runner_last_cycle_finish = IF(v_continues, job_runner_last_cycle_finish, NULL),
                job_changed = job_changed
            WHERE job_id = out_job_id;
            IF NOT v_continues THEN
                CALL job$_event(out_job_id, 'RUNNER_START', v_account, NULL, CAST(v_epoch AS CHAR), in_controller);
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE takeover;
        END;
    END LOOP takeover;
    SET out_run_token = v_run_token;
END
