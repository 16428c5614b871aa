-- One row for each attempt at an occurrence, and one for each span of skipped occurrences.
CREATE TABLE IF NOT EXISTS job_run (
    job_id BIGINT UNSIGNED NOT NULL
        COMMENT 'The job; rows outlive it, so there is no foreign key',
    run_no BIGINT UNSIGNED NOT NULL
        COMMENT 'Number within the job, from 1, by job.job_run_counter',
    run_kind VARCHAR(16) NOT NULL DEFAULT 'SCHEDULED'
        COMMENT 'SCHEDULED (an instant of the grid), MANUAL (asked for), START (once per controller start) or EXEC (a command)',
    outcome VARCHAR(16) NOT NULL
        COMMENT 'RUNNING OK ERROR TIMEOUT KILLED LOST (its session was gone) SKIPPED (a span)',
    reason VARCHAR(32) NULL
        COMMENT 'Why a span was skipped: OVERRUN (the run before took that long) NO_RUNNER STALLED (the runner could not go on) CHANGED (the schedule) PAUSED ABORTED DISABLED ERROR FINISHED SWITCH',
    job_owner VARCHAR(128) NOT NULL
        COMMENT 'Owner of the job, as it was',
    job_name VARCHAR(129) NOT NULL
        COMMENT 'Name of the job, as it was',
    scheduled_for DATETIME(6) NOT NULL
        COMMENT 'UTC; the planned instant; of a span, the first one',
    attempt INT UNSIGNED NOT NULL
        COMMENT 'Which attempt at this instant, from 1; 0 for a span',
    started_at DATETIME(6) NULL
        COMMENT 'UTC; when the body was started; NULL for a span',
    finished_at DATETIME(6) NULL
        COMMENT 'UTC; when the end was recorded; NULL while RUNNING',
    span_last DATETIME(6) NULL
        COMMENT 'UTC; last planned instant of a span',
    span_count INT UNSIGNED NULL
        COMMENT 'Planned instants in a span, exact up to 10,000; NULL: many, or no span',
    error_code INT UNSIGNED NULL
        COMMENT 'Server error code of a failure',
    error_sqlstate CHAR(5) NULL
        COMMENT 'SQLSTATE of a failure',
    error_message VARCHAR(1024) NULL
        COMMENT 'What went wrong',
    run_leaked VARCHAR(1024) NULL
        COMMENT 'Settings of the session that the body left changed and that were put back; an exclamation mark: could not be',
    run_account VARCHAR(384) NULL
        COMMENT 'Account with whose rights it ran; of a span, who ended it',
    run_host VARCHAR(255) NULL
        COMMENT 'Host of that login',
    run_connection_id BIGINT UNSIGNED NULL
        COMMENT 'Connection that ran it',
    run_server VARCHAR(255) NULL
        COMMENT 'Identity of the server that ran it',
    run_controller VARCHAR(255) NULL
        COMMENT 'Controller of the runner, if it had one',
    run_epoch BIGINT UNSIGNED NULL
        COMMENT 'Epoch of the runner',
    CONSTRAINT pk_job_run PRIMARY KEY (job_id, run_no),
    CONSTRAINT uk_job_run_occurrence UNIQUE (job_id, run_kind, scheduled_for, attempt),
    CONSTRAINT ck_job_run_kind
        CHECK (run_kind IN ('SCHEDULED', 'MANUAL', 'START', 'EXEC')),
    CONSTRAINT ck_job_run_outcome
        CHECK (outcome IN ('RUNNING', 'OK', 'ERROR', 'TIMEOUT', 'KILLED', 'LOST', 'SKIPPED')),
    CONSTRAINT ck_job_run_finished
        CHECK ((outcome = 'RUNNING') = (finished_at IS NULL)),
    CONSTRAINT ck_job_run_started
        CHECK ((outcome = 'SKIPPED') = (started_at IS NULL)),
    CONSTRAINT ck_job_run_span
        CHECK ((outcome = 'SKIPPED') = (attempt = 0) AND (outcome = 'SKIPPED') = (span_last IS NOT NULL)
               AND (outcome <> 'SKIPPED' OR reason IS NOT NULL))
)
ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
COMMENT = 'jobctl: what ran and how it ended, what was skipped and why'
