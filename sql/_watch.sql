CREATE PROCEDURE job$_watch(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$watch that kills; in_token: the ticket. Errors: 45004. Example: none, call job$watch'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id, v_run_no, v_connection BIGINT UNSIGNED;
    DECLARE v_after BIGINT UNSIGNED DEFAULT 0;
    DECLARE v_stopped DATETIME(6);
    DECLARE v_outcome VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$_caller(in_token, v_account, v_owner);
    each_job: LOOP
        SELECT MIN(j.job_id) INTO v_job_id
        FROM job AS j
        JOIN job_run AS r ON r.job_id = j.job_id AND r.run_no = j.job_run_open
        WHERE j.job_id > v_after AND j.job_owner = v_owner AND r.outcome = 'RUNNING'
          AND (r.run_stop IS NOT NULL OR r.started_at + INTERVAL j.job_timeout SECOND <= UTC_TIMESTAMP(6));
        IF v_job_id IS NULL THEN
            LEAVE each_job;
        END IF;
        SELECT MAX(j.job_name), MAX(j.job_run_open), MAX(r.run_stop_at) INTO v_name, v_run_no, v_stopped
        FROM job AS j
        JOIN job_run AS r ON r.job_id = j.job_id AND r.run_no = j.job_run_open
        WHERE j.job_id = v_job_id;
        CALL job$_stop_run(
            v_job_id, v_run_no, 'TIMEOUT', v_account, 'It took longer than its timeout',
            COALESCE(v_stopped < UTC_TIMESTAMP(6) - INTERVAL 2 SECOND, FALSE), v_connection, v_outcome
        );
        IF v_outcome IS NOT NULL THEN
            SELECT v_name AS job_name, v_run_no AS run_no, v_outcome AS outcome;
        END IF;
        SET v_after = v_job_id;
    END LOOP each_job;
END
