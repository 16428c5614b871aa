CREATE PROCEDURE job$token(
    OUT out_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Issues a token: 128 random bits, and a digest that binds them to this connection and to the number of CALLs that it has made so far. job$ticket inserts it into job_ticket, and job$_caller believes it only if exactly the CALLs of jobctl lie between; so a ticket that a foreign trigger or function left behind is worth nothing. Errors: none. Example: CALL job$token(v_token)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_nonce CHAR(32) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_secret VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_calls BIGINT;

    SELECT setting_value INTO v_secret FROM job_setting WHERE setting_name = 'secret';
    CALL job$_calls(v_calls);
    -- Unguessable without the secret, and UUID() never repeats.
    SET v_nonce = LEFT(SHA2(CONCAT(v_secret, 'nonce', UUID(), RAND()), 256), 32);
    SET out_token = CONCAT(v_nonce, LEFT(SHA2(CONCAT(v_secret, 'ticket', v_nonce, CONNECTION_ID(), ':', v_calls), 256), 32));
END
