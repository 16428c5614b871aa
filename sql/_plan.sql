CREATE PROCEDURE job$_plan(
    IN in_job_id BIGINT UNSIGNED
)
COMMENT 'Computes job_next when the schedule is new or was changed since it was computed, by a routine or by a plain UPDATE: then it becomes the first instant of the new grid after now. A start given is the anchor; without one the anchor stays (or, when still ahead, comes nearer with a shorter interval), and a new job gets now plus one interval. Occurrences of the old grid that were already due become a span CHANGED. Inside the transaction of the caller, who holds the lock of the job row. Errors: none of its own. Example: CALL job$_plan(v_job_id)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
plan: BEGIN
    DECLARE v_start, v_planned_start, v_anchor, v_last, v_next DATETIME(6);
    DECLARE v_interval, v_planned_interval DECIMAL(16,6);
    DECLARE v_now DATETIME(6) DEFAULT UTC_TIMESTAMP(6);

    SELECT job_schedule_start, job_next_start, job_schedule_anchor, job_schedule_interval, job_next_interval
    INTO v_start, v_planned_start, v_anchor, v_interval, v_planned_interval
    FROM job WHERE job_id = in_job_id FOR UPDATE;
    IF v_anchor IS NOT NULL AND v_start <=> v_planned_start AND v_interval <=> v_planned_interval THEN
        LEAVE plan;
    END IF;

    IF v_anchor IS NOT NULL THEN
        CALL job$_grid(v_anchor, v_planned_interval, v_now, v_last, v_next);
        CALL job$_skip(in_job_id, v_last, 'CHANGED', NULL);
    END IF;
    SET v_next = v_now + INTERVAL CAST(COALESCE(v_interval, 0) * 1000000 AS SIGNED) MICROSECOND;
    -- An anchor that was never given and has not come yet binds nothing: a shorter interval brings it nearer.
    SET v_anchor = COALESCE(v_start, IF(v_interval IS NULL, v_anchor, LEAST(v_anchor, v_next)), v_next);
    CALL job$_grid(v_anchor, v_interval, v_now, v_last, v_next);
    UPDATE job
    SET job_schedule_anchor = v_anchor, job_next = v_next, job_next_start = v_start, job_next_interval = v_interval,
        job_changed = job_changed
    WHERE job_id = in_job_id;
END
