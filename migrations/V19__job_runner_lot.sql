-- A parked job has no session: its controller holds its lock on one connection for all of them.
ALTER TABLE job
    ADD COLUMN job_runner_lot BIGINT UNSIGNED NULL
        COMMENT 'Connection of the controller that holds the lock of a parked job, or hands it over to a session; NULL: never parked'
        AFTER job_runner_connection_id
