CREATE PROCEDURE job$_execute(
    IN in_job_id BIGINT UNSIGNED,
    IN in_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_run_no BIGINT UNSIGNED,
    IN in_call VARCHAR(300) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_controlled BOOLEAN,
    IN in_role VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_settings LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_variables LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_temporary BIGINT,
    IN in_handles BIGINT,
    INOUT io_search DATETIME,
    OUT out_leaked VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_next DATETIME(6),
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Executes the body of a claimed run with the rights and in the session of the caller, puts right what it left behind, and records how it ended. in_call: the statement, from job$_step; in_controlled: whether a notice is sent; in_role: the role to be active afterwards; in_settings, in_variables, in_temporary, in_handles: what the session was like before its first body (job$_session, job$_traces); io_search: when it is to be searched again for what bodies left (UTC): at once, but 10 s after a search that found nothing, as it costs more than all else here; what the bookkeeping depends on is looked at each time; out_leaked: what the body left, an exclamation mark where only a new session helps; out_next: as job$_record tells it; out_message: NULL when the runner may go on, else why it must end. Errors: those of the server where nothing can be recorded any more. Example: none, call job$run_with'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_failed, v_open, v_stuck BOOLEAN DEFAULT FALSE;
    DECLARE v_error_code, v_warning_code_1, v_warning_code_2, v_warning_code_3, v_warning_code_4, v_warning_code_5,
        v_warning_code_6, v_warning_code_7, v_warning_code_8, v_warning_code_9, v_warning_code_10 INT UNSIGNED;
    DECLARE v_warning_1, v_warning_2, v_warning_3, v_warning_4, v_warning_5, v_warning_6, v_warning_7, v_warning_8, v_warning_9, v_warning_10
        VARCHAR(512) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_error_message, v_left VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_error_sqlstate CHAR(5) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_warnings VARCHAR(4096) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_undone BIGINT;
    DECLARE v_clock, v_seconds DECIMAL(20,6);
    DECLARE v_vital VARCHAR(256) CHARSET utf8mb4 COLLATE utf8mb4_bin DEFAULT {{vital_settings}};

    SET @`job$call` = in_call;
    BEGIN
        DECLARE EXIT HANDLER FOR SQLEXCEPTION
        BEGIN
            GET DIAGNOSTICS CONDITION 1
                v_error_code = MYSQL_ERRNO, v_error_sqlstate = RETURNED_SQLSTATE, v_error_message = MESSAGE_TEXT;
            SET v_failed = TRUE, v_error_message = COALESCE(v_error_message, 'failed, no diagnostics');
        END;
        PREPARE `job$statement` FROM @`job$call`;
        EXECUTE `job$statement`;
        -- What the body's last statement warned of; on MySQL any other statement in between would clear it.
        BEGIN
            DECLARE EXIT HANDLER FOR 1758 BEGIN END;
            GET DIAGNOSTICS CONDITION 1 v_warning_1 = MESSAGE_TEXT, v_warning_code_1 = MYSQL_ERRNO;
            GET DIAGNOSTICS CONDITION 2 v_warning_2 = MESSAGE_TEXT, v_warning_code_2 = MYSQL_ERRNO;
            GET DIAGNOSTICS CONDITION 3 v_warning_3 = MESSAGE_TEXT, v_warning_code_3 = MYSQL_ERRNO;
            GET DIAGNOSTICS CONDITION 4 v_warning_4 = MESSAGE_TEXT, v_warning_code_4 = MYSQL_ERRNO;
            GET DIAGNOSTICS CONDITION 5 v_warning_5 = MESSAGE_TEXT, v_warning_code_5 = MYSQL_ERRNO;
            GET DIAGNOSTICS CONDITION 6 v_warning_6 = MESSAGE_TEXT, v_warning_code_6 = MYSQL_ERRNO;
            GET DIAGNOSTICS CONDITION 7 v_warning_7 = MESSAGE_TEXT, v_warning_code_7 = MYSQL_ERRNO;
            GET DIAGNOSTICS CONDITION 8 v_warning_8 = MESSAGE_TEXT, v_warning_code_8 = MYSQL_ERRNO;
            GET DIAGNOSTICS CONDITION 9 v_warning_9 = MESSAGE_TEXT, v_warning_code_9 = MYSQL_ERRNO;
            GET DIAGNOSTICS CONDITION 10 v_warning_10 = MESSAGE_TEXT, v_warning_code_10 = MYSQL_ERRNO;
        END;
    END;
    -- The body's rest is rolled back before anything else: setting autocommit first would commit it.
    BEGIN
        DECLARE EXIT HANDLER FOR 1568 SET v_open = TRUE;
        SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
    END;
    IF v_open AND @@session.completion_type = 'CHAIN' THEN
        -- A COMMIT that chains opens the next transaction: it counts if an engine has something to undo.
        SELECT variable_value INTO v_undone FROM {{status_schema}}.session_status WHERE variable_name = 'Handler_rollback';
    END IF;
    SET v_clock = @@session.timestamp;
    ROLLBACK AND NO CHAIN NO RELEASE;
    {{mend_gtid_next}}
    IF v_undone IS NOT NULL THEN
        SELECT variable_value > v_undone INTO v_open
        FROM {{status_schema}}.session_status WHERE variable_name = 'Handler_rollback';
    END IF;
    IF v_open AND NOT v_failed THEN
        SET v_failed = TRUE, v_error_message = 'The job procedure left a transaction open; it was rolled back';
    END IF;
    IF v_clock = @@session.timestamp THEN
        -- A clock that stands still was set; its own next reading is microseconds later.
        SET SESSION timestamp = DEFAULT;
        SET out_leaked = CONCAT_WS(', ', out_leaked, 'timestamp');
    END IF;
    IF v_warning_code_1 IS NOT NULL THEN
        SET v_warnings = NULLIF(LEFT(CONCAT_WS('\n',
            CONCAT(v_warning_code_1, ': ', v_warning_1),
            CONCAT(v_warning_code_2, ': ', v_warning_2),
            CONCAT(v_warning_code_3, ': ', v_warning_3),
            CONCAT(v_warning_code_4, ': ', v_warning_4),
            CONCAT(v_warning_code_5, ': ', v_warning_5),
            CONCAT(v_warning_code_6, ': ', v_warning_6),
            CONCAT(v_warning_code_7, ': ', v_warning_7),
            CONCAT(v_warning_code_8, ': ', v_warning_8),
            CONCAT(v_warning_code_9, ': ', v_warning_9),
            CONCAT(v_warning_code_10, ': ', v_warning_10)), 4096), '');
    END IF;
    IF NOT CURRENT_ROLE() <=> in_role THEN
        -- Without its role the account may not even execute the routines below.
        SET @`job$call` = CONCAT('SET ROLE ', CASE
            WHEN in_role IS NULL OR in_role = 'NONE' THEN 'NONE'
            WHEN LEFT(in_role, 1) = '`' THEN in_role
            ELSE CONCAT('`', REPLACE(in_role, '`', '``'), '`')
        END);
        PREPARE `job$statement` FROM @`job$call`;
        EXECUTE `job$statement`;
        SET out_leaked = CONCAT_WS(', ', out_leaked, 'role');
    END IF;
    BEGIN
        DECLARE EXIT HANDLER FOR 1100, 1192, 1223, 4145 SET v_stuck = TRUE;
        IF v_failed OR out_leaked IS NOT NULL OR v_vital <> {{vital_settings}} OR COALESCE(UTC_TIMESTAMP() >= io_search, TRUE) THEN
            CALL job$_search(in_settings, in_variables, in_temporary, in_handles, v_left);
            SET out_leaked = NULLIF(LEFT(CONCAT_WS(', ', out_leaked, v_left), 1024), '');
            SET io_search = UTC_TIMESTAMP() + INTERVAL IF(out_leaked IS NULL, 10, 0) SECOND;
        END IF;
        CALL job$_record(in_job_id, in_run_token, in_run_no, v_failed, v_error_code, v_error_sqlstate, v_error_message,
            v_warnings, out_leaked, v_seconds, out_next, out_message);
    END;
    IF v_stuck THEN
        -- Tables locked, or a backup begun, by PREPARE, as MariaDB allows: only the same way out is left.
        CALL job$_unlock();
        SET out_leaked = LEFT(CONCAT_WS(', ', out_leaked, 'table locks'), 1024);
        CALL job$_record(in_job_id, in_run_token, in_run_no, v_failed, v_error_code, v_error_sqlstate, v_error_message,
            v_warnings, out_leaked, v_seconds, out_next, out_message);
    END IF;
    IF in_controlled THEN
        SELECT IF(v_failed, 'ERROR', 'OK') AS `job$notice`, in_run_no AS run_no, v_seconds AS seconds, v_error_message AS message;
    END IF;
END
