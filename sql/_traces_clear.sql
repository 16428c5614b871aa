CREATE PROCEDURE job$_traces_clear(
    IN in_temporary BIGINT,
    IN in_handles BIGINT,
    IN in_variables LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_leaked VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Looks for what job$_traces sees now and did not see before (in_temporary, in_handles, in_variables), and sets new user variables to NULL. out_leaked: their names, and temporary tables! or MEMORY or MyISAM tables! where there are some, which only a new session clears; NULL: nothing. Errors: none. Example: CALL job$_traces_clear(v_temporary, v_handles, v_variables, v_leaked)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_temporary, v_handles BIGINT;
    DECLARE v_variables LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_name VARCHAR(256) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_i INT DEFAULT 0;

    SET out_leaked = NULL;
    CALL job$_traces(v_temporary, v_handles, v_variables);
    IF v_temporary > in_temporary THEN
        SET out_leaked = 'temporary tables!';
    END IF;
    IF v_handles > in_handles THEN
        SET out_leaked = CONCAT_WS(', ', out_leaked, 'MEMORY or MyISAM tables!');
    END IF;
    WHILE v_i < JSON_LENGTH(v_variables) DO
        SET v_name = JSON_EXTRACT(v_variables, CONCAT('$[', v_i, ']'));
        IF NOT COALESCE(JSON_CONTAINS(in_variables, v_name), FALSE) THEN
            SET v_name = JSON_UNQUOTE(v_name);
            SET @`job$call` = CONCAT('SET @`', REPLACE(v_name, '`', '``'), '` = NULL');
            PREPARE `job$statement` FROM @`job$call`;
            EXECUTE `job$statement`;
            DEALLOCATE PREPARE `job$statement`;
            SET out_leaked = LEFT(CONCAT_WS(', ', out_leaked, CONCAT('@', v_name)), 1024);
        END IF;
        SET v_i = v_i + 1;
    END WHILE;
END
