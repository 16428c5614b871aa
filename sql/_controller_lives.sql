CREATE PROCEDURE job$_controller_lives(
    IN in_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_name VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_host VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_pid BIGINT UNSIGNED,
    OUT out_lives BOOLEAN,
    OUT out_connection_id BIGINT UNSIGNED
)
COMMENT 'Tells whether a controller of that name lives, other than the process in_pid on in_host itself: on this server by its life lock, on another (before a failover) by its heartbeat. Locks its row, if there is one. Errors: none of its own. Example: CALL job$_controller_lives(v_owner, v_name, v_host, v_pid, v_lives, v_connection)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_server, v_host VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_life, v_pid BIGINT UNSIGNED;
    DECLARE v_finish, v_heartbeat DATETIME(6);
    DECLARE v_ttl DECIMAL(16,6);
    DECLARE v_known INT;

    SELECT COUNT(*), MAX(controller_server), MAX(controller_life), MAX(controller_finish), MAX(controller_heartbeat),
           MAX(controller_ttl), MAX(controller_bell_connection_id), MAX(controller_host), MAX(controller_pid)
    INTO v_known, v_server, v_life, v_finish, v_heartbeat, v_ttl, out_connection_id, v_host, v_pid
    FROM job_controller
    WHERE controller_owner = in_owner AND controller_name = in_name
    FOR UPDATE;
    CALL job$_lock_name('life', v_life, v_lock_name);
    SET out_lives = v_known > 0 AND v_finish IS NULL AND NOT (v_host <=> in_host AND v_pid <=> in_pid) AND COALESCE(
        IF(v_server = {{server_identity}}, IS_USED_LOCK(v_lock_name) IS NOT NULL,
            v_heartbeat > UTC_TIMESTAMP(6) - INTERVAL v_ttl SECOND), FALSE);
END
