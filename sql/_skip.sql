CREATE PROCEDURE job$_skip(
    IN in_job_id BIGINT UNSIGNED,
    IN in_last DATETIME(6),
    IN in_reason VARCHAR(32) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_by VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Records the occurrences from job_next to in_last (UTC, an instant of the grid) as one SKIPPED span with its reason, and moves job_next behind them, inside the transaction of the caller, who holds the lock of the job row. Does nothing when there are none. Errors: none of its own. Example: CALL job$_skip(v_job_id, v_last, ''OVERRUN'', v_account)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
skip: BEGIN
    DECLARE v_run_no, v_count, v_epoch BIGINT UNSIGNED;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_first, v_last, v_next, v_anchor DATETIME(6);
    DECLARE v_interval DECIMAL(16,6);

    SELECT job_run_counter + 1, job_owner, job_name, job_next, job_schedule_anchor, job_next_interval, job_runner_epoch
    INTO v_run_no, v_owner, v_name, v_first, v_anchor, v_interval, v_epoch
    FROM job WHERE job_id = in_job_id FOR UPDATE;
    IF v_first IS NULL OR in_last IS NULL OR in_last < v_first THEN
        LEAVE skip;
    END IF;

    CALL job$_grid(v_anchor, v_interval, in_last, v_last, v_next);
    SET v_count = 1 + COALESCE(TIMESTAMPDIFF(MICROSECOND, v_first, v_last) DIV CAST(v_interval * 1000000 AS SIGNED), 0);
    INSERT INTO job_run (
        job_id, run_no, run_kind, outcome, reason, job_owner, job_name, scheduled_for, attempt, finished_at,
        span_last, span_count, run_account, run_connection_id, run_server, run_epoch
    ) VALUES (
        in_job_id, v_run_no, 'SCHEDULED', 'SKIPPED', in_reason, v_owner, v_name, v_first, 0, UTC_TIMESTAMP(6),
        v_last, IF(v_count <= 10000, v_count, NULL), in_by, CONNECTION_ID(), {{server_identity}}, v_epoch
    );
    UPDATE job
    SET job_run_counter = v_run_no, job_next = v_next, job_changed = job_changed
    WHERE job_id = in_job_id;
END
