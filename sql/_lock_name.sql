CREATE PROCEDURE job$_lock_name(
    IN in_kind VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_id VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Makes the name of a lock: a digest of the secret, the schema, the kind (job, life, bell, ear) and the id, which nobody can guess, since any account may take any lock whose name it knows. Errors: none. Example: CALL job$_lock_name(''job'', v_job_id, v_lock_name)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    SELECT SHA2(CONCAT(setting_value, ':', {{schema}}, ':', in_kind, ':', in_id), 256) INTO out_lock_name
    FROM job_setting
    WHERE setting_name = 'secret';
END
