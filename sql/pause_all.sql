CREATE PROCEDURE job$pause_all(
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Pauses all jobs of the caller at once, by a switch beside the jobs; each keeps its own status. Runners stay and skip. Options, one JSON document: reason (a text for the record). Answers one row (changed, message). Commits the caller''s open transaction. Errors: 45002. Example: CALL job$pause_all(''{"reason": "restore"}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_switch(v_token, TRUE, in_options);
END
