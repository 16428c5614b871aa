CREATE PROCEDURE job$resume_all(
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Lifts the switch that job$pause_all set: jobs go on at their next occurrences; those paused singly stay paused. Options, one JSON document: reason (a text for the record). Answers one row (changed, message). Commits the caller''s open transaction. Errors: 45002. Example: CALL job$resume_all(''{"reason": "restore"}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_switch(v_token, FALSE, in_options);
END
