CREATE PROCEDURE job$heartbeat(
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Shows that a controller of the caller lives, and ends the runners of the caller''s other controllers that show no sign of life any more: only one that has been heard for as long as that may judge. Options, one JSON document: name, life (as job$controller answered them), finish (true: the controller ends). Answers one row (alive): 0 when the controller itself was judged, or replaced, or came from another server; then it needs a new bell. Commits the caller''s open transaction. Errors: 45002, 45004 on a read-only server. Example: CALL job$heartbeat(''{"name": "ana@db1", "life": 42}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_heartbeat(v_token, in_options);
END
