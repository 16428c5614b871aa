CREATE PROCEDURE job$_write(
    IN in_routine VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_id BIGINT UNSIGNED,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_finish_given BOOLEAN
)
COMMENT 'Checks the values of a whole definition, the options of job$define, and writes them into a job row, for in_routine, inside the transaction of the caller, who holds the lock of the row. in_finish_given: whether finish is a new one, which must not be in the past. Errors: 45002 wrong definition. Example: CALL job$_write(''job$define'', v_job_id, in_options, TRUE)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_schema, v_procedure, v_every, v_max_failures, v_timeout, v_on_lost, v_description, v_time
        LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_start, v_finish DATETIME(6);
    DECLARE v_interval DECIMAL(16,6);

    CALL job$_option(in_options, 'schema', v_schema);
    CALL job$_option(in_options, 'procedure', v_procedure);
    CALL job$_option(in_options, 'every', v_every);
    CALL job$_option(in_options, 'start', v_time);
    CALL job$_check_time(in_routine, 'start', v_time, v_start);
    CALL job$_option(in_options, 'finish', v_time);
    CALL job$_check_time(in_routine, 'finish', v_time, v_finish);
    CALL job$_option(in_options, 'max_failures', v_max_failures);
    CALL job$_option(in_options, 'timeout', v_timeout);
    CALL job$_option(in_options, 'on_lost', v_on_lost);
    CALL job$_option(in_options, 'description', v_description);

    IF COALESCE(v_schema, '') = '' OR COALESCE(v_procedure, '') = '' OR CHAR_LENGTH(v_schema) > 64 OR CHAR_LENGTH(v_procedure) > 64 THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': say which procedure to call, by the options schema and procedure'));
    END IF;
    IF v_every IS NULL OR v_every NOT REGEXP '^[0-9]{1,10}([.][0-9]{1,6})?$' THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': every must be seconds, such as 300 or 0.5, with at most 6 decimals'));
    END IF;
    SET v_interval = v_every;
    IF v_interval NOT BETWEEN 0.1 AND 3155760000 THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': every must be between 0.1 seconds and 100 years (3155760000 seconds)'));
    END IF;
    IF v_finish < v_start THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': finish is before start'));
    END IF;
    IF in_finish_given AND v_finish <= UTC_TIMESTAMP(6) THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': finish is in the past'));
    END IF;
    IF v_max_failures IS NOT NULL AND v_max_failures NOT REGEXP '^[1-9][0-9]{0,8}$' THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': max_failures must be a whole number from 1 to 999999999'));
    END IF;
    IF v_timeout IS NOT NULL AND (v_timeout NOT REGEXP '^[0-9]{1,10}([.][0-9]{1,6})?$' OR v_timeout + 0 NOT BETWEEN 0.1 AND 3155760000) THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': timeout must be seconds, between 0.1 and 3155760000'));
    END IF;
    IF COALESCE(v_on_lost, 'skip') NOT IN ('skip', 'retry') THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': on_lost must be skip or retry'));
    END IF;
    IF CHAR_LENGTH(v_description) > 1024 THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': a description has at most 1024 characters'));
    END IF;

    UPDATE job
    SET job_description = v_description,
        job_kind = 'PROCEDURE',
        job_procedure_schema = v_schema,
        job_procedure_name = v_procedure,
        job_schedule_start = v_start,
        job_schedule_finish = v_finish,
        job_schedule_interval = v_interval,
        job_max_failures = v_max_failures,
        job_timeout = v_timeout,
        job_on_lost = UPPER(COALESCE(v_on_lost, 'skip'))
    WHERE job_id = in_job_id;
END
