CREATE PROCEDURE job$alter(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Changes the caller''s job in_job_name; what the options do not name stays. Options, one JSON document: schema and procedure (together), every, start, finish, max_failures, timeout, on_lost, description as for job$define, null takes one away; rename (the new name). A live runner obeys at its next look. Answers one row (job_id, job_status, next_1, next_2, next_3). Commits the caller''s open transaction. Errors: 45002 wrong definition, 45003 no such job, 45004 the new name is taken. Example: CALL job$alter(''nightly'', ''{"every": 3600, "finish": null}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_schema, v_procedure LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$_options('job$alter', in_options,
        '["schema", "procedure", "every", "start", "finish", "max_failures", "timeout", "on_lost", "description", "rename"]');
    IF JSON_CONTAINS_PATH(in_options, 'one', '$.schema', '$.procedure') THEN
        CALL job$_option(in_options, 'schema', v_schema);
        CALL job$_option(in_options, 'procedure', v_procedure);
        CALL job$_callable('job$alter', v_schema, v_procedure);
    END IF;

    CALL job$ticket(v_token);
    CALL job$_alter(v_token, in_job_name, in_options);
END
