CREATE PROCEDURE job$_adopt(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$adopt that writes; in_token: the ticket. Errors: 45004. Example: none, call job$adopt'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_held INT;
    DECLARE v_tries INT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    CALL job$_caller(in_token, v_account, v_owner);
    IF {{read_only}} THEN
        CALL job$_fail(45004, 'job$adopt: this server is read-only, and so not where jobs run');
    END IF;
    again: LOOP
        BEGIN
            DECLARE EXIT HANDLER FOR 1213, 1205, 1020
            BEGIN
                ROLLBACK AND NO CHAIN NO RELEASE;
                SET v_tries = v_tries + 1;
                IF v_tries >= 10 THEN
                    RESIGNAL;
                END IF;
            END;

            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            CALL job$_in_turn();
            SELECT COUNT(*) INTO v_held FROM job_setting WHERE setting_name = 'hold' FOR UPDATE;
            IF v_held > 0 THEN
                DELETE FROM job_setting WHERE setting_name = 'hold';
                CALL job$_event(0, 'ADOPTED', v_account, NULL, CONCAT(@@hostname, ':', @@port), NULL);
            END IF;
            CALL job$_server(v_account, TRUE);
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;
    CALL job$_wake('');
    SELECT v_held > 0 AS adopted;
END
