CREATE PROCEDURE job$_traces(
    OUT out_temporary BIGINT,
    OUT out_handles BIGINT,
    OUT out_variables LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Tells what a body may have left in this session that is no setting. out_temporary: a number that grows when a temporary table is made, whether or not it is dropped again, on MySQL only for InnoDB; out_handles: on MySQL, the tables of other engines that this session has opened and that are open still, temporary or not, which it does not tell apart; out_variables: the user variables that hold something, as a JSON array of names, but for those of jobctl. Each is NULL where the server does not tell the definer: on MySQL that takes PROCESS, and SELECT on performance_schema.user_variables_by_thread and memory_summary_by_thread_by_event_name. Errors: 1100 and its like where a body left table locks. Example: CALL job$_traces(v_temporary, v_handles, v_variables)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    -- Table locks that a body took let nothing else be read; the next transaction would take them back unnamed.
    SELECT COUNT(*) INTO out_handles FROM job_setting WHERE setting_name = 'secret';
    SET out_temporary = NULL, out_handles = NULL, out_variables = NULL;
    BEGIN
        DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET out_temporary = NULL;
        SET out_temporary = {{temporary_tables}};
    END;
    BEGIN
        DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET out_handles = NULL;
        SET out_handles = {{open_handles}};
    END;
    BEGIN
        DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET out_variables = NULL;
        SELECT JSON_ARRAYAGG(variable_name) INTO out_variables
        FROM {{user_variables}} AND variable_value IS NOT NULL AND variable_name NOT LIKE 'job$%';
    END;
END
