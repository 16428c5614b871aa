CREATE PROCEDURE job$_held(
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Tells why all jobs are held; out_message: NULL when they are not. Errors: none. Example: CALL job$_held(v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    SELECT MAX(CASE setting_value
        -- Only as long as the installer lives.
        WHEN 'UPGRADE' THEN IF({{installing}}, 'All jobs are held, while jobctl is being upgraded', NULL)
        ELSE 'All jobs are held, because this looks like a copy of another server; `jobctl adopt` lets them go'
    END)
    INTO out_message
    FROM job_setting WHERE setting_name = 'hold';
END
