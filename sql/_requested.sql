CREATE PROCEDURE job$_requested(
    IN in_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Tells the controllers of in_owner, or all of them where that is empty, that something was requested: raises the owner''s counter, for which job$_listen looks. The last write inside the transaction of the caller: a counter is locked after the rows of jobs, and never before. Errors: none of its own. Example: CALL job$_requested(v_owner)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    INSERT INTO job_request (request_owner, request_counter) VALUES (in_owner, 1)
    ON DUPLICATE KEY UPDATE request_counter = request_counter + 1;
END
