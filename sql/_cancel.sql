CREATE PROCEDURE job$_cancel(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$cancel that reads its options; in_token: the ticket. Errors: 45002, 45003, 45004. Example: none, call job$cancel'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_reason, v_text, v_insist, v_timeout LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id, v_run_no, v_connection, v_undo BIGINT UNSIGNED;
    DECLARE v_outcome VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_seconds DECIMAL(20,6);

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_options('job$cancel', in_options, '["reason", "run_no", "insist", "timeout"]');
    CALL job$_option(in_options, 'reason', v_reason);
    CALL job$_option(in_options, 'run_no', v_text);
    CALL job$_option(in_options, 'insist', v_insist);
    CALL job$_option(in_options, 'timeout', v_timeout);
    IF v_text IS NOT NULL AND v_text NOT REGEXP '^[0-9]{1,19}$' THEN
        CALL job$_fail(45002, 'job$cancel: run_no must be a whole number');
    ELSEIF CHAR_LENGTH(v_reason) > 1024 THEN
        CALL job$_fail(45002, 'job$cancel: a reason has at most 1024 characters');
    END IF;
    CALL job$_find(v_owner, in_job_name, 'job$cancel', v_job_id);
    SET v_run_no = v_text;
    CALL job$_stop_run(
        v_job_id, v_run_no, IF(v_timeout = 'true', 'TIMEOUT', 'KILLED'), v_account, v_reason, COALESCE(v_insist, 'false') = 'true',
        v_connection, v_outcome
    );
    IF v_outcome IS NULL THEN
        CALL job$_fail(45004, IF(v_timeout = 'true', 'job$cancel: no run has taken too long', 'job$cancel: nothing runs'));
    END IF;
    BEGIN
        -- Where the definer may not look (PROCESS), it is not known.
        DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET v_undo = NULL;
        SELECT MAX(trx_rows_modified) INTO v_undo
        FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = v_connection AND trx_state = 'ROLLING BACK';
    END;
    SELECT TIMESTAMPDIFF(MICROSECOND, started_at, COALESCE(finished_at, UTC_TIMESTAMP(6))) * 0.000001 INTO v_seconds
    FROM job_run WHERE job_id = v_job_id AND run_no = v_run_no;
    SELECT v_run_no AS run_no, v_connection AS connection_id, v_outcome AS outcome, v_undo AS rows_to_undo, v_seconds AS seconds;
END
