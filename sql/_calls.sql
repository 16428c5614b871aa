CREATE PROCEDURE job$_calls(
    OUT out_calls BIGINT
)
COMMENT 'Counts the CALL statements of this session, nested ones included, as seen by the caller of this routine. Always 0 on MySQL, which has no such counter in a table: there the account in a ticket is right in triggers and functions too, and the count is not needed. Errors: none. Example: CALL job$_calls(v_calls)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    SET out_calls = GREATEST({{call_count}} - 1, 0);
END
