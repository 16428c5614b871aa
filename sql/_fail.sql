CREATE PROCEDURE job$_fail(
    IN in_errno INT UNSIGNED,
    IN in_text VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Raises SQLSTATE 45000 with the error number in_errno (45000 + the exit status of jobctl: 2 wrong usage, 3 no such job, 4 refused, 75 busy) and in_text cut to the 128 characters that a message may have. Errors: that one. Example: CALL job$_fail(45002, ''job$define: unknown option "evry"'')'
SQL SECURITY DEFINER
DETERMINISTIC
NO SQL
BEGIN
    DECLARE v_text VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin DEFAULT LEFT(in_text, 128);

    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = in_errno, MESSAGE_TEXT = v_text;
END
