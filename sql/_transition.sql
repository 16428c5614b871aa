CREATE PROCEDURE job$_transition(
    IN in_request VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_from VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_to VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The one table of states: which job_status a request (pause resume abort enable disable) leads to from in_from. out_to: the new status, in_from itself where that is what was asked for already, NULL where the request is refused. Errors: none. Example: CALL job$_transition(''pause'', ''ENABLED'', v_to)'
SQL SECURITY DEFINER
DETERMINISTIC
NO SQL
BEGIN
    SET out_to = CASE in_request
        WHEN 'pause' THEN IF(in_from IN ('ENABLED', 'PAUSED'), 'PAUSED', NULL)
        WHEN 'resume' THEN IF(in_from IN ('PAUSED', 'ENABLED'), 'ENABLED', NULL)
        WHEN 'abort' THEN IF(in_from IN ('ENABLED', 'PAUSED', 'ABORTED'), 'ABORTED', NULL)
        WHEN 'enable' THEN IF(in_from IN ('ABORTED', 'DISABLED', 'FINISHED', 'ERROR', 'ENABLED'), 'ENABLED', NULL)
        WHEN 'disable' THEN 'DISABLED'
    END;
END
