CREATE PROCEDURE job$_check_name(
    IN in_routine VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Checks, for in_routine, the new name of a job: 1 to 129 characters, no control character, no blank at either end; anything else is fine. Errors: 45002. Example: CALL job$_check_name(''job$define'', ''nightly'')'
SQL SECURITY DEFINER
DETERMINISTIC
NO SQL
BEGIN
    IF COALESCE(in_job_name, '') = '' THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': a job needs a name'));
    ELSEIF CHAR_LENGTH(in_job_name) > 129 THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': a name has at most 129 characters'));
    ELSEIF in_job_name REGEXP '[[:cntrl:]]' THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': a name holds no control characters'));
    ELSEIF in_job_name REGEXP '^[[:space:]]|[[:space:]]$' THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': a name neither begins nor ends with a blank'));
    END IF;
END
