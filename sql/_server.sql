CREATE PROCEDURE job$_server(
    IN in_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_known BOOLEAN
)
COMMENT 'Notes, for a controller that begins to work on this server, that the schema is here. On a server that it has not worked on before, a controller that the schema knows (in_known) has followed a failover, and goes on; any other one has met a copy, and all jobs are held until job$adopt. Inside the transaction of the caller, whose turn it is (job$_in_turn). Errors: none of its own. Example: CALL job$_server(v_account, TRUE)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_before, v_name VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_last DATETIME(6);
    DECLARE v_held, v_servers INT;

    SELECT COUNT(*) INTO v_held FROM job_setting WHERE setting_name = 'hold' AND setting_value <> 'UPGRADE';
    SET v_name = CONCAT(@@hostname, ':', @@port);
    SELECT MAX(server_last) INTO v_last FROM job_server;
    SELECT MAX(server_identity) INTO v_before FROM job_server WHERE server_last = v_last;
    IF v_held = 0 AND NOT v_before <=> {{server_identity}} THEN
        SELECT MAX(server_name) INTO v_before FROM job_server WHERE server_identity = v_before;
        IF in_known OR EXISTS (SELECT 1 FROM job_server WHERE server_identity = {{server_identity}}) THEN
            CALL job$_event(0, 'SERVER', in_account, v_before, v_name, 'A controller that the schema knows followed it to this server');
        ELSE
            REPLACE INTO job_setting (setting_name, setting_value) VALUES ('hold', 'COPY');
            SET v_held = 1;
            CALL job$_event(0, 'HELD', in_account, v_before, v_name, 'Neither the server nor the controller is known: this looks like a copy of another server');
        END IF;
    END IF;
    IF v_held = 0 THEN
        INSERT INTO job_server (server_identity, server_name, server_first, server_last)
        VALUES ({{server_identity}}, v_name, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))
        ON DUPLICATE KEY UPDATE server_name = v_name, server_last = UTC_TIMESTAMP(6);
        SELECT COUNT(*) INTO v_servers FROM job_server;
        IF v_servers > 16 THEN
            SELECT MIN(server_last) INTO v_last FROM job_server;
            DELETE FROM job_server WHERE server_last = v_last;
        END IF;
    END IF;
END
