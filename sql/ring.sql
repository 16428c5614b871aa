CREATE PROCEDURE job$ring(
    IN in_life BIGINT UNSIGNED,
    IN in_bells LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Rings bells of runners, in the session that job$controller made the bell of their controller: each wakes, looks at its job and waits for the next bell. in_bells: a JSON array of [job_id, number]; bell number is taken, and the one before it released, in that order, so that none is missed and none heard twice. Commits the caller''s open transaction. Jobs that are not the caller''s are passed over. Errors: 45004 when this session is not the bell. Example: CALL job$ring(42, ''[[1, 7]]'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_ring(v_token, in_life, in_bells);
END
