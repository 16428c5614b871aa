CREATE PROCEDURE job$controller(
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Makes this session the bell of a controller of the caller''s jobs: it holds a lock that is free the moment the session ends, which tells the runners of the controller and everybody else that it is gone. Options, one JSON document: name, exact (else a name that is in use gets a number), host, pid, version, ttl (seconds without a heartbeat after which it counts as stale, default 30), former (the life of this controller before, whose bell it gave up: that one is ended). Answers one row (controller_name, controller_life). Commits the caller''s open transaction. Errors: 45002, 45075 a controller of that name lives. Example: CALL job$controller(''{"name": "ana@db1"}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_controller(v_token, in_options);
END
