CREATE PROCEDURE job$_check_time(
    IN in_routine VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_key VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_text LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_time DATETIME(6)
)
COMMENT 'Reads the time option in_key: YYYY-MM-DD HH:MM:SS with up to 6 decimals, UTC, years 1970 to 8999; NULL stays NULL. Errors: 45002. Example: CALL job$_check_time(''job$define'', ''start'', ''2026-12-01 02:00:00'', v_start)'
SQL SECURITY DEFINER
DETERMINISTIC
NO SQL
BEGIN
    SET out_time = NULL;
    IF in_text IS NOT NULL THEN
        IF in_text REGEXP '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?$' THEN
            BEGIN
                DECLARE CONTINUE HANDLER FOR SQLEXCEPTION, SQLWARNING SET out_time = NULL;
                SET out_time = CAST(in_text AS DATETIME(6));
            END;
        END IF;
        IF out_time IS NULL OR YEAR(out_time) NOT BETWEEN 1970 AND 8999 THEN
            CALL job$_fail(45002, CONCAT(in_routine, ': ', in_key, ' must be a UTC time from 1970 to 8999 such as 2026-12-01 02:00:00'));
        END IF;
    END IF;
END
