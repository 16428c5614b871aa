CREATE PROCEDURE job$_doctor(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$doctor that knows lock names; in_token: the ticket. Errors: none. Example: none, call job$doctor'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_held VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_held(v_held);
    SELECT j.job_name, f.finding,
        CASE f.finding
            WHEN 'HELD' THEN j.held
            WHEN 'OTHER_SERVER' THEN CONCAT('its row tells of a runner on another server, ', j.job_runner_server_name)
            WHEN 'LOST' THEN CONCAT('its row tells of a runner on connection ', j.job_runner_connection_id, ', which does not hold the lock')
            WHEN 'LOCK_TAKEN' THEN CONCAT('its lock is held by connection ', j.holder, ', which is no runner in its row')
            WHEN 'CONTROLLER_GONE' THEN CONCAT('its runner''s controller ', j.job_runner_controller, ' is gone; it ends after its present run')
            WHEN 'CONTROLLER_STALE' THEN CONCAT('its runner''s controller ', j.job_runner_controller, ' shows no sign of life since ', j.controller_heartbeat, ' UTC')
            WHEN 'VERSION' THEN CONCAT('its runner executes version ', j.job_runner_version, ', installed is ', {{version}})
        END AS message,
        CASE f.finding
            WHEN 'LOST' THEN 'CALL job$mend(...)'
            WHEN 'VERSION' THEN 'CALL job$stop(...)'
        END AS mend
    FROM (
        SELECT j.job_name, j.job_runner_connection_id, j.job_runner_server_name, j.job_runner_controller, j.job_runner_version,
               j.job_runner_token IS NOT NULL AS claims, j.job_run_open IS NOT NULL AS runs,
               COALESCE(j.job_runner_server = {{server_identity}}, TRUE) AS here,
               IS_USED_LOCK(SHA2(CONCAT(s.setting_value, ':', {{schema}}, ':job:', j.job_id), 256)) AS holder,
               COALESCE(IS_USED_LOCK(SHA2(CONCAT(s.setting_value, ':', {{schema}}, ':job:', j.job_id), 256))
                   IN (j.job_runner_connection_id, j.job_runner_lot), FALSE) AS lives,
               j.job_runner_life IS NOT NULL
                   AND IS_USED_LOCK(SHA2(CONCAT(s.setting_value, ':', {{schema}}, ':life:', j.job_runner_life), 256)) IS NULL AS gone,
               c.controller_heartbeat < UTC_TIMESTAMP(6) - INTERVAL c.controller_ttl SECOND AS stale,
               c.controller_heartbeat,
               v_held AS held
        FROM job AS j
        JOIN job_setting AS s ON s.setting_name = 'secret'
        LEFT JOIN job_controller AS c
            ON c.controller_owner = j.job_owner AND c.controller_name = j.job_runner_controller
            AND j.job_runner_token IS NOT NULL
        WHERE j.job_owner = v_owner
    ) AS j
    JOIN (
        SELECT 'HELD' AS finding UNION ALL SELECT 'OTHER_SERVER' UNION ALL SELECT 'LOST' UNION ALL SELECT 'LOCK_TAKEN'
        UNION ALL SELECT 'CONTROLLER_GONE' UNION ALL SELECT 'CONTROLLER_STALE' UNION ALL SELECT 'VERSION'
    ) AS f ON CASE f.finding
        WHEN 'HELD' THEN j.held IS NOT NULL
        WHEN 'OTHER_SERVER' THEN j.claims AND NOT j.here
        WHEN 'LOST' THEN (j.claims OR j.runs) AND j.here AND NOT j.lives
        WHEN 'LOCK_TAKEN' THEN j.holder IS NOT NULL AND NOT (j.claims AND j.here AND j.lives)
        WHEN 'CONTROLLER_GONE' THEN j.claims AND j.here AND j.lives AND j.gone
        WHEN 'CONTROLLER_STALE' THEN j.claims AND j.here AND NOT j.gone AND j.stale
        WHEN 'VERSION' THEN j.claims AND j.here AND j.job_runner_version <> {{version}}
    END
    ORDER BY j.job_name, f.finding;
END
