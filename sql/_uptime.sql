CREATE PROCEDURE job$_uptime(
    OUT out_seconds BIGINT UNSIGNED
)
COMMENT 'Tells for how many seconds this server has been up: connection ids are given out anew after a restart. Errors: none. Example: CALL job$_uptime(v_uptime)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    SELECT CAST(variable_value AS UNSIGNED) INTO out_seconds
    FROM {{status_schema}}.global_status
    WHERE variable_name = 'Uptime';
END
