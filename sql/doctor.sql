CREATE PROCEDURE job$doctor()
COMMENT 'Compares, for each job of the caller, its row with its lock, its controller and this server. Answers a row (job_name, finding, message, mend) for each mismatch: LOST, LOCK_TAKEN, CONTROLLER_GONE, CONTROLLER_STALE, OTHER_SERVER, VERSION, HELD; mend: the statement that puts it right, NULL where none is needed or safe. Commits the caller''s open transaction. Errors: none. Example: CALL job$doctor()'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_doctor(v_token);
END
