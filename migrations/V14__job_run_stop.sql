-- A run that is to be stopped is marked first: whoever closes its row, knows why it ended.
ALTER TABLE job_run
    ADD COLUMN run_stop VARCHAR(16) NULL
        COMMENT 'KILLED or TIMEOUT: somebody asked for its end while it ran; the outcome it then has, unless it completed all the same',
    ADD COLUMN run_stop_at DATETIME(6) NULL
        COMMENT 'UTC; when that was',
    ADD COLUMN run_stop_by VARCHAR(384) NULL
        COMMENT 'Account that asked',
    ADD COLUMN run_stop_reason VARCHAR(1024) NULL
        COMMENT 'Why, in its words',
    ADD CONSTRAINT ck_job_run_stop CHECK (run_stop IN ('KILLED', 'TIMEOUT'))
