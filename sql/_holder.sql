CREATE PROCEDURE job$_holder(
    IN in_job_id BIGINT UNSIGNED,
    IN in_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Says in a sentence who holds the lock of a job: a runner, or the controller that has parked it. Errors: none. Example: CALL job$_holder(v_job_id, v_lock_name, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_connection BIGINT UNSIGNED DEFAULT IS_USED_LOCK(in_lock_name);
    DECLARE v_host, v_controller VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    SELECT MAX(job_runner_host), MAX(IF(job_runner_lot = v_connection, job_runner_controller, NULL)) INTO v_host, v_controller
    FROM job
    WHERE job_id = in_job_id AND v_connection IN (job_runner_connection_id, job_runner_lot) AND job_runner_finish IS NULL;
    SET out_message = COALESCE(
        CONCAT('Parked by controller ', v_controller, ' on connection ', v_connection),
        CONCAT('Already run by connection ', v_connection, COALESCE(CONCAT(' from ', v_host), '')),
        'The lock of the job was held a moment ago; try again');
END
