CREATE PROCEDURE job$_search(
    IN in_settings LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_variables LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_temporary BIGINT,
    IN in_handles BIGINT,
    OUT out_leaked VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Searches the session for what bodies left in it, compared with what it was like before the first one (job$_session, job$_traces), and puts it right. out_leaked: the names of what there was, an exclamation mark behind what only a new session clears; NULL: nothing. Errors: 1100, 1192, 1223, 4145 where a body holds locks of the whole server. Example: CALL job$_search(v_settings, v_variables, v_temporary, v_handles, v_leaked)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_left VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_settings, v_variables LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_temporary, v_handles BIGINT;

    SET out_leaked = NULL;
    CALL job$_session(v_settings);
    IF v_settings <> in_settings THEN
        CALL job$_session_restore(in_settings, out_leaked);
    END IF;
    CALL job$_traces(v_temporary, v_handles, v_variables);
    IF v_temporary > in_temporary OR v_handles > in_handles OR NOT v_variables <=> in_variables THEN
        CALL job$_traces_clear(in_temporary, in_handles, in_variables, v_left);
    END IF;
    SET out_leaked = NULLIF(LEFT(CONCAT_WS(', ', out_leaked, v_left), 1024), '');
END
