CREATE PROCEDURE job$_overview(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$overview that reads; in_token: the ticket. Errors: 45003 no such job. Example: none, call job$overview'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id BIGINT UNSIGNED;

    CALL job$_caller(in_token, v_account, v_owner);
    IF in_job_name IS NULL THEN
        SELECT * FROM job_overview WHERE job_owner = v_owner ORDER BY job_name;
    ELSE
        CALL job$_find(v_owner, in_job_name, 'job$overview', v_job_id);
        SELECT * FROM job_overview WHERE job_id = v_job_id;
    END IF;
END
