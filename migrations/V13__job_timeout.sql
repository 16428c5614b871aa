-- How long an attempt may take.
ALTER TABLE job
    ADD COLUMN job_timeout DECIMAL(16,6) NULL
        COMMENT 'Seconds after which an attempt is stopped; NULL: never'
        AFTER job_max_failures
