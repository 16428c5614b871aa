-- Who did what to a job, and what the system noticed. Append-only.
CREATE TABLE IF NOT EXISTS job_event (
    job_id BIGINT UNSIGNED NOT NULL
        COMMENT 'The job; 0: the system as a whole',
    event_no BIGINT UNSIGNED NOT NULL
        COMMENT 'Number within the job, from 1, by job.job_event_counter',
    event_at DATETIME(6) NOT NULL
        COMMENT 'UTC; when it happened',
    event_kind VARCHAR(32) NOT NULL
        COMMENT 'DEFINED CHANGED DROPPED STATUS STOP RUNNER_START RUNNER_STOP TAKEOVER LOST LOCK_LOST WARNING',
    job_owner VARCHAR(128) NULL
        COMMENT 'Owner of the job, as it was',
    job_name VARCHAR(129) NULL
        COMMENT 'Name of the job, as it was',
    event_by VARCHAR(384) NULL
        COMMENT 'Account that did it',
    event_from VARCHAR(1024) NULL
        COMMENT 'What it was before',
    event_to VARCHAR(1024) NULL
        COMMENT 'What it is now',
    event_message VARCHAR(1024) NULL
        COMMENT 'Reason or explanation, in a sentence',
    event_connection_id BIGINT UNSIGNED NULL
        COMMENT 'Connection in which it was done',
    event_server VARCHAR(255) NULL
        COMMENT 'Identity of the server on which it was done',
    CONSTRAINT pk_job_event PRIMARY KEY (job_id, event_no)
)
ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
COMMENT = 'jobctl: who did what to a job, and what the system noticed'
