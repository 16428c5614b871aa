CREATE PROCEDURE job$_forecast(
    IN in_job_id BIGINT UNSIGNED,
    OUT out_next_1 DATETIME(6),
    OUT out_next_2 DATETIME(6),
    OUT out_next_3 DATETIME(6)
)
COMMENT 'Tells the next three planned instants of a job (UTC), NULL where its window ends before. Errors: none. Example: CALL job$_forecast(v_job_id, v_next_1, v_next_2, v_next_3)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_anchor, v_finish, v_last DATETIME(6);
    DECLARE v_interval DECIMAL(16,6);

    SELECT job_next, job_schedule_anchor, job_schedule_finish, job_schedule_interval
    INTO out_next_1, v_anchor, v_finish, v_interval
    FROM job WHERE job_id = in_job_id;
    CALL job$_grid(v_anchor, v_interval, out_next_1, v_last, out_next_2);
    CALL job$_grid(v_anchor, v_interval, out_next_2, v_last, out_next_3);
    SET out_next_1 = IF(out_next_1 > v_finish, NULL, out_next_1);
    SET out_next_2 = IF(out_next_2 > v_finish, NULL, out_next_2);
    SET out_next_3 = IF(out_next_3 > v_finish, NULL, out_next_3);
END
