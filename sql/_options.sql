CREATE PROCEDURE job$_options(
    IN in_routine VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_known LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Checks the options of an API routine: NULL, or one JSON object whose keys are all in the JSON array in_known. Errors: 45002. Example: CALL job$_options(''job$drop'', in_options, ''["purge_history"]'')'
SQL SECURITY DEFINER
DETERMINISTIC
NO SQL
check_keys: BEGIN
    DECLARE v_keys LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_key VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_i INT DEFAULT 0;

    IF in_options IS NULL THEN
        LEAVE check_keys;
    END IF;
    IF NOT JSON_VALID(in_options) OR JSON_TYPE(in_options) <> 'OBJECT' THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': the options must be one JSON object'));
    END IF;
    SET v_keys = JSON_KEYS(in_options);
    WHILE v_i < JSON_LENGTH(v_keys) DO
        SET v_key = JSON_EXTRACT(v_keys, CONCAT('$[', v_i, ']'));
        IF NOT JSON_CONTAINS(in_known, v_key) THEN
            CALL job$_fail(45002, CONCAT(in_routine, ': unknown option ', LEFT(v_key, 30), '; known are ', in_known));
        END IF;
        SET v_i = v_i + 1;
    END WHILE;
END
