CREATE PROCEDURE job$define(
    IN in_job_name VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Defines the job in_job_name for the calling account. Options, one JSON document: schema and procedure (which takes no argument and which the caller may execute), every (seconds between occurrences, 0.1 to 3155760000), start, finish (UTC, YYYY-MM-DD HH:MM:SS), max_failures, timeout (seconds, per attempt), on_lost (skip, the default, or retry: an occurrence whose run was lost is run again at once, at least once), description, and for a job that exists: replace (true: keep its id, status and history) or if_not_exists (true: change nothing). Answers one row (job_id, action, next_1, next_2, next_3). Commits the caller''s open transaction. Errors: 45002 wrong definition, 45004 refused. Example: CALL job$define(''nightly'', ''{"schema": "shop", "procedure": "roll_up", "every": 86400}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_schema, v_procedure LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$_options('job$define', in_options,
        '["schema", "procedure", "every", "start", "finish", "max_failures", "timeout", "on_lost", "description", "replace", "if_not_exists"]');
    CALL job$_option(in_options, 'schema', v_schema);
    CALL job$_option(in_options, 'procedure', v_procedure);
    CALL job$_callable('job$define', v_schema, v_procedure);

    CALL job$ticket(v_token);
    CALL job$_define(v_token, in_job_name, in_options);
END
