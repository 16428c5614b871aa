CREATE PROCEDURE job$look(
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Answers those rows of job_overview that are the caller''s own jobs and that a controller has to attend to: no runner of this server works for a job that wants one, or a run takes longer than it may. Options, one JSON document: all (true: all jobs of the caller). Commits the caller''s open transaction. Errors: 45002. Example: CALL job$look(''{"all": true}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_look(v_token, in_options);
END
