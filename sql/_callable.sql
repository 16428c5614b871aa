CREATE PROCEDURE job$_callable(
    IN in_routine VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_schema VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_procedure VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Checks that a procedure exists, takes no argument and may be executed by the caller. MySQL tells when a CALL is prepared, but hides routines from information_schema where the right comes by a role; MariaDB prepares any CALL, but lists in information_schema just what the caller may use. So both are asked, the second where a CALL of nothing can be prepared. Errors: 45002. Example: CALL job$_callable(''job$define'', ''shop'', ''roll_up'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_prepare_checks BOOLEAN DEFAULT FALSE;
    DECLARE v_arguments INT;
    DECLARE v_text VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    IF COALESCE(in_schema, '') = '' OR COALESCE(in_procedure, '') = '' THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': say which procedure to call, by the options schema and procedure'));
    END IF;
    IF CHAR_LENGTH(in_schema) > 64 OR CHAR_LENGTH(in_procedure) > 64 THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': the names of a schema and a procedure have at most 64 characters'));
    END IF;

    SET @`job$call` = CONCAT('CALL `', REPLACE(in_schema, '`', '``'), '`.`', REPLACE(in_procedure, '`', '``'), '`()');
    BEGIN
        DECLARE EXIT HANDLER FOR SQLEXCEPTION
        BEGIN
            GET DIAGNOSTICS CONDITION 1 v_text = MESSAGE_TEXT;
            CALL job$_fail(45002, CONCAT(in_routine, ': ', v_text));
        END;
        PREPARE `job$statement` FROM @`job$call`;
        DEALLOCATE PREPARE `job$statement`;
    END;
    BEGIN
        DECLARE EXIT HANDLER FOR SQLEXCEPTION SET v_prepare_checks = TRUE;
        PREPARE `job$statement` FROM 'CALL `no such schema`.`no such procedure`()';
        DEALLOCATE PREPARE `job$statement`;
    END;
    SET @`job$call` = NULL;

    IF NOT v_prepare_checks THEN
        IF NOT EXISTS (
            SELECT 1 FROM information_schema.routines
            WHERE routine_schema = in_schema AND routine_name = in_procedure AND routine_type = 'PROCEDURE'
        ) THEN
            CALL job$_fail(45002, CONCAT(in_routine, ': there is no procedure ', in_schema, '.', in_procedure, ' that you may execute'));
        END IF;
        SELECT COUNT(*) INTO v_arguments
        FROM information_schema.parameters
        WHERE specific_schema = in_schema AND specific_name = in_procedure AND routine_type = 'PROCEDURE';
        IF v_arguments > 0 THEN
            CALL job$_fail(45002, CONCAT(in_routine, ': the procedure needs ', v_arguments, ' argument(s), and a job gives none: ',
                in_schema, '.', in_procedure));
        END IF;
    END IF;
END
