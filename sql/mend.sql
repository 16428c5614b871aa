CREATE PROCEDURE job$mend(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Puts the row of the caller''s job in_job_name right where it tells of a runner that is gone: its open run is closed as LOST (or as KILLED or TIMEOUT, if somebody had asked for that), and the row tells of no runner any more. Changes nothing while a runner lives. Answers one row (mended): 1 or 0. Commits the caller''s open transaction. Errors: 45003 no such job, 45004 a runner lives, or the server is read-only. Example: CALL job$mend(''nightly'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_mend(v_token, in_job_name);
END
