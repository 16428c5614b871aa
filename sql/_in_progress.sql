CREATE PROCEDURE job$_in_progress(
    IN in_job_id BIGINT UNSIGNED,
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Tells, when the lock of a job is free, whether a run may still go on without it: a body can give away the lock of its runner by RELEASE_ALL_LOCKS(), and as long as the session of an open run works, nobody else may start. out_message: NULL when nothing is in progress. Sees other accounts'' sessions only where the definer has PROCESS. Errors: none. Example: CALL job$_in_progress(v_job_id, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_connection BIGINT UNSIGNED;
    DECLARE v_started DATETIME(6);
    DECLARE v_uptime BIGINT UNSIGNED;
    DECLARE v_works BOOLEAN;

    SET out_message = NULL;
    SELECT MAX(r.run_connection_id), MAX(r.started_at) INTO v_connection, v_started
    FROM job AS j
    JOIN job_run AS r ON r.job_id = j.job_id AND r.run_no = j.job_run_open
    WHERE j.job_id = in_job_id AND r.run_server = {{server_identity}} AND r.run_connection_id <> CONNECTION_ID();
    IF v_connection IS NOT NULL THEN
        -- Connection ids are given out anew after a restart of the server.
        CALL job$_uptime(v_uptime);
        IF v_started > UTC_TIMESTAMP(6) - INTERVAL v_uptime SECOND THEN
            BEGIN
                -- MySQL cannot list any session while a statement of one of them holds a character beyond utf8mb3.
                DECLARE EXIT HANDLER FOR 3854
                BEGIN
                    SET v_works = TRUE;
                    IF @@global.performance_schema THEN
                        SELECT COUNT(*) > 0 INTO v_works
                        FROM performance_schema.processlist WHERE id = v_connection AND command <> 'Sleep';
                    END IF;
                END;
                SELECT COUNT(*) > 0 INTO v_works
                FROM information_schema.processlist WHERE id = v_connection AND command <> 'Sleep';
            END;
            IF v_works THEN
                SET out_message = CONCAT('A run is still in progress on connection ', v_connection, ', though it gave its lock away');
            END IF;
        END IF;
    END IF;
END
