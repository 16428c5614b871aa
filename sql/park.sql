CREATE PROCEDURE job$park(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Parks a job of the caller: this session holds its lock from now on, beside those of other jobs, and takes its steps by job$_turn, until a session of its own takes it over by job$run_with. in_options: a JSON document: controller and life, as for job$run_with. Answers the row (job_id, run_token, message); run_token is NULL when it was refused, and message says why. Errors: 1205 when somebody has locked its row; try again later. Example: CALL job$park(''nightly'', ''{"controller": "ana@db1", "life": 7}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token, v_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_controller VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id, v_life BIGINT UNSIGNED;
    DECLARE v_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    SET v_controller = JSON_UNQUOTE(JSON_EXTRACT(in_options, '$.controller'));
    SET v_life = JSON_UNQUOTE(JSON_EXTRACT(in_options, '$.life'));
    CALL job$ticket(v_token);
    CALL job$_acquire(v_token, in_job_name, v_controller, v_life, TRUE, v_job_id, v_run_token, v_message);
    SELECT v_job_id AS job_id, v_run_token AS run_token, v_message AS message;
END
