CREATE PROCEDURE job$adopt()
COMMENT 'Says that this server is where the jobs are to run: lifts the hold under which a copy of another server stands. Not granted to owners, as it is about everybody''s jobs. Answers one row (adopted): 0 when nothing was held. Commits the caller''s open transaction. Errors: 45004 on a read-only server. Example: CALL job$adopt()'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_adopt(v_token);
END
