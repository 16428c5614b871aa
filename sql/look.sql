CREATE PROCEDURE job$look()
COMMENT 'Answers those rows of job_overview that are the caller''s own jobs and that a controller has to attend to: no runner of this server works for a job that wants one, or a run takes longer than it may. job$overview answers all. Commits the caller''s open transaction. Errors: none. Example: CALL job$look()'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_look(v_token);
END
