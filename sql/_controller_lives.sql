CREATE PROCEDURE job$_controller_lives(
    IN in_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_name VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_former BIGINT UNSIGNED,
    OUT out_lives BOOLEAN,
    OUT out_connection_id BIGINT UNSIGNED
)
COMMENT 'Tells whether a controller of that name lives, other than the caller itself, whose life before was in_former: on this server by its life lock, on another (before a failover) by its heartbeat. Locks its row, if there is one. The connection that still holds the former life lock is ended: the caller has given it up, and the server may not know for hours. Errors: none of its own. Example: CALL job$_controller_lives(v_owner, v_name, v_former, v_lives, v_connection)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_server VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_life BIGINT UNSIGNED;
    DECLARE v_finish, v_heartbeat DATETIME(6);
    DECLARE v_ttl DECIMAL(16,6);
    DECLARE v_known INT;

    SELECT COUNT(*), MAX(controller_server), MAX(controller_life), MAX(controller_finish), MAX(controller_heartbeat),
           MAX(controller_ttl), MAX(controller_bell_connection_id)
    INTO v_known, v_server, v_life, v_finish, v_heartbeat, v_ttl, out_connection_id
    FROM job_controller
    WHERE controller_owner = in_owner AND controller_name = in_name
    FOR UPDATE;
    CALL job$_lock_name('life', v_life, v_lock_name);
    SET out_lives = v_known > 0 AND v_finish IS NULL AND NOT v_life <=> in_former AND COALESCE(
        IF(v_server = {{server_identity}}, IS_USED_LOCK(v_lock_name) IS NOT NULL,
            v_heartbeat > UTC_TIMESTAMP(6) - INTERVAL v_ttl SECOND), FALSE);
    IF v_life <=> in_former AND v_life IS NOT NULL THEN
        BEGIN
            DECLARE CONTINUE HANDLER FOR 1094, 1095, 1227 BEGIN END;
            IF IS_USED_LOCK(v_lock_name) = out_connection_id THEN
                KILL CONNECTION out_connection_id;
            END IF;
        END;
    END IF;
END
