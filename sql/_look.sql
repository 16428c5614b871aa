CREATE PROCEDURE job$_look(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$look that reads; in_token: the ticket. Errors: none. Example: none, call job$look'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_prefix VARCHAR(1200) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_first, v_last BIGINT UNSIGNED;
    DECLARE v_now DATETIME(6) DEFAULT UTC_TIMESTAMP(6);

    CALL job$_caller(in_token, v_account, v_owner);
    -- Mostly there is none. The view knows more of a job than it takes to tell that, and takes five times as long.
    SELECT CONCAT(setting_value, ':', {{schema}}, ':job:') INTO v_prefix FROM job_setting WHERE setting_name = 'secret';
    SELECT MIN(job_id), MAX(job_id) INTO v_first, v_last
    FROM job
    WHERE job_owner = v_owner
      AND (
          job_status IN ('ENABLED', 'RESUMED', 'PAUSED') AND CASE
              WHEN job_runner_status IS NULL THEN job_status = 'PAUSED' OR job_schedule_finish IS NULL OR job_schedule_finish >= v_now
              ELSE NOT COALESCE(job_runner_server_id & 255 = @@server_id & 255, FALSE)
                  OR NOT COALESCE(IS_USED_LOCK(SHA2(CONCAT(v_prefix, job_id), 256)) IN (job_runner_connection_id, job_runner_lot), FALSE)
          END
          OR job_timeout IS NOT NULL AND job_run_open IS NOT NULL
      );
    SELECT *
    FROM job_overview
    WHERE job_owner = v_owner AND job_id BETWEEN v_first AND v_last
      AND (last_overdue OR (
          job_status IN ('ENABLED', 'RESUMED', 'PAUSED') AND (job_runner_connection_id IS NULL OR job_runner_elsewhere)
          AND status <> 'FINISHED'
      ));
END
