CREATE PROCEDURE job$_option(
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_key VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_value LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Reads one option as text: strings without their quotes, numbers and booleans as they are written; NULL where it is absent or null. Errors: none for a valid object. Example: CALL job$_option(in_options, ''every'', v_every)'
SQL SECURITY DEFINER
DETERMINISTIC
NO SQL
BEGIN
    SET out_value = JSON_EXTRACT(in_options, CONCAT('$.', in_key));
    IF JSON_TYPE(out_value) = 'NULL' THEN
        SET out_value = NULL;
    ELSE
        SET out_value = JSON_UNQUOTE(out_value);
    END IF;
END
