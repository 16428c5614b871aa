CREATE SQL SECURITY DEFINER VIEW job_overview AS
-- live: the connection in the row holds the lock of the job, or its controller's lot does, on this server: the truth, whatever a
-- column says.
-- here: the row's runner worked on this server; where not, this is a replica (or a server that took over), and only the row tells.
-- A view can name no variable, but the highest byte of UUID_SHORT() is that of @@server_id.
SELECT
    o.job_id,
    o.job_owner,
    o.job_name,
    o.job_description,
    o.job_kind,
    o.job_procedure_schema,
    o.job_procedure_name,
    o.job_schedule_start,
    o.job_schedule_finish,
    o.job_schedule_interval,
    o.job_schedule_anchor,
    o.job_max_failures,
    o.job_timeout,
    o.job_on_lost,
    o.job_status,
    CASE
        WHEN o.job_status IN ('FINISHED', 'ERROR') THEN o.job_status
        -- Nobody ran it when its window ended, and nobody can any more.
        WHEN o.job_status IN ('ENABLED', 'RESUMED') AND NOT o.claims AND o.job_schedule_finish < UTC_TIMESTAMP(6) THEN 'FINISHED'
        WHEN o.job_status IN ('ABORTED', 'DISABLED') THEN IF(o.claims AND (o.live OR NOT o.here), 'ABORTING', o.job_status)
        WHEN o.claims AND o.here AND NOT o.live THEN 'LOST'
        WHEN o.job_status = 'PAUSED' THEN IF(o.claims AND o.job_runner_status = 'RUNNING', 'PAUSING', 'PAUSED')
        WHEN o.held THEN 'HELD'
        WHEN o.switched THEN IF(o.claims AND o.job_runner_status = 'RUNNING', 'PAUSING', 'PAUSED (all)')
        WHEN o.claims AND o.job_runner_status = 'PAUSED' THEN 'SLEEPING'
        WHEN o.claims THEN IF(o.job_runner_status = 'RUNNING' AND o.here AND o.gone, 'RUNNING (controller gone)', o.job_runner_status)
        ELSE 'ENABLED'
    END AS status,
    CASE
        WHEN o.claims AND NOT o.here THEN CONCAT(
            'on ', o.job_runner_server_name, ', seen from a replica',
            IF(o.heard < UTC_TIMESTAMP(6) - INTERVAL o.ttl SECOND, CONCAT('; no sign of life since ', o.heard, ' UTC'), '')
        )
        -- Its controller lives, and would bring the runner back at once. One that is still heard has only no login any more;
        -- whose account is gone, that is not heard either.
        WHEN o.claims AND NOT o.live AND o.job_runner_life IS NOT NULL AND NOT o.gone AND o.heard < UTC_TIMESTAMP(6) - INTERVAL o.ttl / 2 SECOND
            THEN 'owner cannot log in, or its controller hangs'
        WHEN o.claims AND o.live AND o.gone AND o.job_runner_status = 'RUNNING' THEN 'its controller is gone, the server finishes the run'
        WHEN o.claims THEN o.job_runner_reason
        WHEN o.job_status IN ('ENABLED', 'RESUMED', 'PAUSED') AND o.job_runner_message LIKE 'Ended to renew%'
            AND o.job_runner_life IS NOT NULL AND NOT o.gone AND o.job_runner_finish < UTC_TIMESTAMP(6) - INTERVAL 10 SECOND
            THEN CONCAT('owner cannot log in', IF(o.heard < UTC_TIMESTAMP(6) - INTERVAL o.ttl / 2 SECOND, ', or its controller hangs', ''))
    END AS status_detail,
    IF(o.claims AND (o.live OR NOT o.here), o.job_runner_connection_id, NULL) AS job_runner_connection_id,
    IF(o.claims AND (o.live OR NOT o.here), o.job_runner_host, NULL) AS job_runner_host,
    COALESCE(o.claims AND NOT o.here, FALSE) AS job_runner_elsewhere,
    -- It has no session: its controller holds its lock.
    COALESCE(o.claims AND o.live AND o.job_runner_lot = o.job_runner_connection_id, FALSE) AS job_runner_parked,
    o.job_runner_server_name AS job_runner_server,
    o.job_runner_controller,
    o.job_runner_version,
    o.job_runner_seen,
    o.job_runner_start,
    o.job_runner_cycles,
    o.job_runner_message,
    o.job_failures,
    o.job_next,
    r.run_no AS last_run_no,
    r.scheduled_for AS last_scheduled_for,
    r.started_at AS last_started_at,
    r.finished_at AS last_finished_at,
    r.outcome AS last_outcome,
    CAST(TIMESTAMPDIFF(MICROSECOND, r.started_at, r.finished_at) * 0.000001 AS DECIMAL(20,6)) AS last_duration,
    -- By this server's clock, which alone counts.
    COALESCE(r.outcome = 'RUNNING' AND r.started_at + INTERVAL o.job_timeout SECOND <= UTC_TIMESTAMP(6), FALSE) AS last_overdue,
    r.error_code AS last_error_code,
    r.error_sqlstate AS last_error_sqlstate,
    r.error_message AS last_error_message,
    o.job_defined,
    CAST('1970-01-01' AS DATETIME(6)) + INTERVAL UNIX_TIMESTAMP(o.job_changed) SECOND AS job_changed
FROM (
    SELECT
        j.*,
        j.job_runner_status IS NOT NULL AS claims,
        COALESCE(j.job_runner_server_id & 255 = UUID_SHORT() >> 56, FALSE) AS here,
        -- Asked twice: after a run the lock is out of its runner's hands for a microsecond (job$_record).
        j.job_runner_status IS NOT NULL AND COALESCE(
            COALESCE(
                IS_USED_LOCK(SHA2(CONCAT(s.setting_value, ':', {{schema}}, ':job:', j.job_id), 256)),
                IS_USED_LOCK(SHA2(CONCAT(s.setting_value, ':', {{schema}}, ':job:', j.job_id), 256))
            ) IN (j.job_runner_connection_id, j.job_runner_lot),
            FALSE
        ) AS live,
        -- Its controller is dead, or was judged to be: the runner ends after its present run.
        j.job_runner_life IS NOT NULL AND (
            IS_USED_LOCK(SHA2(CONCAT(s.setting_value, ':', {{schema}}, ':life:', j.job_runner_life), 256)) IS NULL
            OR (j.job_stop_epoch >= j.job_runner_epoch AND j.job_stop_reason = 'STALE')
        ) AS gone,
        -- The last sign of life: in a long run only the controller gives one.
        GREATEST(j.job_runner_seen, COALESCE(c.controller_heartbeat, j.job_runner_seen)) AS heard,
        COALESCE(c.controller_ttl, IF(j.job_runner_status = 'RUNNING', 31536000, 30)) AS ttl,
        h.setting_value IS NOT NULL AND (h.setting_value <> 'UPGRADE' OR {{installing}}) AS held,
        EXISTS (SELECT 1 FROM job_switch AS w WHERE w.switch_owner IN ('', j.job_owner)) AS switched
    FROM job AS j
    JOIN job_setting AS s ON s.setting_name = 'secret'
    LEFT JOIN job_controller AS c
        ON c.controller_owner = j.job_owner AND c.controller_name = j.job_runner_controller AND c.controller_server = j.job_runner_server
    LEFT JOIN job_setting AS h ON h.setting_name = 'hold'
) AS o
LEFT JOIN job_run AS r ON r.job_id = o.job_id AND r.run_no = o.job_run_last
