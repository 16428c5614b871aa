CREATE PROCEDURE job$_in_turn()
COMMENT 'Waits until nobody else changes what concerns the system as a whole, for the rest of the caller''s transaction. Whoever writes an event of the system begins with it, and only then locks rows of controllers or settings: in one order nobody deadlocks. Errors: 1205 after a long wait. Example: CALL job$_in_turn()'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_counter BIGINT UNSIGNED;

    SELECT MAX(setting_value) INTO v_counter FROM job_setting WHERE setting_name = 'event_counter' FOR UPDATE;
END
