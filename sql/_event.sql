CREATE PROCEDURE job$_event(
    IN in_job_id BIGINT UNSIGNED,
    IN in_kind VARCHAR(32) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_by VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_from VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_to VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Writes one event of a job into job_event, or, with in_job_id 0, one of the system as a whole; inside the transaction of the caller, who holds the lock of the job row. Errors: none of its own. Example: CALL job$_event(v_job_id, ''STATUS'', v_account, ''ENABLED'', ''FINISHED'', ''the window is over'')'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_event_no BIGINT UNSIGNED;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    IF in_job_id = 0 THEN
        SELECT setting_value + 1 INTO v_event_no FROM job_setting WHERE setting_name = 'event_counter' FOR UPDATE;
        UPDATE job_setting SET setting_value = v_event_no WHERE setting_name = 'event_counter';
    ELSE
        SELECT job_event_counter + 1, job_owner, job_name INTO v_event_no, v_owner, v_name
        FROM job WHERE job_id = in_job_id FOR UPDATE;
        UPDATE job SET job_event_counter = v_event_no, job_changed = job_changed WHERE job_id = in_job_id;
    END IF;
    INSERT INTO job_event (
        job_id, event_no, event_at, event_kind, job_owner, job_name,
        event_by, event_from, event_to, event_message, event_connection_id, event_server
    ) VALUES (
        in_job_id, v_event_no, UTC_TIMESTAMP(6), in_kind, v_owner, v_name,
        in_by, in_from, in_to, in_message, CONNECTION_ID(), {{server_identity}}
    );
END
