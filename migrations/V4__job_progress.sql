-- How far the running body says it is. A row of its own, outside the run row, because the body writes it in its own transaction
-- and must not hold a lock that the runner's bookkeeping needs.
CREATE TABLE IF NOT EXISTS job_progress (
    job_id BIGINT UNSIGNED NOT NULL
        COMMENT 'The job',
    run_no BIGINT UNSIGNED NOT NULL
        COMMENT 'The run that reports',
    progress_at DATETIME(6) NOT NULL
        COMMENT 'UTC; when it reported last',
    progress_done DECIMAL(30,6) NULL
        COMMENT 'How much is done, in the body''s own unit',
    progress_total DECIMAL(30,6) NULL
        COMMENT 'How much there is, in the same unit; NULL: unknown',
    progress_text VARCHAR(1024) NULL
        COMMENT 'What it does now, in the body''s words',
    CONSTRAINT pk_job_progress PRIMARY KEY (job_id)
)
ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
COMMENT = 'jobctl: how far running jobs say they are'
