CREATE PROCEDURE job$_hand_over(
    IN in_job_id BIGINT UNSIGNED
)
COMMENT 'Lets go of the lock of a job that was parked on this session, for the session that has taken the job over and waits for it. Changes nothing while this session is the runner of the job, parked or not, and nothing where it does not hold the lock. Errors: none. Example: CALL job$_hand_over(v_job_id)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_runner BIGINT UNSIGNED;

    SELECT MAX(job_runner_connection_id) INTO v_runner
    FROM job WHERE job_id = in_job_id AND job_runner_token IS NOT NULL AND job_runner_server = {{server_identity}};
    IF NOT v_runner <=> CONNECTION_ID() THEN
        CALL job$_lock_name('job', in_job_id, v_lock_name);
        DO RELEASE_LOCK(v_lock_name);
    END IF;
END
