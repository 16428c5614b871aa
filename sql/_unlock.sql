CREATE PROCEDURE job$_unlock()
COMMENT 'Gives back table locks, a global read lock and a backup stage that a body took in this session by PREPARE, each as far as this server can prepare it; what cannot be given back stays, and the next write fails. Errors: none. Example: CALL job$_unlock()'
SQL SECURITY INVOKER
NOT DETERMINISTIC
NO SQL
BEGIN
    BEGIN
        DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN END;
        PREPARE `job$statement` FROM 'UNLOCK TABLES';
        EXECUTE `job$statement`;
    END;
    BEGIN
        DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN END;
        PREPARE `job$statement` FROM 'BACKUP STAGE END';
        EXECUTE `job$statement`;
    END;
END
