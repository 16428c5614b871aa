CREATE PROCEDURE job$_session_restore(
    IN in_settings LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_leaked VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Puts the settings of this session back to in_settings, which job$_session read: only those that differ, since an account may be unable to set some of them even to what they are. out_leaked: the names of those that differed, an exclamation mark behind those that could not be put back, such as insert_id, which no SET takes back; NULL: none. Errors: none. Example: CALL job$_session_restore(v_settings, v_leaked)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_now, v_keys LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_key VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_value, v_current VARCHAR(256) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_kept BOOLEAN;
    DECLARE v_i INT DEFAULT 0;

    SET out_leaked = NULL;
    CALL job$_session(v_now);
    SET v_keys = JSON_KEYS(in_settings);
    WHILE v_i < JSON_LENGTH(v_keys) DO
        SET v_key = JSON_UNQUOTE(JSON_EXTRACT(v_keys, CONCAT('$[', v_i, ']')));
        SET v_value = JSON_EXTRACT(in_settings, CONCAT('$.', v_key));
        SET v_current = JSON_EXTRACT(v_now, CONCAT('$.', v_key));
        IF NOT v_value <=> v_current THEN
            SET v_kept = FALSE;
            BEGIN
                DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET v_kept = TRUE;
                SET @`job$call` = CONCAT('SET SESSION ', v_key, ' = ', IF(v_value = 'null', 'NULL', REPLACE(v_value, '"', '''')));
                IF v_key = 'insert_id' THEN
                    SET v_kept = TRUE;
                ELSE
                    PREPARE `job$statement` FROM @`job$call`;
                    EXECUTE `job$statement`;
                    DEALLOCATE PREPARE `job$statement`;
                END IF;
            END;
            SET out_leaked = LEFT(CONCAT_WS(', ', out_leaked, CONCAT(v_key, IF(v_kept, '!', ''))), 1024);
        END IF;
        SET v_i = v_i + 1;
    END WHILE;
END
