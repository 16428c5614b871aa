-- A job: what runs, when, what is wanted of it, and what its runner does now.
-- What is wanted (job_status) and what is (job_runner_status) live in two columns, so that a request is never overwritten by a
-- runner that finishes a cycle. Every time is UTC by the database's clock.
CREATE TABLE IF NOT EXISTS job (
    job_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT
        COMMENT 'Identity of the job; never reused; job$define counts by itself, AUTO_INCREMENT is for plain INSERTs',
    job_owner VARCHAR(128) NOT NULL
        COMMENT 'User name of the account that defined the job: what stands before the last @ of CURRENT_USER()',
    job_name VARCHAR(129) NOT NULL
        COMMENT 'Name of the job, unique for its owner, compared as binary',
    job_description VARCHAR(1024) NULL
        COMMENT 'What the job is for, in its owner''s words',
    job_kind VARCHAR(16) NOT NULL DEFAULT 'PROCEDURE'
        COMMENT 'PROCEDURE (a stored procedure), STATEMENT (an SQL statement) or EXTERNAL (a command outside the database)',
    job_procedure_schema VARCHAR(64) NULL
        COMMENT 'Schema of the procedure; NULL for other kinds',
    job_procedure_name VARCHAR(64) NULL
        COMMENT 'Name of the procedure, which takes no argument; NULL for other kinds',
    job_schedule_start DATETIME(6) NULL
        COMMENT 'UTC; nothing is planned before it; NULL: one interval after the definition',
    job_schedule_finish DATETIME(6) NULL
        COMMENT 'UTC; nothing is planned after it; NULL: no end',
    job_schedule_interval DECIMAL(16,6) NULL
        COMMENT 'Seconds between two planned instants; NULL: only the anchor itself is planned',
    job_schedule_anchor DATETIME(6) NULL
        COMMENT 'UTC; first instant of the grid anchor + k x interval: the start, else the definition plus one interval',
    job_max_failures INT UNSIGNED NULL
        COMMENT 'Failed occurrences in a row after which the job becomes ERROR; NULL: never',
    job_status VARCHAR(16) NOT NULL DEFAULT 'ENABLED'
        COMMENT 'What is wanted, or how it ended: ENABLED PAUSED ABORTED DISABLED FINISHED ERROR; RESUMED is read as ENABLED',
    job_failures INT UNSIGNED NOT NULL DEFAULT 0
        COMMENT 'Failed occurrences (ERROR, TIMEOUT, LOST) in a row, up to now',
    job_next DATETIME(6) NULL
        COMMENT 'UTC; the next occurrence; nothing before it can be claimed any more; NULL: not computed yet, or none',
    job_next_start DATETIME(6) NULL
        COMMENT 'job_schedule_start that job_next was computed from: tells that a plain UPDATE changed the schedule',
    job_next_interval DECIMAL(16,6) NULL
        COMMENT 'job_schedule_interval that job_next was computed from',
    job_runner_status VARCHAR(16) NULL
        COMMENT 'What the runner does now: WAITING SLEEPING RUNNING RETRYING PAUSED; NULL: no runner',
    job_runner_reason VARCHAR(64) NULL
        COMMENT 'Why the runner waits, where the status alone does not say it',
    job_runner_message VARCHAR(1024) NULL
        COMMENT 'How the last runner ended, in the words of job$run',
    job_runner_connection_id BIGINT UNSIGNED NULL
        COMMENT 'CONNECTION_ID() of the present or last runner',
    job_runner_account VARCHAR(384) NULL
        COMMENT 'Account with whose rights the present or last runner executes',
    job_runner_host VARCHAR(255) NULL
        COMMENT 'Host from which the present or last runner is logged in',
    job_runner_server VARCHAR(255) NULL
        COMMENT 'Identity of the server on which the present or last runner works',
    job_runner_server_id INT UNSIGNED NULL
        COMMENT '@@server_id of that server: tells job_overview, which can name no variable, whether it is read on it',
    job_runner_server_name VARCHAR(255) NULL
        COMMENT 'Host name and port of that server, for people',
    job_runner_controller VARCHAR(255) NULL
        COMMENT 'Controller that keeps the runner alive; NULL: called by a plain client',
    job_runner_version VARCHAR(32) NULL
        COMMENT 'Version of the job$run that the runner executes',
    job_runner_epoch BIGINT UNSIGNED NOT NULL DEFAULT 0
        COMMENT 'Grows by one each time a runner takes the job over; every later write of that runner compares it',
    job_runner_token CHAR(64) NULL
        COMMENT 'SHA2-256 of the run token of the present runner: what proves that a runner speaks',
    job_runner_start DATETIME(6) NULL
        COMMENT 'UTC; when the present or last runner took the job over',
    job_runner_finish DATETIME(6) NULL
        COMMENT 'UTC; when the last runner ended; NULL while one works',
    job_runner_seen DATETIME(6) NULL
        COMMENT 'UTC; last sign of life of the runner: at its start, at each cycle, every 20 s of waiting',
    job_runner_cycles BIGINT UNSIGNED NULL
        COMMENT 'Cycles that the present or last runner has done',
    job_runner_last_cycle_start DATETIME(6) NULL
        COMMENT 'UTC; start of the last cycle',
    job_runner_last_cycle_finish DATETIME(6) NULL
        COMMENT 'UTC; end of the last cycle; NULL while it runs',
    job_stop_epoch BIGINT UNSIGNED NOT NULL DEFAULT 0
        COMMENT 'A runner whose epoch is not above it ends after its present cycle',
    job_stop_reason VARCHAR(16) NULL
        COMMENT 'Why: ABORT SHUTDOWN RENEW UPGRADE',
    job_run_counter BIGINT UNSIGNED NOT NULL DEFAULT 0
        COMMENT 'Last run_no given out in job_run',
    job_run_open BIGINT UNSIGNED NULL
        COMMENT 'run_no of the run that is in progress, or whose end nobody recorded; NULL: none',
    job_run_last BIGINT UNSIGNED NULL
        COMMENT 'run_no of the run that started last',
    job_event_counter BIGINT UNSIGNED NOT NULL DEFAULT 0
        COMMENT 'Last event_no given out in job_event',
    job_defined DATETIME(6) NULL
        COMMENT 'UTC; when the job was defined first',
    job_changed TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)
        COMMENT 'Last change by a person or a request; bookkeeping leaves it alone; compare for inequality only',
    CONSTRAINT pk_job PRIMARY KEY (job_id),
    CONSTRAINT uk_job_owner_name UNIQUE (job_owner, job_name),
    KEY ix_job_changed (job_changed),
    CONSTRAINT ck_job_status
        CHECK (job_status IN ('ENABLED', 'PAUSED', 'ABORTED', 'DISABLED', 'FINISHED', 'ERROR', 'RESUMED')),
    CONSTRAINT ck_job_runner_status
        CHECK (job_runner_status IN ('WAITING', 'SLEEPING', 'RUNNING', 'RETRYING', 'PAUSED')),
    CONSTRAINT ck_job_kind
        CHECK (job_kind IN ('PROCEDURE', 'STATEMENT', 'EXTERNAL')),
    CONSTRAINT ck_job_procedure
        CHECK ((job_kind = 'PROCEDURE') = (job_procedure_schema IS NOT NULL AND job_procedure_name IS NOT NULL)),
    CONSTRAINT ck_job_interval
        CHECK (job_schedule_interval >= 0.001),
    CONSTRAINT ck_job_window
        CHECK (job_schedule_finish >= job_schedule_start),
    CONSTRAINT ck_job_max_failures
        CHECK (job_max_failures >= 1),
    CONSTRAINT ck_job_stop_reason
        CHECK (job_stop_reason IN ('ABORT', 'SHUTDOWN', 'RENEW', 'UPGRADE'))
)
ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
COMMENT = 'jobctl: the jobs, what is wanted of each, and what its runner does'
