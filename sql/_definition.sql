CREATE PROCEDURE job$_definition(
    IN in_job_id BIGINT UNSIGNED,
    OUT out_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Writes the definition of a job as the options of job$define that would make it, inside the transaction of the caller, whose lock on the job row it takes. Errors: none. Example: CALL job$_definition(v_job_id, v_options)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    SELECT JSON_OBJECT(
        'schema', job_procedure_schema,
        'procedure', job_procedure_name,
        'every', CAST(job_schedule_interval AS CHAR),
        'start', CAST(job_schedule_start AS CHAR),
        'finish', CAST(job_schedule_finish AS CHAR),
        'max_failures', job_max_failures,
        'timeout', CAST(job_timeout AS CHAR),
        'on_lost', LOWER(job_on_lost),
        'description', job_description
    ) INTO out_options
    FROM job WHERE job_id = in_job_id FOR UPDATE;
END
