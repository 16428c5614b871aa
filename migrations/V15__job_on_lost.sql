-- What becomes of an occurrence whose run was lost.
ALTER TABLE job
    ADD COLUMN job_on_lost VARCHAR(8) NOT NULL DEFAULT 'SKIP'
        COMMENT 'SKIP: an occurrence whose run was lost is not run again; RETRY: it is, at once (at least once)'
        AFTER job_timeout,
    ADD COLUMN job_retry_for DATETIME(6) NULL
        COMMENT 'UTC; the occurrence that is to be tried again, before any other; NULL: none'
        AFTER job_next,
    ADD COLUMN job_retry_attempt INT UNSIGNED NULL
        COMMENT 'Number of that attempt'
        AFTER job_retry_for,
    ADD CONSTRAINT ck_job_on_lost CHECK (job_on_lost IN ('SKIP', 'RETRY'))
