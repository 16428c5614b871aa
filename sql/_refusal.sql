CREATE PROCEDURE job$_refusal(
    IN in_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_job_id BIGINT UNSIGNED,
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Finds a job and tells why no runner may start for it now: out_message is NULL when one may, as far as can be seen without its lock. Errors: none. Example: CALL job$_refusal(''ana'', ''nightly'', v_job_id, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
refusal: BEGIN
    DECLARE v_status, v_kind, v_runner_status VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_server, v_server_name VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_controller VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_finish, v_seen DATETIME(6);
    DECLARE v_ttl DECIMAL(16,6) DEFAULT 30;
    DECLARE v_primaries INT DEFAULT 0;

    SET out_job_id = NULL, out_message = NULL;
    SELECT MAX(job_id) INTO out_job_id
    FROM job
    WHERE job_owner = in_owner AND job_name = in_job_name AND CHAR_LENGTH(job_name) = CHAR_LENGTH(in_job_name)
      AND CHAR_LENGTH(job_owner) = CHAR_LENGTH(in_owner);
    IF out_job_id IS NULL THEN
        SET out_message = 'You own no job of that name';
        LEAVE refusal;
    END IF;
    SELECT job_status, job_kind, job_schedule_finish, job_runner_status, job_runner_server, job_runner_server_name,
           job_runner_seen, job_runner_controller
    INTO v_status, v_kind, v_finish, v_runner_status, v_server, v_server_name, v_seen, v_controller
    FROM job WHERE job_id = out_job_id;
    IF v_server <> {{server_identity}} AND v_controller IS NOT NULL THEN
        -- In a long run only its controller shows a sign of life; one that came over here, has shown its last one there.
        SELECT GREATEST(v_seen, COALESCE(MAX(IF(controller_server = v_server, controller_heartbeat, controller_left)), v_seen)),
               COALESCE(MAX(controller_ttl), v_ttl)
        INTO v_seen, v_ttl
        FROM job_controller WHERE controller_owner = in_owner AND controller_name = v_controller;
    END IF;

    IF v_kind <> 'PROCEDURE' THEN
        SET out_message = CONCAT('A job of kind ', v_kind, ' is not run inside the server');
    ELSEIF v_status NOT IN ('ENABLED', 'RESUMED', 'PAUSED') THEN
        SET out_message = CONCAT('The job is ', v_status, ', and only an ENABLED or PAUSED one gets a runner');
    ELSEIF v_finish < UTC_TIMESTAMP(6) THEN
        SET out_message = CONCAT('The schedule was over at ', v_finish, ' UTC');
    ELSEIF {{read_only}} THEN
        SET out_message = CONCAT('This server (', @@hostname, ':', @@port, ') is read-only; run the job on the writable one');
    ELSEIF {{wsrep_on}} THEN
        SET out_message = 'This server is a Galera node (wsrep_on), where a named lock does not hold across nodes';
    ELSEIF v_server <> {{server_identity}} AND v_runner_status IS NOT NULL AND v_seen > UTC_TIMESTAMP(6) - INTERVAL v_ttl SECOND THEN
        SET out_message = CONCAT('A runner on another server (', v_server_name, ') was alive a moment ago; try again in ',
            CEIL(v_ttl - TIMESTAMPDIFF(MICROSECOND, v_seen, UTC_TIMESTAMP(6)) * 0.000001), ' s');
    ELSE
        CALL job$_held(out_message);
    END IF;
    IF out_message IS NOT NULL THEN
        LEAVE refusal;
    END IF;

    BEGIN
        DECLARE CONTINUE HANDLER FOR 1109, 1146, 1142 SET v_primaries = 0;
        SELECT COUNT(*) INTO v_primaries
        FROM performance_schema.replication_group_members
        WHERE member_role = 'PRIMARY' AND member_state = 'ONLINE';
    END;
    IF v_primaries > 1 THEN
        SET out_message = 'This server is one of several primaries, where a named lock does not hold across members';
    END IF;
END
