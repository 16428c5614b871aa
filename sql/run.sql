CREATE PROCEDURE job$run(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Runs the caller''s job in_job_name on its schedule, in this session, until the schedule ends or the job is aborted; blocks meanwhile. Answers one row (job_name, message) that says how it ended. Commits the caller''s open transaction. Errors: none; refusals are messages. Example: CALL job$run(''nightly'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    CALL job$run_with(in_job_name, NULL);
END
