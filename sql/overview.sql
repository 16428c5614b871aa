CREATE PROCEDURE job$overview(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Answers the rows of job_overview that are the caller''s own jobs: the one named in_job_name, or all where that is NULL. For owners, who cannot read the view. Commits the caller''s open transaction. Errors: 45003 no such job. Example: CALL job$overview(NULL)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_overview(v_token, in_job_name);
END
