CREATE PROCEDURE job$_receive(
    IN in_job_id BIGINT UNSIGNED,
    IN in_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Waits for the lock of a job that this session has taken over by job$_unpark. out_message: NULL when it has the lock; else why it has not, and then it holds nothing. Errors: 1317 where a server raises that. Example: CALL job$_receive(v_job_id, v_run_token, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
receive: BEGIN
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_ours BOOLEAN;

    SET out_message = 'Another runner took the job over';
    SELECT COUNT(*) INTO v_ours FROM job WHERE job_id = in_job_id AND job_runner_token = SHA2(in_run_token, 256);
    IF NOT v_ours THEN
        LEAVE receive;
    END IF;
    CALL job$_lock_name('job', in_job_id, v_lock_name);
    IF NOT GET_LOCK(v_lock_name, 5) <=> 1 THEN
        SET out_message = 'The lock of the parked job was not handed over';
        LEAVE receive;
    END IF;
    -- Whoever had it in between has raised the epoch.
    SELECT COUNT(*) INTO v_ours FROM job WHERE job_id = in_job_id AND job_runner_token = SHA2(in_run_token, 256);
    IF v_ours THEN
        SET out_message = NULL;
    ELSE
        DO RELEASE_LOCK(v_lock_name);
    END IF;
END
