CREATE PROCEDURE job$_find(
    IN in_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_routine VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_job_id BIGINT UNSIGNED
)
COMMENT 'Finds the job in_job_name of in_owner for the API routine in_routine. Errors: 45003 no such job. Example: CALL job$_find(v_owner, in_job_name, ''job$drop'', v_job_id)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    -- The collation ignores blanks at the end, and a name must not.
    SELECT MAX(job_id) INTO out_job_id
    FROM job
    WHERE job_owner = in_owner AND job_name = in_job_name AND CHAR_LENGTH(job_name) = CHAR_LENGTH(in_job_name)
      AND CHAR_LENGTH(job_owner) = CHAR_LENGTH(in_owner);
    IF out_job_id IS NULL THEN
        CALL job$_fail(45003, CONCAT(in_routine, ': you own no job named ', COALESCE(in_job_name, 'NULL')));
    END IF;
END
