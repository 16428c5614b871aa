CREATE PROCEDURE job$_probe(
    IN in_ran BOOLEAN,
    OUT out_client_gone BOOLEAN
)
COMMENT 'Sends an empty result set, which tells whether the client still listens: where the client is dead, that is an error, just once. in_ran: whether a body ran since the last time, which may have got that error; then it is seen whether anything is sent. Errors: none. Example: CALL job$_probe(v_ran, v_client_gone)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_sent BIGINT;
    DECLARE EXIT HANDLER FOR 1158, 1159, 1160, 1161 SET out_client_gone = TRUE;

    SET out_client_gone = FALSE;
    IF in_ran THEN
        SELECT variable_value INTO v_sent FROM {{status_schema}}.session_status WHERE variable_name = 'Bytes_sent';
    END IF;
    SELECT NULL AS job_name, NULL AS message LIMIT 0;
    IF in_ran THEN
        SELECT variable_value = v_sent INTO out_client_gone
        FROM {{status_schema}}.session_status WHERE variable_name = 'Bytes_sent';
    END IF;
END
