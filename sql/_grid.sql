CREATE PROCEDURE job$_grid(
    IN in_anchor DATETIME(6),
    IN in_interval DECIMAL(16,6),
    IN in_time DATETIME(6),
    OUT out_last DATETIME(6),
    OUT out_next DATETIME(6)
)
COMMENT 'Places an instant (UTC) on the grid anchor + k x interval, k = 0, 1, 2...: out_last is the last planned instant at or before in_time, out_next the first one after it; NULL where there is none. in_interval: seconds, NULL for the anchor alone. Exact to the microsecond, whatever the distance. Errors: none. Example: CALL job$_grid(''2026-12-01 02:00:00'', 21600, UTC_TIMESTAMP(6), v_last, v_next)'
SQL SECURITY DEFINER
DETERMINISTIC
NO SQL
BEGIN
    DECLARE v_step BIGINT DEFAULT CAST(in_interval * 1000000 AS SIGNED);
    DECLARE v_k BIGINT;

    SET out_last = NULL, out_next = NULL;
    IF in_time < in_anchor THEN
        SET out_next = in_anchor;
    ELSEIF in_interval IS NULL THEN
        SET out_last = in_anchor;
    ELSE
        SET v_k = TIMESTAMPDIFF(MICROSECOND, in_anchor, in_time) DIV v_step;
        SET out_last = in_anchor + INTERVAL (v_k * v_step) MICROSECOND;
        SET out_next = in_anchor + INTERVAL ((v_k + 1) * v_step) MICROSECOND;
    END IF;
END
