CREATE PROCEDURE job$ticket(
    OUT out_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Writes the ticket of one API call, by which the routine behind it knows whose call it is: the defaults of job_ticket fill in the account with whose rights this code runs. A row that came another way proves nothing: ticket_schema tells a trigger or function of somebody else''s, and ticket_mode can be computed only in the sql_mode that this routine gives itself and that ends with it, which tells a statement or a view. Commits the caller''s open transaction, as DDL does, and opens one, which job$_caller rolls back. Errors: those of the INSERT. Example: CALL job$ticket(v_token)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    COMMIT AND NO CHAIN NO RELEASE;
    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
    START TRANSACTION READ WRITE;
    SET SESSION sql_mode = 'ALLOW_INVALID_DATES';
    CALL job$token(out_token);
    INSERT INTO job_ticket (ticket_token) VALUES (out_token);
END
