CREATE PROCEDURE job$watch()
COMMENT 'Stops the runs of the caller''s jobs that take longer than their timeout: kills the statement first, the session when that was in vain for two seconds, and closes the row when the run is over. For jobs without a controller, which does the same; any client or event may call it again and again. Answers a row (job_name, run_no, outcome) for each run that it dealt with. Commits the caller''s open transaction. Errors: 45004 when the definer may not kill. Example: CALL job$watch()'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_watch(v_token);
END
