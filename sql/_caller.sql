CREATE PROCEDURE job$_caller(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Tells whose call this is, from the ticket in_token that the API routine has just written, and takes the ticket back by a rollback, which also ends whatever transaction the caller had open. out_account: the account; out_owner: its user name, what stands before the last @. Errors: 45004 when there is no such ticket, 1422 from a trigger or function. Example: CALL job$_caller(in_token, v_account, v_owner)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    SELECT MAX(ticket_account) INTO v_account
    FROM job_ticket
    WHERE ticket_token = in_token
      AND ticket_connection_id = CONNECTION_ID()
      AND ticket_schema = {{schema}}
      AND CAST(ticket_mode AS CHAR) = '2000-02-31';
    ROLLBACK AND NO CHAIN NO RELEASE;
    -- A ticket that outlives the rollback was committed, and no routine of ours does that.
    IF v_account IS NULL OR EXISTS (SELECT 1 FROM job_ticket WHERE ticket_token = in_token) THEN
        SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 45004,
            MESSAGE_TEXT = 'job$_caller: this ticket does not prove who calls; call the routine without the underscore';
    END IF;
    SET out_owner = LEFT(v_account, CHAR_LENGTH(v_account) - CHAR_LENGTH(SUBSTRING_INDEX(v_account, '@', -1)) - 1);
    IF out_owner = '' THEN
        SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 45004,
            MESSAGE_TEXT = 'job$_caller: an anonymous account cannot own jobs';
    END IF;
    SET out_account = v_account;
END
