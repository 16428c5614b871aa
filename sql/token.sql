CREATE PROCEDURE job$token(
    OUT out_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Makes a token that nobody can guess and that never comes again: a digest of the secret, of UUID() and of chance. Errors: none. Example: CALL job$token(v_token)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    SELECT SHA2(CONCAT(setting_value, ':token:', UUID(), ':', CONNECTION_ID(), ':', RAND()), 256) INTO out_token
    FROM job_setting
    WHERE setting_name = 'secret';
END
