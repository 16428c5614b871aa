CREATE PROCEDURE job$_step(
    IN in_job_id BIGINT UNSIGNED,
    IN in_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_life BIGINT UNSIGNED,
    OUT out_action VARCHAR(8) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_wait DECIMAL(20,6),
    OUT out_run_no BIGINT UNSIGNED,
    OUT out_call VARCHAR(300) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Decides what the runner does next. in_life: number of the life lock of the runner''s controller, NULL without one. out_action: WAIT (out_wait seconds at most, then ask again; out_message PAUSED: only as long as nobody resumes it), RUN (the occurrence is claimed as out_run_no; execute out_call, then record; out_message, if any, says what was skipped before it), SKIP (out_message says what was skipped; ask again) or END (out_message says why). Here is only the plain case, in few statements, as each costs time between due and started, and memory of each waiting session on MySQL: nothing is asked, nothing was missed. All else is left to job$_decide, which would decide the same here. Errors: those of the server. Example: CALL job$_step(v_job_id, v_run_token, NULL, v_action, v_wait, v_run_no, v_call, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_now, v_next, v_after DATETIME(6);
    DECLARE v_plain BOOLEAN;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        CALL job$_decide(in_job_id, in_run_token, in_life, FALSE, out_action, out_wait, out_run_no, out_call, out_message);
    END;

    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
    START TRANSACTION READ WRITE;
    SELECT job_runner_token = SHA2(in_run_token, 256) AND job_stop_epoch < job_runner_epoch
               AND job_status = 'ENABLED' AND job_runner_status = 'SLEEPING' AND job_runner_reason IS NULL
               AND job_retry_for IS NULL AND COALESCE(job_schedule_start <= UTC_TIMESTAMP(6), TRUE)
               AND job_schedule_start <=> job_next_start AND job_schedule_interval <=> job_next_interval
               AND TIMESTAMPDIFF(MICROSECOND, job_schedule_anchor, job_next) MOD CAST(COALESCE(job_schedule_interval, 1) * 1000000 AS SIGNED) = 0
               AND job_next <= COALESCE(job_schedule_finish, job_next)
               -- Under a controller that one shows a sign of life.
               AND (in_life IS NOT NULL OR job_runner_seen > UTC_TIMESTAMP(6) - INTERVAL 20 SECOND),
           job_next,
           job_next + INTERVAL CAST(job_schedule_interval * 1000000 AS SIGNED) MICROSECOND,
           job_run_counter + 1,
           CONCAT('CALL `', REPLACE(job_procedure_schema, '`', '``'), '`.`', REPLACE(job_procedure_name, '`', '``'), '`()')
    INTO v_plain, v_next, v_after, out_run_no, out_call
    FROM job
    WHERE job_id = in_job_id
    FOR UPDATE;
    -- Only now: the row may have been locked for a while, by whoever asks for something.
    SELECT v_plain AND NOT {{read_only}}
               AND NOT EXISTS (SELECT 1 FROM job_setting WHERE setting_name = 'hold')
               AND NOT EXISTS (SELECT 1 FROM job_switch AS w JOIN job AS j ON w.switch_owner IN ('', j.job_owner) WHERE j.job_id = in_job_id)
               AND (in_life IS NULL OR IS_USED_LOCK(SHA2(CONCAT(setting_value, ':', {{schema}}, ':life:', in_life), 256)) IS NOT NULL),
           UTC_TIMESTAMP(6)
    INTO v_plain, v_now
    FROM job_setting
    WHERE setting_name = 'secret';
    IF v_plain AND v_next > v_now THEN
        COMMIT AND NO CHAIN NO RELEASE;
        SELECT 'WAIT', TIMESTAMPDIFF(MICROSECOND, v_now, v_next) * 0.000001, NULL, NULL, NULL
        INTO out_action, out_wait, out_run_no, out_call, out_message;
    ELSEIF v_plain AND COALESCE(v_after > v_now, TRUE) THEN
        CALL job$_claim(in_job_id, v_next, 1, v_after, out_run_no);
        COMMIT AND NO CHAIN NO RELEASE;
        SELECT 'RUN', 0, NULL INTO out_action, out_wait, out_message;
    ELSE
        ROLLBACK AND NO CHAIN NO RELEASE;
        CALL job$_decide(in_job_id, in_run_token, in_life, FALSE, out_action, out_wait, out_run_no, out_call, out_message);
    END IF;
END
