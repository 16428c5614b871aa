CREATE PROCEDURE job$_turn(
    IN in_job_id BIGINT UNSIGNED,
    IN in_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_life BIGINT UNSIGNED,
    IN in_end VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Takes a step of a parked job, without ever waiting for its row: what job$_decide says, and when that is END, the job is released. in_end: not a step, but the end, with this message. Answers the row (action, due, message): WAIT (until due, UTC), IDLE (paused), DUE (open a session), SKIP (take another step), END (this session has nothing to do with the job any more) or BUSY (somebody has locked the row; try again later). Errors: those of the server. Example: CALL job$_turn(v_job_id, v_run_token, v_life, NULL)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_action VARCHAR(8) CHARSET utf8mb4 COLLATE utf8mb4_bin DEFAULT 'END';
    DECLARE v_wait DECIMAL(20,6);
    DECLARE v_run_no BIGINT UNSIGNED;
    DECLARE v_free BOOLEAN;
    DECLARE v_call VARCHAR(300) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin DEFAULT in_end;

    DECLARE EXIT HANDLER FOR 1205
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        SELECT 'BUSY' AS action, NULL AS due, NULL AS message;
    END;

    ROLLBACK AND NO CHAIN NO RELEASE;
    START TRANSACTION READ WRITE;
    SELECT COUNT(*) INTO v_free FROM job WHERE job_id = in_job_id FOR UPDATE SKIP LOCKED;
    ROLLBACK AND NO CHAIN NO RELEASE;
    IF NOT v_free AND EXISTS (SELECT 1 FROM job WHERE job_id = in_job_id) THEN
        CALL job$_fail(1205, 'job$_turn: somebody has locked the row of the job');
    END IF;
    IF in_end IS NULL THEN
        CALL job$_decide(in_job_id, in_run_token, in_life, TRUE, v_action, v_wait, v_run_no, v_call, v_message);
    END IF;
    IF v_action = 'END' THEN
        CALL job$_release(in_job_id, in_run_token, v_message);
        -- Where another runner took the job over, only its lock is left.
        CALL job$_hand_over(in_job_id);
    END IF;
    SELECT v_action AS action, UTC_TIMESTAMP(6) + INTERVAL v_wait SECOND AS due, v_message AS message;
END
