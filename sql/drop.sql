CREATE PROCEDURE job$drop(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Drops the caller''s job in_job_name; refused while a runner or somebody else holds its lock. Its runs and events stay, under the job_id that is never given out again. Options, one JSON document: purge_history (true: they go too). Answers one row (job_id, runs_purged). Commits the caller''s open transaction. Errors: 45002, 45003 no such job, 45004 it runs. Example: CALL job$drop(''nightly'', ''{"purge_history": true}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_drop(v_token, in_job_name, in_options);
END
