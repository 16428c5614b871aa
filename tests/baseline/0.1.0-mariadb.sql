-- jobctl 0.1.0: what `jobctl install` would do here
-- It holds the secret that names jobctl's locks: keep it as you keep a password.
SET NAMES utf8mb4 COLLATE utf8mb4_bin, time_zone = '+00:00', autocommit = 1, sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', group_concat_max_len = 1048576, wait_timeout = 31536000;

CREATE DATABASE `jobctl_baseline` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

USE `jobctl_baseline`;

CREATE TABLE IF NOT EXISTS job_schema_history (
    version INT NOT NULL PRIMARY KEY COMMENT 'Number of the migration',
    name VARCHAR(255) COMMENT 'Name of the migration',
    applied_on VARCHAR(255) COMMENT 'UTC; when it was applied',
    checksum VARCHAR(255) COMMENT 'Checksum of its text, by refinery'
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
COMMENT = 'jobctl: the migrations that made these tables';

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
COMMENT = 'jobctl: the jobs, what is wanted of each, and what its runner does';

INSERT INTO job_schema_history (version, name, applied_on, checksum)
VALUES (1, 'job', DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ'), '2051224253137050344');

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
COMMENT = 'jobctl: what ran and how it ended, what was skipped and why';

INSERT INTO job_schema_history (version, name, applied_on, checksum)
VALUES (2, 'job_run', DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ'), '1224169664388337884');

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
COMMENT = 'jobctl: who did what to a job, and what the system noticed';

INSERT INTO job_schema_history (version, name, applied_on, checksum)
VALUES (3, 'job_event', DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ'), '2739279213490785317');

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
COMMENT = 'jobctl: how far running jobs say they are';

INSERT INTO job_schema_history (version, name, applied_on, checksum)
VALUES (4, 'job_progress', DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ'), '4762824791846573265');

-- The controllers (processes of jobctl start) that this schema knows.
CREATE TABLE IF NOT EXISTS job_controller (
    controller_name VARCHAR(255) NOT NULL
        COMMENT 'Its name, by default login@host',
    controller_owner VARCHAR(128) NOT NULL
        COMMENT 'Owner whose jobs it runs',
    controller_account VARCHAR(384) NOT NULL
        COMMENT 'Account it is logged in as',
    controller_host VARCHAR(255) NULL
        COMMENT 'Host it runs on',
    controller_pid BIGINT UNSIGNED NULL
        COMMENT 'Process id on that host',
    controller_version VARCHAR(32) NULL
        COMMENT 'Version of jobctl',
    controller_server VARCHAR(255) NULL
        COMMENT 'Identity of the server it is connected to',
    controller_start DATETIME(6) NULL
        COMMENT 'UTC; when it started',
    controller_finish DATETIME(6) NULL
        COMMENT 'UTC; when it ended in good order; NULL: it did not, yet',
    controller_heartbeat DATETIME(6) NULL
        COMMENT 'UTC; its last sign of life',
    controller_ttl DECIMAL(16,6) NULL
        COMMENT 'Seconds without a heartbeat after which it counts as stale',
    controller_bell_connection_id BIGINT UNSIGNED NULL
        COMMENT 'Connection that holds its life lock and rings its runners',
    controller_life BIGINT UNSIGNED NOT NULL DEFAULT 0
        COMMENT 'Number of its present life lock; each new bell connection has a new one',
    CONSTRAINT pk_job_controller PRIMARY KEY (controller_owner, controller_name)
)
ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
COMMENT = 'jobctl: the controllers';

INSERT INTO job_schema_history (version, name, applied_on, checksum)
VALUES (5, 'job_controller', DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ'), '6431793308501319254');

-- The servers on which this schema has worked: tells a failover from a copy.
CREATE TABLE IF NOT EXISTS job_server (
    server_identity VARCHAR(255) NOT NULL
        COMMENT 'server_uuid, server_uid, or host name and port',
    server_name VARCHAR(255) NOT NULL
        COMMENT 'Host name and port, for people',
    server_first DATETIME(6) NOT NULL
        COMMENT 'UTC; when a runner or controller worked there first',
    server_last DATETIME(6) NOT NULL
        COMMENT 'UTC; when one started there last',
    CONSTRAINT pk_job_server PRIMARY KEY (server_identity)
)
ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
COMMENT = 'jobctl: the servers on which this schema has worked';

INSERT INTO job_schema_history (version, name, applied_on, checksum)
VALUES (6, 'job_server', DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ'), '13019354642001405414');

-- Proof of who calls: an INVOKER routine inserts a token, the defaults fill in the account that is really speaking, the DEFINER
-- routine behind it reads the row and rolls it back at once. Owners may insert the token column and nothing else. A row is never
-- committed, but for one that `install` puts there: MariaDB may lock a whole table for the first row of an empty one.
CREATE TABLE IF NOT EXISTS job_ticket (
    ticket_token CHAR(64) NOT NULL
        COMMENT 'Random, made for one call',
    ticket_account VARCHAR(384) NOT NULL DEFAULT (CURRENT_USER())
        COMMENT 'Account whose rights the inserting code had',
    ticket_connection_id BIGINT UNSIGNED NOT NULL DEFAULT (CONNECTION_ID())
        COMMENT 'Connection that inserted it',
    ticket_schema VARCHAR(64) NULL DEFAULT (DATABASE())
        COMMENT 'Schema of the code that inserted it: inside somebody''s trigger or function it is theirs',
    ticket_mode DATE NULL DEFAULT (STR_TO_DATE(CONCAT('2000-02-3', CONNECTION_ID() * 0 + 1), '%Y-%m-%d'))
        COMMENT 'The day 2000-02-31, which only the sql_mode of job$ticket can compute: tells which code inserted it',
    CONSTRAINT pk_job_ticket PRIMARY KEY (ticket_token)
)
ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
COMMENT = 'jobctl: proof of who calls a routine; always empty to other sessions';

INSERT INTO job_schema_history (version, name, applied_on, checksum)
VALUES (7, 'job_ticket', DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ'), '9887321416818428503');

-- Settings of the whole schema, and the secret from which lock names are made.
CREATE TABLE IF NOT EXISTS job_setting (
    setting_name VARCHAR(64) NOT NULL
        COMMENT 'secret version routines_digest job_counter hold switch event_counter',
    setting_value VARCHAR(1024) NOT NULL
        COMMENT 'Its value',
    CONSTRAINT pk_job_setting PRIMARY KEY (setting_name)
)
ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
COMMENT = 'jobctl: settings of the schema; the secret is read by routines alone';

INSERT INTO job_schema_history (version, name, applied_on, checksum)
VALUES (8, 'job_setting', DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ'), '1367888758737404564');

INSERT IGNORE INTO job_setting (setting_name, setting_value)
VALUES ('secret', 'edfabb49490f462a16d4ff2ca189bb76e74f4e3f9164507e1e1ffe0022d28f1f');

INSERT IGNORE INTO job_setting (setting_name, setting_value)
VALUES ('job_counter', '0');

DELETE FROM job_ticket WHERE ticket_token <> '';

INSERT IGNORE INTO job_ticket (ticket_token, ticket_account, ticket_connection_id, ticket_mode)
VALUES ('', '', 0, NULL);

REPLACE INTO job_setting (setting_name, setting_value)
SELECT 'version', '0.1.0';

REPLACE INTO job_setting (setting_name, setting_value)
SELECT 'routines_digest', '';

DROP PROCEDURE IF EXISTS `job$run`;

DROP PROCEDURE IF EXISTS `job$run_with`;

DROP VIEW IF EXISTS `job_overview`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` SQL SECURITY DEFINER VIEW job_overview AS
-- live: the connection in the row holds the lock of the job, on this server: the truth, whatever a column says.
-- here: the row's runner worked on this server; where not, this is a replica (or a server that took over), and only the row tells.
-- A view can name no variable, but the highest byte of UUID_SHORT() is that of @@server_id.
SELECT
    o.job_id,
    o.job_owner,
    o.job_name,
    o.job_description,
    o.job_kind,
    o.job_procedure_schema,
    o.job_procedure_name,
    o.job_schedule_start,
    o.job_schedule_finish,
    o.job_schedule_interval,
    o.job_schedule_anchor,
    o.job_max_failures,
    o.job_status,
    CASE
        WHEN o.job_status IN ('FINISHED', 'ERROR') THEN o.job_status
        -- Nobody ran it when its window ended, and nobody can any more.
        WHEN o.job_status IN ('ENABLED', 'RESUMED') AND NOT o.claims AND o.job_schedule_finish < UTC_TIMESTAMP(6) THEN 'FINISHED'
        WHEN o.job_status IN ('ABORTED', 'DISABLED') THEN IF(o.claims AND (o.live OR NOT o.here), 'ABORTING', o.job_status)
        WHEN o.claims AND o.here AND NOT o.live THEN 'LOST'
        WHEN o.job_status = 'PAUSED' THEN IF(o.claims AND o.job_runner_status = 'RUNNING', 'PAUSING', 'PAUSED')
        WHEN o.held THEN 'HELD'
        WHEN o.switched AND NOT o.job_runner_status <=> 'RUNNING' THEN 'PAUSED (all)'
        WHEN o.claims AND o.job_runner_status = 'PAUSED' THEN 'SLEEPING'
        WHEN o.claims THEN o.job_runner_status
        ELSE 'ENABLED'
    END AS status,
    CASE
        WHEN o.claims AND NOT o.here THEN CONCAT(
            'on ', o.job_runner_server_name, ', seen from a replica',
            IF(o.job_runner_status <> 'RUNNING' AND o.job_runner_seen < UTC_TIMESTAMP(6) - INTERVAL 30 SECOND,
                CONCAT('; no sign of life since ', o.job_runner_seen, ' UTC'), '')
        )
        WHEN o.claims THEN o.job_runner_reason
    END AS status_detail,
    IF(o.claims AND (o.live OR NOT o.here), o.job_runner_connection_id, NULL) AS job_runner_connection_id,
    IF(o.claims AND (o.live OR NOT o.here), o.job_runner_host, NULL) AS job_runner_host,
    o.job_runner_server_name AS job_runner_server,
    o.job_runner_seen,
    o.job_runner_start,
    o.job_runner_cycles,
    o.job_runner_message,
    o.job_failures,
    o.job_next,
    r.run_no AS last_run_no,
    r.scheduled_for AS last_scheduled_for,
    r.started_at AS last_started_at,
    r.finished_at AS last_finished_at,
    r.outcome AS last_outcome,
    CAST(TIMESTAMPDIFF(MICROSECOND, r.started_at, r.finished_at) * 0.000001 AS DECIMAL(20,6)) AS last_duration,
    r.error_code AS last_error_code,
    r.error_sqlstate AS last_error_sqlstate,
    r.error_message AS last_error_message,
    o.job_defined,
    CAST('1970-01-01' AS DATETIME(6)) + INTERVAL UNIX_TIMESTAMP(o.job_changed) SECOND AS job_changed
FROM (
    SELECT
        j.*,
        j.job_runner_status IS NOT NULL AS claims,
        COALESCE(j.job_runner_server_id & 255 = UUID_SHORT() >> 56, FALSE) AS here,
        COALESCE(
            IS_USED_LOCK(SHA2(CONCAT(s.setting_value, ':', 'jobctl_baseline', ':job:', j.job_id), 256)) = j.job_runner_connection_id,
            FALSE
        ) AS live,
        h.setting_value IS NOT NULL AS held,
        w.setting_value IS NOT NULL AS switched
    FROM job AS j
    JOIN job_setting AS s ON s.setting_name = 'secret'
    LEFT JOIN job_setting AS h ON h.setting_name = 'hold'
    LEFT JOIN job_setting AS w ON w.setting_name = 'switch'
) AS o
LEFT JOIN job_run AS r ON r.job_id = o.job_id AND r.run_no = o.job_run_last;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_acquire`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_acquire(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_controller VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_job_id BIGINT UNSIGNED,
    OUT out_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Makes this session the runner of the caller''s job in_job_name: takes its lock, raises its epoch, closes as LOST what a dead predecessor left. out_run_token: what the runner proves itself with from now on; NULL when refused, and then out_message says why and nothing was changed. Errors: those of the server. Example: CALL job$_acquire(v_token, ''nightly'', NULL, v_job_id, v_run_token, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
acquire: BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_lock_name, v_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_lock INT DEFAULT 0;
    DECLARE v_tries INT DEFAULT 0;
    DECLARE v_epoch, v_open BIGINT UNSIGNED;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        IF v_lock = 1 THEN
            DO RELEASE_LOCK(v_lock_name);
        END IF;
        RESIGNAL;
    END;

    SET out_job_id = NULL, out_run_token = NULL;
    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_refusal(v_owner, in_job_name, out_job_id, out_message);
    IF out_message IS NOT NULL THEN
        LEAVE acquire;
    END IF;

    CALL job$_lock_name('job', out_job_id, v_lock_name);
    IF IS_USED_LOCK(v_lock_name) = CONNECTION_ID() THEN
        SET out_message = 'This very session holds the lock of the job, from a call that was interrupted or is still going on; use another session';
        LEAVE acquire;
    END IF;
    SET v_lock = GET_LOCK(v_lock_name, 0);
    IF v_lock IS NULL THEN
        SET out_message = 'The server could not give the lock of the job: GET_LOCK failed';
        LEAVE acquire;
    ELSEIF v_lock = 0 THEN
        CALL job$_holder(out_job_id, v_lock_name, out_message);
        LEAVE acquire;
    END IF;

    CALL job$_in_progress(out_job_id, out_message);
    IF out_message IS NOT NULL THEN
        DO RELEASE_LOCK(v_lock_name);
        LEAVE acquire;
    END IF;

    CALL job$token(v_run_token);
    takeover: LOOP
        BEGIN
            DECLARE EXIT HANDLER FOR 1213, 1205, 1020
            BEGIN
                ROLLBACK AND NO CHAIN NO RELEASE;
                SET v_tries = v_tries + 1;
                IF v_tries >= 10 THEN
                    RESIGNAL;
                END IF;
            END;

            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            SELECT job_runner_epoch + 1, job_run_open INTO v_epoch, v_open
            FROM job WHERE job_id = out_job_id FOR UPDATE;
            IF v_open IS NOT NULL THEN
                CALL job$_lost(out_job_id, v_open, v_account);
            END IF;
            CALL job$_plan(out_job_id);
            UPDATE job
            SET job_runner_epoch = v_epoch,
                job_runner_token = SHA2(v_run_token, 256),
                job_runner_connection_id = CONNECTION_ID(),
                job_runner_account = v_account,
                job_runner_host = SUBSTRING_INDEX(USER(), '@', -1),
                job_runner_server = @@server_uid,
                job_runner_server_id = @@server_id,
                job_runner_server_name = CONCAT(@@hostname, ':', @@port),
                job_runner_controller = in_controller,
                job_runner_version = '0.1.0',
                job_runner_status = 'WAITING',
                job_runner_reason = 'starting',
                job_runner_message = NULL,
                job_runner_start = UTC_TIMESTAMP(6),
                job_runner_finish = NULL,
                job_runner_seen = UTC_TIMESTAMP(6),
                job_runner_cycles = 0,
                job_runner_last_cycle_start = NULL,
                job_runner_last_cycle_finish = NULL,
                job_changed = job_changed
            WHERE job_id = out_job_id;
            CALL job$_event(out_job_id, 'RUNNER_START', v_account, NULL, CAST(v_epoch AS CHAR), in_controller);
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE takeover;
        END;
    END LOOP takeover;
    SET out_run_token = v_run_token;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_callable`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_callable(
    IN in_schema VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_procedure VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Checks that a procedure exists, takes no argument and may be executed by the caller. MySQL tells when a CALL is prepared, but hides routines from information_schema where the right comes by a role; MariaDB prepares any CALL, but lists in information_schema just what the caller may use. So both are asked, the second where a CALL of nothing can be prepared. Errors: 45002. Example: CALL job$_callable(''shop'', ''roll_up'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_prepare_checks BOOLEAN DEFAULT FALSE;
    DECLARE v_arguments INT;
    DECLARE v_text VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    IF COALESCE(in_schema, '') = '' OR COALESCE(in_procedure, '') = '' THEN
        CALL job$_fail(45002, 'job$define: say which procedure to call, by the options schema and procedure');
    END IF;
    IF CHAR_LENGTH(in_schema) > 64 OR CHAR_LENGTH(in_procedure) > 64 THEN
        CALL job$_fail(45002, 'job$define: the names of a schema and a procedure have at most 64 characters');
    END IF;

    SET @`job$call` = CONCAT('CALL `', REPLACE(in_schema, '`', '``'), '`.`', REPLACE(in_procedure, '`', '``'), '`()');
    BEGIN
        DECLARE EXIT HANDLER FOR SQLEXCEPTION
        BEGIN
            GET DIAGNOSTICS CONDITION 1 v_text = MESSAGE_TEXT;
            CALL job$_fail(45002, CONCAT('job$define: ', v_text));
        END;
        PREPARE `job$statement` FROM @`job$call`;
        DEALLOCATE PREPARE `job$statement`;
    END;
    BEGIN
        DECLARE EXIT HANDLER FOR SQLEXCEPTION SET v_prepare_checks = TRUE;
        PREPARE `job$statement` FROM 'CALL `no such schema`.`no such procedure`()';
        DEALLOCATE PREPARE `job$statement`;
    END;
    SET @`job$call` = NULL;

    IF NOT v_prepare_checks THEN
        IF NOT EXISTS (
            SELECT 1 FROM information_schema.routines
            WHERE routine_schema = in_schema AND routine_name = in_procedure AND routine_type = 'PROCEDURE'
        ) THEN
            CALL job$_fail(45002, CONCAT('job$define: there is no procedure ', in_schema, '.', in_procedure, ' that you may execute'));
        END IF;
        SELECT COUNT(*) INTO v_arguments
        FROM information_schema.parameters
        WHERE specific_schema = in_schema AND specific_name = in_procedure AND routine_type = 'PROCEDURE';
        IF v_arguments > 0 THEN
            CALL job$_fail(45002, CONCAT('job$define: the procedure needs ', v_arguments, ' argument(s), and a job gives none: ',
                in_schema, '.', in_procedure));
        END IF;
    END IF;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_caller`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_caller(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Tells whose call this is, from the ticket in_token that the API routine has just written, and takes the ticket back by a rollback, which also ends whatever transaction the caller had open. out_account: the account; out_owner: its user name, what stands before the last @. Errors: 45004 when there is no such ticket, 1422 from a trigger or function. Example: CALL job$_caller(in_token, v_account, v_owner)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    SELECT MAX(ticket_account) INTO v_account
    FROM job_ticket
    WHERE ticket_token = in_token
      AND ticket_connection_id = CONNECTION_ID()
      AND ticket_schema = 'jobctl_baseline'
      AND CAST(ticket_mode AS CHAR) = '2000-02-31';
    ROLLBACK AND NO CHAIN NO RELEASE;
    -- A ticket that outlives the rollback was committed, and no routine of ours does that.
    IF v_account IS NULL OR EXISTS (SELECT 1 FROM job_ticket WHERE ticket_token = in_token) THEN
        SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 45004,
            MESSAGE_TEXT = 'job$_caller: this ticket does not prove who calls; call the routine without the underscore';
    END IF;
    SET out_owner = LEFT(v_account, CHAR_LENGTH(v_account) - CHAR_LENGTH(SUBSTRING_INDEX(v_account, '@', -1)) - 1);
    IF out_owner = '' THEN
        SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 45004,
            MESSAGE_TEXT = 'job$_caller: an anonymous account cannot own jobs';
    END IF;
    SET out_account = v_account;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_check_name`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_check_name(
    IN in_job_name VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Checks the name of a new job: 1 to 129 characters, no control character, no blank at either end; anything else is fine. Errors: 45002. Example: CALL job$_check_name(''nightly'')'
SQL SECURITY DEFINER
DETERMINISTIC
NO SQL
BEGIN
    IF COALESCE(in_job_name, '') = '' THEN
        CALL job$_fail(45002, 'job$define: a job needs a name');
    ELSEIF CHAR_LENGTH(in_job_name) > 129 THEN
        CALL job$_fail(45002, 'job$define: a name has at most 129 characters');
    ELSEIF in_job_name REGEXP '[[:cntrl:]]' THEN
        CALL job$_fail(45002, 'job$define: a name holds no control characters');
    ELSEIF in_job_name REGEXP '^[[:space:]]|[[:space:]]$' THEN
        CALL job$_fail(45002, 'job$define: a name neither begins nor ends with a blank');
    END IF;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_check_time`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_check_time(
    IN in_key VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_text LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_time DATETIME(6)
)
COMMENT 'Reads the time option in_key: YYYY-MM-DD HH:MM:SS with up to 6 decimals, UTC, years 1970 to 8999; NULL stays NULL. Errors: 45002. Example: CALL job$_check_time(''start'', ''2026-12-01 02:00:00'', v_start)'
SQL SECURITY DEFINER
DETERMINISTIC
NO SQL
BEGIN
    SET out_time = NULL;
    IF in_text IS NOT NULL THEN
        IF in_text REGEXP '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?$' THEN
            BEGIN
                DECLARE CONTINUE HANDLER FOR SQLEXCEPTION, SQLWARNING SET out_time = NULL;
                SET out_time = CAST(in_text AS DATETIME(6));
            END;
        END IF;
        IF out_time IS NULL OR YEAR(out_time) NOT BETWEEN 1970 AND 8999 THEN
            CALL job$_fail(45002, CONCAT('job$define: ', in_key, ' must be a UTC time from 1970 to 8999 such as 2026-12-01 02:00:00'));
        END IF;
    END IF;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_define`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_define(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$define that checks values and writes; in_token: the ticket. Errors: 45002 wrong definition, 45004 refused. Example: none, call job$define'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
define: BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_schema, v_procedure, v_every, v_max_failures, v_description, v_replace, v_keep, v_time
        LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_start, v_finish, v_next_1, v_next_2, v_next_3, v_anchor, v_last DATETIME(6);
    DECLARE v_interval DECIMAL(16,6);
    DECLARE v_job_id, v_counter BIGINT UNSIGNED;
    DECLARE v_action VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_from VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_tries INT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_options('job$define', in_options,
        '["schema", "procedure", "every", "start", "finish", "max_failures", "description", "replace", "if_not_exists"]');
    CALL job$_check_name(in_job_name);
    CALL job$_option(in_options, 'schema', v_schema);
    CALL job$_option(in_options, 'procedure', v_procedure);
    CALL job$_option(in_options, 'every', v_every);
    CALL job$_option(in_options, 'start', v_time);
    CALL job$_check_time('start', v_time, v_start);
    CALL job$_option(in_options, 'finish', v_time);
    CALL job$_check_time('finish', v_time, v_finish);
    CALL job$_option(in_options, 'max_failures', v_max_failures);
    CALL job$_option(in_options, 'description', v_description);
    CALL job$_option(in_options, 'replace', v_replace);
    CALL job$_option(in_options, 'if_not_exists', v_keep);

    IF COALESCE(v_schema, '') = '' OR COALESCE(v_procedure, '') = '' OR CHAR_LENGTH(v_schema) > 64 OR CHAR_LENGTH(v_procedure) > 64 THEN
        CALL job$_fail(45002, 'job$define: say which procedure to call, by the options schema and procedure');
    END IF;
    IF v_every IS NULL OR v_every NOT REGEXP '^[0-9]{1,10}([.][0-9]{1,6})?$' THEN
        CALL job$_fail(45002, 'job$define: every must be seconds, such as 300 or 0.5, with at most 6 decimals');
    END IF;
    SET v_interval = v_every;
    IF v_interval NOT BETWEEN 0.1 AND 3155760000 THEN
        CALL job$_fail(45002, 'job$define: every must be between 0.1 seconds and 100 years (3155760000 seconds)');
    END IF;
    IF v_finish < v_start THEN
        CALL job$_fail(45002, 'job$define: finish is before start');
    END IF;
    IF v_finish <= UTC_TIMESTAMP(6) THEN
        CALL job$_fail(45002, 'job$define: finish is in the past');
    END IF;
    IF v_max_failures IS NOT NULL AND v_max_failures NOT REGEXP '^[1-9][0-9]{0,8}$' THEN
        CALL job$_fail(45002, 'job$define: max_failures must be a whole number from 1 to 999999999');
    END IF;
    IF CHAR_LENGTH(v_description) > 1024 THEN
        CALL job$_fail(45002, 'job$define: a description has at most 1024 characters');
    END IF;
    IF COALESCE(v_replace, 'false') NOT IN ('true', 'false') OR COALESCE(v_keep, 'false') NOT IN ('true', 'false')
        OR (v_replace = 'true' AND v_keep = 'true')
    THEN
        CALL job$_fail(45002, 'job$define: replace and if_not_exists are true or false, and not both true');
    END IF;

    again: LOOP
        BEGIN
            -- 1062: somebody defined the same name in the same moment; look again.
            DECLARE EXIT HANDLER FOR 1213, 1205, 1020, 1062
            BEGIN
                ROLLBACK AND NO CHAIN NO RELEASE;
                SET v_tries = v_tries + 1;
                IF v_tries >= 10 THEN
                    RESIGNAL;
                END IF;
            END;

            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            -- The id comes from a counter of our own: whoever calls may have set insert_id in this session.
            SELECT CAST(setting_value AS UNSIGNED) INTO v_counter FROM job_setting WHERE setting_name = 'job_counter' FOR UPDATE;
            SELECT MAX(job_id) INTO v_job_id FROM job WHERE job_owner = v_owner AND job_name = in_job_name FOR UPDATE;
            IF v_job_id IS NULL THEN
                SET v_action = 'CREATED';
                SELECT GREATEST(v_counter, COALESCE(MAX(job_id), 0)) + 1 INTO v_job_id FROM job;
                UPDATE job_setting SET setting_value = v_job_id WHERE setting_name = 'job_counter';
                INSERT INTO job (
                    job_id, job_owner, job_name, job_description, job_kind, job_procedure_schema, job_procedure_name,
                    job_schedule_start, job_schedule_finish, job_schedule_interval, job_max_failures, job_defined
                ) VALUES (
                    v_job_id, v_owner, in_job_name, v_description, 'PROCEDURE', v_schema, v_procedure,
                    v_start, v_finish, v_interval, v_max_failures, UTC_TIMESTAMP(6)
                );
                CALL job$_event(v_job_id, 'DEFINED', v_account, NULL, LEFT(in_options, 1024), NULL);
            ELSEIF v_replace = 'true' THEN
                SET v_action = 'REPLACED';
                SELECT LEFT(JSON_OBJECT('schema', job_procedure_schema, 'procedure', job_procedure_name, 'every', job_schedule_interval,
                        'start', CAST(job_schedule_start AS CHAR), 'finish', CAST(job_schedule_finish AS CHAR),
                        'max_failures', job_max_failures, 'description', job_description), 1024)
                INTO v_from FROM job WHERE job_id = v_job_id FOR UPDATE;
                UPDATE job
                SET job_description = v_description,
                    job_kind = 'PROCEDURE',
                    job_procedure_schema = v_schema,
                    job_procedure_name = v_procedure,
                    job_schedule_start = v_start,
                    job_schedule_finish = v_finish,
                    job_schedule_interval = v_interval,
                    job_max_failures = v_max_failures
                WHERE job_id = v_job_id;
                CALL job$_event(v_job_id, 'CHANGED', v_account, v_from, LEFT(in_options, 1024), NULL);
            ELSEIF v_keep = 'true' THEN
                SET v_action = 'UNCHANGED';
            ELSE
                CALL job$_fail(45004, 'job$define: you have a job of that name already; use replace or if_not_exists');
            END IF;
            CALL job$_plan(v_job_id);
            SELECT job_next, job_schedule_anchor, job_schedule_finish, job_schedule_interval
            INTO v_next_1, v_anchor, v_finish, v_interval
            FROM job WHERE job_id = v_job_id FOR UPDATE;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;

    CALL job$_grid(v_anchor, v_interval, v_next_1, v_last, v_next_2);
    CALL job$_grid(v_anchor, v_interval, v_next_2, v_last, v_next_3);
    SELECT v_job_id AS job_id, v_action AS action,
        IF(v_next_1 > v_finish, NULL, v_next_1) AS next_1,
        IF(v_next_2 > v_finish, NULL, v_next_2) AS next_2,
        IF(v_next_3 > v_finish, NULL, v_next_3) AS next_3;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_drop`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_drop(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$drop that writes; in_token: the ticket. Holds the job''s lock meanwhile, so no runner starts. Errors: 45002, 45003 no such job, 45004 it runs. Example: none, call job$drop'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id, v_open BIGINT UNSIGNED;
    DECLARE v_purge BOOLEAN;
    DECLARE v_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_status VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_locked INT DEFAULT 0;
    DECLARE v_tries INT DEFAULT 0;
    DECLARE v_purged BIGINT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        IF v_locked = 1 THEN
            DO RELEASE_LOCK(v_lock_name);
        END IF;
        RESIGNAL;
    END;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_options('job$drop', in_options, '["purge_history"]');
    SET v_purge = COALESCE(JSON_EXTRACT(in_options, '$.purge_history') = TRUE, FALSE);
    CALL job$_find(v_owner, in_job_name, 'job$drop', v_job_id);
    CALL job$_lock_name('job', v_job_id, v_lock_name);
    IF IS_USED_LOCK(v_lock_name) IS NULL THEN
        SET v_locked = COALESCE(GET_LOCK(v_lock_name, 0), 0);
    END IF;
    IF v_locked <> 1 THEN
        CALL job$_holder(v_job_id, v_lock_name, v_message);
        CALL job$_fail(45004, CONCAT('job$drop: ', v_message));
    END IF;

    again: LOOP
        BEGIN
            DECLARE EXIT HANDLER FOR 1213, 1205, 1020
            BEGIN
                ROLLBACK AND NO CHAIN NO RELEASE;
                SET v_tries = v_tries + 1;
                IF v_tries >= 10 THEN
                    RESIGNAL;
                END IF;
            END;

            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            SELECT job_run_open, job_status INTO v_open, v_status FROM job WHERE job_id = v_job_id FOR UPDATE;
            IF v_open IS NOT NULL THEN
                CALL job$_lost(v_job_id, v_open, v_account);
            END IF;
            CALL job$_event(v_job_id, 'DROPPED', v_account, v_status, NULL, NULL);
            DELETE FROM job WHERE job_id = v_job_id;
            DELETE FROM job_progress WHERE job_id = v_job_id;
            IF v_purge THEN
                DELETE FROM job_event WHERE job_id = v_job_id;
                DELETE FROM job_run WHERE job_id = v_job_id;
                SET v_purged = ROW_COUNT();
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;
    DO RELEASE_LOCK(v_lock_name);
    SELECT v_job_id AS job_id, v_purged AS runs_purged;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_event`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_event(
    IN in_job_id BIGINT UNSIGNED,
    IN in_kind VARCHAR(32) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_by VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_from VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_to VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Writes one event of a job into job_event, inside the transaction of the caller, who holds the lock of the job row. Errors: none of its own. Example: CALL job$_event(v_job_id, ''STATUS'', v_account, ''ENABLED'', ''FINISHED'', ''the window is over'')'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_event_no BIGINT UNSIGNED;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    SELECT job_event_counter + 1, job_owner, job_name INTO v_event_no, v_owner, v_name
    FROM job WHERE job_id = in_job_id FOR UPDATE;
    UPDATE job SET job_event_counter = v_event_no, job_changed = job_changed WHERE job_id = in_job_id;
    INSERT INTO job_event (
        job_id, event_no, event_at, event_kind, job_owner, job_name,
        event_by, event_from, event_to, event_message, event_connection_id, event_server
    ) VALUES (
        in_job_id, v_event_no, UTC_TIMESTAMP(6), in_kind, v_owner, v_name,
        in_by, in_from, in_to, in_message, CONNECTION_ID(), @@server_uid
    );
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_fail`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_fail(
    IN in_errno INT UNSIGNED,
    IN in_text VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Raises SQLSTATE 45000 with the error number in_errno (45000 + the exit status of jobctl: 2 wrong usage, 3 no such job, 4 refused, 75 busy) and in_text cut to the 128 characters that a message may have. Errors: that one. Example: CALL job$_fail(45002, ''job$define: unknown option "evry"'')'
SQL SECURITY DEFINER
DETERMINISTIC
NO SQL
BEGIN
    DECLARE v_text VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin DEFAULT LEFT(in_text, 128);

    SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = in_errno, MESSAGE_TEXT = v_text;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_find`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_find(
    IN in_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_routine VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_job_id BIGINT UNSIGNED
)
COMMENT 'Finds the job in_job_name of in_owner for the API routine in_routine. Errors: 45003 no such job. Example: CALL job$_find(v_owner, in_job_name, ''job$drop'', v_job_id)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    SELECT MAX(job_id) INTO out_job_id FROM job WHERE job_owner = in_owner AND job_name = in_job_name;
    IF out_job_id IS NULL THEN
        CALL job$_fail(45003, CONCAT(in_routine, ': you own no job named ', COALESCE(in_job_name, 'NULL')));
    END IF;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_get_lock`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_get_lock(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_status INT,
    OUT out_locked_by BIGINT UNSIGNED
)
COMMENT 'The part of job$get_lock that knows lock names; in_token: the ticket. Errors: 45003 no such job. Example: none, call job$get_lock'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id BIGINT UNSIGNED;
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_find(v_owner, in_job_name, 'job$get_lock', v_job_id);
    CALL job$_lock_name('job', v_job_id, v_lock_name);
    -- A lock can be taken twice by one session, and then needs two releases: do not count up.
    SET out_locked_by = IS_USED_LOCK(v_lock_name);
    SET out_status = IF(out_locked_by IS NULL, GET_LOCK(v_lock_name, 0), 0);
    SET out_locked_by = IS_USED_LOCK(v_lock_name);
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_grid`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_grid(
    IN in_anchor DATETIME(6),
    IN in_interval DECIMAL(16,6),
    IN in_time DATETIME(6),
    OUT out_last DATETIME(6),
    OUT out_next DATETIME(6)
)
COMMENT 'Places an instant (UTC) on the grid anchor + k x interval, k = 0, 1, 2...: out_last is the last planned instant at or before in_time, out_next the first one after it; NULL where there is none. in_interval: seconds, NULL for the anchor alone. Exact to the microsecond, whatever the distance. Errors: none. Example: CALL job$_grid(''2026-12-01 02:00:00'', 21600, UTC_TIMESTAMP(6), v_last, v_next)'
SQL SECURITY DEFINER
DETERMINISTIC
NO SQL
BEGIN
    DECLARE v_step BIGINT DEFAULT CAST(in_interval * 1000000 AS SIGNED);
    DECLARE v_k BIGINT;

    SET out_last = NULL, out_next = NULL;
    IF in_time < in_anchor THEN
        SET out_next = in_anchor;
    ELSEIF in_interval IS NULL THEN
        SET out_last = in_anchor;
    ELSE
        SET v_k = TIMESTAMPDIFF(MICROSECOND, in_anchor, in_time) DIV v_step;
        SET out_last = in_anchor + INTERVAL (v_k * v_step) MICROSECOND;
        SET out_next = in_anchor + INTERVAL ((v_k + 1) * v_step) MICROSECOND;
    END IF;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_holder`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_holder(
    IN in_job_id BIGINT UNSIGNED,
    IN in_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Says in a sentence who holds the lock of a job. Errors: none. Example: CALL job$_holder(v_job_id, v_lock_name, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_connection BIGINT UNSIGNED DEFAULT IS_USED_LOCK(in_lock_name);
    DECLARE v_host VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    SELECT MAX(job_runner_host) INTO v_host
    FROM job WHERE job_id = in_job_id AND job_runner_connection_id = v_connection AND job_runner_finish IS NULL;
    SET out_message = COALESCE(
        CONCAT('Already run by connection ', v_connection, COALESCE(CONCAT(' from ', v_host), '')),
        'The lock of the job was held a moment ago; try again');
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_in_progress`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_in_progress(
    IN in_job_id BIGINT UNSIGNED,
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Tells, when the lock of a job is free, whether a run may still go on without it: a body can give away the lock of its runner by RELEASE_ALL_LOCKS(), and as long as the session of an open run works, nobody else may start. out_message: NULL when nothing is in progress. Sees other accounts'' sessions only where the definer has PROCESS. Errors: none. Example: CALL job$_in_progress(v_job_id, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_connection BIGINT UNSIGNED;
    DECLARE v_started DATETIME(6);
    DECLARE v_uptime BIGINT UNSIGNED;

    SET out_message = NULL;
    SELECT MAX(r.run_connection_id), MAX(r.started_at) INTO v_connection, v_started
    FROM job AS j
    JOIN job_run AS r ON r.job_id = j.job_id AND r.run_no = j.job_run_open
    WHERE j.job_id = in_job_id AND r.run_server = @@server_uid AND r.run_connection_id <> CONNECTION_ID();
    IF v_connection IS NOT NULL THEN
        -- Connection ids are given out anew after a restart of the server.
        CALL job$_uptime(v_uptime);
        IF v_started > UTC_TIMESTAMP(6) - INTERVAL v_uptime SECOND
            AND EXISTS (SELECT 1 FROM information_schema.processlist WHERE id = v_connection AND command <> 'Sleep')
        THEN
            SET out_message = CONCAT('A run is still in progress on connection ', v_connection, ', though it gave its lock away');
        END IF;
    END IF;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_lock_name`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_lock_name(
    IN in_kind VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_id BIGINT UNSIGNED,
    OUT out_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Makes the name of a lock: a digest of the secret, the schema, the kind (job) and the id, which nobody can guess, since any account may take any lock whose name it knows. Errors: none. Example: CALL job$_lock_name(''job'', v_job_id, v_lock_name)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    SELECT SHA2(CONCAT(setting_value, ':', 'jobctl_baseline', ':', in_kind, ':', in_id), 256) INTO out_lock_name
    FROM job_setting
    WHERE setting_name = 'secret';
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_lost`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_lost(
    IN in_job_id BIGINT UNSIGNED,
    IN in_run_no BIGINT UNSIGNED,
    IN in_by VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Closes as LOST the run that a dead runner left open, and counts it as a failure; inside the transaction of the caller, who holds the lock of the job and of its row. Errors: none of its own. Example: CALL job$_lost(v_job_id, v_run_no, v_account)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_failures, v_max_failures INT UNSIGNED;
    DECLARE v_connection BIGINT UNSIGNED;
    DECLARE v_status VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    SELECT job_failures + 1, job_max_failures, job_status, job_runner_connection_id
    INTO v_failures, v_max_failures, v_status, v_connection
    FROM job WHERE job_id = in_job_id FOR UPDATE;
    UPDATE job_run
    SET outcome = 'LOST', finished_at = UTC_TIMESTAMP(6),
        error_message = 'The session that ran it is gone, and nobody recorded how the run ended'
    WHERE job_id = in_job_id AND run_no = in_run_no AND outcome = 'RUNNING';
    UPDATE job
    SET job_run_open = NULL, job_failures = v_failures, job_changed = job_changed
    WHERE job_id = in_job_id;
    CALL job$_event(in_job_id, 'LOST', in_by, NULL, CAST(in_run_no AS CHAR),
        CONCAT('The runner on connection ', v_connection, ' ended without recording its run'));
    IF v_failures >= v_max_failures AND v_status IN ('ENABLED', 'RESUMED') THEN
        UPDATE job SET job_status = 'ERROR', job_changed = job_changed WHERE job_id = in_job_id;
        CALL job$_event(in_job_id, 'STATUS', in_by, v_status, 'ERROR', CONCAT(v_failures, ' failed occurrences in a row'));
    END IF;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_option`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_option(
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_key VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_value LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Reads one option as text: strings without their quotes, numbers and booleans as they are written; NULL where it is absent or null. Errors: none for a valid object. Example: CALL job$_option(in_options, ''every'', v_every)'
SQL SECURITY DEFINER
DETERMINISTIC
NO SQL
BEGIN
    SET out_value = JSON_EXTRACT(in_options, CONCAT('$.', in_key));
    IF JSON_TYPE(out_value) = 'NULL' THEN
        SET out_value = NULL;
    ELSE
        SET out_value = JSON_UNQUOTE(out_value);
    END IF;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_options`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_options(
    IN in_routine VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_known LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Checks the options of an API routine: NULL, or one JSON object whose keys are all in the JSON array in_known. Errors: 45002. Example: CALL job$_options(''job$drop'', in_options, ''["purge_history"]'')'
SQL SECURITY DEFINER
DETERMINISTIC
NO SQL
check_keys: BEGIN
    DECLARE v_keys LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_key VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_i INT DEFAULT 0;

    IF in_options IS NULL THEN
        LEAVE check_keys;
    END IF;
    IF NOT JSON_VALID(in_options) OR JSON_TYPE(in_options) <> 'OBJECT' THEN
        CALL job$_fail(45002, CONCAT(in_routine, ': the options must be one JSON object'));
    END IF;
    SET v_keys = JSON_KEYS(in_options);
    WHILE v_i < JSON_LENGTH(v_keys) DO
        SET v_key = JSON_EXTRACT(v_keys, CONCAT('$[', v_i, ']'));
        IF NOT JSON_CONTAINS(in_known, v_key) THEN
            CALL job$_fail(45002, CONCAT(in_routine, ': unknown option ', LEFT(v_key, 30), '; known are ', in_known));
        END IF;
        SET v_i = v_i + 1;
    END WHILE;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_overview`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_overview(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$overview that reads; in_token: the ticket. Errors: 45003 no such job. Example: none, call job$overview'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id BIGINT UNSIGNED;

    CALL job$_caller(in_token, v_account, v_owner);
    IF in_job_name IS NULL THEN
        SELECT * FROM job_overview WHERE job_owner = v_owner ORDER BY job_name;
    ELSE
        CALL job$_find(v_owner, in_job_name, 'job$overview', v_job_id);
        SELECT * FROM job_overview WHERE job_id = v_job_id;
    END IF;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_plan`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_plan(
    IN in_job_id BIGINT UNSIGNED
)
COMMENT 'Computes job_next when the schedule is new or was changed since it was computed, by a routine or by a plain UPDATE: then it becomes the first instant of the new grid after now. A start given is the anchor; without one the anchor stays (or, when still ahead, comes nearer with a shorter interval), and a new job gets now plus one interval. Occurrences of the old grid that were already due become a span CHANGED. Inside the transaction of the caller, who holds the lock of the job row. Errors: none of its own. Example: CALL job$_plan(v_job_id)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
plan: BEGIN
    DECLARE v_start, v_planned_start, v_anchor, v_last, v_next DATETIME(6);
    DECLARE v_interval, v_planned_interval DECIMAL(16,6);
    DECLARE v_now DATETIME(6) DEFAULT UTC_TIMESTAMP(6);

    SELECT job_schedule_start, job_next_start, job_schedule_anchor, job_schedule_interval, job_next_interval
    INTO v_start, v_planned_start, v_anchor, v_interval, v_planned_interval
    FROM job WHERE job_id = in_job_id FOR UPDATE;
    IF v_anchor IS NOT NULL AND v_start <=> v_planned_start AND v_interval <=> v_planned_interval THEN
        LEAVE plan;
    END IF;

    IF v_anchor IS NOT NULL THEN
        CALL job$_grid(v_anchor, v_planned_interval, v_now, v_last, v_next);
        CALL job$_skip(in_job_id, v_last, 'CHANGED', NULL);
    END IF;
    SET v_next = v_now + INTERVAL CAST(COALESCE(v_interval, 0) * 1000000 AS SIGNED) MICROSECOND;
    -- An anchor that was never given and has not come yet binds nothing: a shorter interval brings it nearer.
    SET v_anchor = COALESCE(v_start, IF(v_interval IS NULL, v_anchor, LEAST(v_anchor, v_next)), v_next);
    CALL job$_grid(v_anchor, v_interval, v_now, v_last, v_next);
    UPDATE job
    SET job_schedule_anchor = v_anchor, job_next = v_next, job_next_start = v_start, job_next_interval = v_interval,
        job_changed = job_changed
    WHERE job_id = in_job_id;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_session`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_session(
    OUT out_settings LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Reads the settings of this session that a body can change and that would reach the next body or the runner, as one JSON object by their names. Errors: none. Example: CALL job$_session(v_settings)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
NO SQL
BEGIN
    -- `+ 0`: MariaDB writes a boolean variable into JSON as ON without quotes.
    SET out_settings = JSON_OBJECT(
        'autocommit', @@session.autocommit + 0,
        'tx_isolation', @@session.tx_isolation,
        'tx_read_only', @@session.tx_read_only + 0,
        'completion_type', @@session.completion_type,
        'time_zone', @@session.time_zone,
        'lc_time_names', @@session.lc_time_names,
        'character_set_client', @@session.character_set_client,
        'character_set_results', @@session.character_set_results,
        'collation_connection', @@session.collation_connection,
        'max_error_count', @@session.max_error_count,
        'group_concat_max_len', @@session.group_concat_max_len,
        'max_join_size', @@session.max_join_size,
        'sql_big_selects', @@session.sql_big_selects + 0,
        'sql_select_limit', @@session.sql_select_limit,
        'sql_safe_updates', @@session.sql_safe_updates + 0,
        'sql_auto_is_null', @@session.sql_auto_is_null + 0,
        'foreign_key_checks', @@session.foreign_key_checks + 0,
        'unique_checks', @@session.unique_checks + 0,
        'innodb_lock_wait_timeout', @@session.innodb_lock_wait_timeout,
        'lock_wait_timeout', @@session.lock_wait_timeout,
        'div_precision_increment', @@session.div_precision_increment,
        'default_week_format', @@session.default_week_format,
        'auto_increment_increment', @@session.auto_increment_increment,
        'auto_increment_offset', @@session.auto_increment_offset
    );
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_session_restore`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_session_restore(
    IN in_settings LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_leaked VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Puts the settings of this session back to in_settings, which job$_session read: only those that differ, since an account may be unable to set some of them even to what they are. out_leaked: the names of those that differed, an exclamation mark behind those that could not be put back; NULL: none. Errors: none. Example: CALL job$_session_restore(v_settings, v_leaked)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    DECLARE v_now, v_keys LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_key VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_value VARCHAR(256) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_kept BOOLEAN;
    DECLARE v_i INT DEFAULT 0;

    SET out_leaked = NULL;
    CALL job$_session(v_now);
    SET v_keys = JSON_KEYS(in_settings);
    WHILE v_i < JSON_LENGTH(v_keys) DO
        SET v_key = JSON_UNQUOTE(JSON_EXTRACT(v_keys, CONCAT('$[', v_i, ']')));
        SET v_value = JSON_EXTRACT(in_settings, CONCAT('$.', v_key));
        IF NOT v_value <=> JSON_EXTRACT(v_now, CONCAT('$.', v_key)) THEN
            SET v_kept = FALSE;
            BEGIN
                DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET v_kept = TRUE;
                SET @`job$call` = CONCAT('SET SESSION ', v_key, ' = ', IF(v_value = 'null', 'NULL', REPLACE(v_value, '"', '''')));
                PREPARE `job$statement` FROM @`job$call`;
                EXECUTE `job$statement`;
                DEALLOCATE PREPARE `job$statement`;
            END;
            SET out_leaked = LEFT(CONCAT_WS(', ', out_leaked, CONCAT(v_key, IF(v_kept, '!', ''))), 1024);
        END IF;
        SET v_i = v_i + 1;
    END WHILE;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_record`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_record(
    IN in_job_id BIGINT UNSIGNED,
    IN in_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_run_no BIGINT UNSIGNED,
    IN in_failed BOOLEAN,
    IN in_error_code INT UNSIGNED,
    IN in_error_sqlstate CHAR(5) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_error_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_leaked VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_seconds DECIMAL(20,6),
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Records how a run ended, in one transaction that begins by locking the job row and comparing the run token, and looks whether the lock is still held, since a body can give it away. out_seconds: how long the run took; out_message: NULL when the runner may go on, else why it must end. Errors: those of the server. Example: CALL job$_record(v_job_id, v_run_token, v_run_no, FALSE, NULL, NULL, NULL, NULL, v_seconds, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
record: BEGIN
    DECLARE v_token, v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_status VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_failures, v_max_failures INT UNSIGNED;
    DECLARE v_known, v_cycles BIGINT UNSIGNED;
    DECLARE v_now, v_started DATETIME(6);
    DECLARE v_tries INT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    CALL job$_lock_name('job', in_job_id, v_lock_name);
    again: LOOP
        BEGIN
            DECLARE EXIT HANDLER FOR 1213, 1205, 1020
            BEGIN
                ROLLBACK AND NO CHAIN NO RELEASE;
                SET v_tries = v_tries + 1;
                IF v_tries >= 10 THEN
                    RESIGNAL;
                END IF;
            END;

            SET out_seconds = NULL, out_message = NULL;
            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            SELECT COUNT(*), MAX(job_runner_token), MAX(job_status), MAX(job_failures), MAX(job_max_failures), MAX(job_runner_cycles),
                   MAX(job_runner_account), MAX(job_runner_last_cycle_start)
            INTO v_known, v_token, v_status, v_failures, v_max_failures, v_cycles, v_account, v_started
            FROM job WHERE job_id = in_job_id FOR UPDATE;
            IF v_known = 0 OR NOT COALESCE(v_token = SHA2(in_run_token, 256), FALSE) THEN
                SET out_message = IF(v_known = 0, 'The job is gone', 'Another runner took the job over');
                COMMIT AND NO CHAIN NO RELEASE;
                LEAVE record;
            END IF;

            SET v_now = UTC_TIMESTAMP(6);
            SET out_seconds = TIMESTAMPDIFF(MICROSECOND, v_started, v_now) * 0.000001;
            SET v_failures = IF(in_failed, v_failures + 1, 0);
            UPDATE job_run
            SET outcome = IF(in_failed, 'ERROR', 'OK'),
                finished_at = v_now,
                error_code = in_error_code,
                error_sqlstate = in_error_sqlstate,
                error_message = in_error_message,
                run_leaked = in_leaked
            WHERE job_id = in_job_id AND run_no = in_run_no AND outcome = 'RUNNING';
            UPDATE job
            SET job_run_open = NULL,
                job_failures = v_failures,
                job_runner_status = IF(v_status = 'PAUSED', 'PAUSED', 'SLEEPING'),
                job_runner_seen = v_now,
                job_runner_cycles = v_cycles + 1,
                job_runner_last_cycle_finish = v_now,
                job_changed = job_changed
            WHERE job_id = in_job_id;
            IF v_failures >= v_max_failures AND v_status IN ('ENABLED', 'RESUMED', 'PAUSED') THEN
                UPDATE job SET job_status = 'ERROR', job_changed = job_changed WHERE job_id = in_job_id;
                CALL job$_event(in_job_id, 'STATUS', v_account, v_status, 'ERROR', CONCAT(v_failures, ' failed occurrences in a row'));
                SET out_message = CONCAT('The job procedure failed ', v_failures, ' time', IF(v_failures > 1, 's', ''), ' in a row: ',
                    COALESCE(in_error_message, 'no diagnostics'));
            END IF;
            IF NOT IS_USED_LOCK(v_lock_name) <=> CONNECTION_ID() THEN
                CALL job$_event(in_job_id, 'LOCK_LOST', v_account, NULL, CAST(in_run_no AS CHAR),
                    'The lock of the job was gone after this run; a body must not call RELEASE_ALL_LOCKS()');
                IF NOT GET_LOCK(v_lock_name, 0) <=> 1 THEN
                    SET out_message = 'The lock of the job was lost during the run';
                END IF;
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE record;
        END;
    END LOOP again;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_refusal`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_refusal(
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
    DECLARE v_finish, v_seen DATETIME(6);
    DECLARE v_primaries INT DEFAULT 0;

    SET out_job_id = NULL, out_message = NULL;
    SELECT MAX(job_id) INTO out_job_id
    FROM job WHERE job_owner = in_owner AND job_name = in_job_name;
    IF out_job_id IS NULL THEN
        SET out_message = 'You own no job of that name';
        LEAVE refusal;
    END IF;
    SELECT job_status, job_kind, job_schedule_finish, job_runner_status, job_runner_server, job_runner_server_name,
           job_runner_seen
    INTO v_status, v_kind, v_finish, v_runner_status, v_server, v_server_name, v_seen
    FROM job WHERE job_id = out_job_id;

    IF v_kind <> 'PROCEDURE' THEN
        SET out_message = CONCAT('A job of kind ', v_kind, ' is not run inside the server');
    ELSEIF v_status NOT IN ('ENABLED', 'RESUMED', 'PAUSED') THEN
        SET out_message = CONCAT('The job is ', v_status, ', and only an ENABLED or PAUSED one gets a runner');
    ELSEIF v_finish < UTC_TIMESTAMP(6) THEN
        SET out_message = CONCAT('The schedule was over at ', v_finish, ' UTC');
    ELSEIF @@global.read_only OR @@global.innodb_read_only THEN
        SET out_message = CONCAT('This server (', @@hostname, ':', @@port, ') is read-only; run the job on the writable one');
    ELSEIF @@wsrep_on THEN
        SET out_message = 'This server is a Galera node (wsrep_on), where a named lock does not hold across nodes';
    ELSEIF v_server <> @@server_uid AND v_runner_status IS NOT NULL AND v_seen > UTC_TIMESTAMP(6) - INTERVAL 30 SECOND THEN
        SET out_message = CONCAT('A runner on another server (', v_server_name, ') was alive a moment ago; try again in ',
            30 - TIMESTAMPDIFF(SECOND, v_seen, UTC_TIMESTAMP(6)), ' s');
    ELSEIF EXISTS (SELECT 1 FROM job_setting WHERE setting_name = 'hold') THEN
        SET out_message = 'All jobs are held, because this looks like a copy of another server';
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
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_release`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_release(
    IN in_job_id BIGINT UNSIGNED,
    IN in_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Ends the runner that in_run_token proves: writes its final state, then releases its lock, the latter also where nothing can be written any more (a server that became read-only). A runner that was superseded changes nothing. Errors: none. Example: CALL job$_release(v_job_id, v_run_token, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
release_runner: BEGIN
    DECLARE v_token, v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_known, v_epoch, v_open BIGINT UNSIGNED;
    DECLARE v_tries INT DEFAULT 0;

    ROLLBACK AND NO CHAIN NO RELEASE;
    SELECT COUNT(*), MAX(job_runner_token) INTO v_known, v_token FROM job WHERE job_id = in_job_id;
    IF v_known = 1 AND NOT COALESCE(v_token = SHA2(in_run_token, 256), FALSE) THEN
        LEAVE release_runner;
    END IF;

    again: LOOP
        BEGIN
            DECLARE EXIT HANDLER FOR SQLEXCEPTION
            BEGIN
                ROLLBACK AND NO CHAIN NO RELEASE;
                SET v_tries = v_tries + 1;
            END;

            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            SELECT MAX(job_runner_token), MAX(job_runner_account), MAX(job_runner_epoch), MAX(job_run_open)
            INTO v_token, v_account, v_epoch, v_open
            FROM job WHERE job_id = in_job_id FOR UPDATE;
            IF v_token = SHA2(in_run_token, 256) THEN
                IF v_open IS NOT NULL THEN
                    CALL job$_lost(in_job_id, v_open, v_account);
                END IF;
                UPDATE job
                SET job_runner_status = NULL,
                    job_runner_reason = NULL,
                    job_runner_message = in_message,
                    job_runner_finish = UTC_TIMESTAMP(6),
                    job_runner_seen = UTC_TIMESTAMP(6),
                    job_runner_token = NULL,
                    job_changed = job_changed
                WHERE job_id = in_job_id;
                CALL job$_event(in_job_id, 'RUNNER_STOP', v_account, CAST(v_epoch AS CHAR), NULL, in_message);
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
        IF v_tries >= 10 THEN
            LEAVE again;
        END IF;
    END LOOP again;
    CALL job$_lock_name('job', in_job_id, v_lock_name);
    DO RELEASE_LOCK(v_lock_name);
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_release_lock`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_release_lock(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_status INT,
    OUT out_locked_by BIGINT UNSIGNED
)
COMMENT 'The part of job$release_lock that knows lock names; in_token: the ticket. Errors: 45003 no such job, 45004 the lock is a runner''s. Example: none, call job$release_lock'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id BIGINT UNSIGNED;
    DECLARE v_lock_name CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_find(v_owner, in_job_name, 'job$release_lock', v_job_id);
    IF EXISTS (
        SELECT 1 FROM job
        WHERE job_id = v_job_id AND job_runner_connection_id = CONNECTION_ID() AND job_runner_token IS NOT NULL
    ) THEN
        SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 45004,
            MESSAGE_TEXT = 'job$release_lock: the lock belongs to the runner in this session';
    END IF;
    CALL job$_lock_name('job', v_job_id, v_lock_name);
    SET out_status = RELEASE_LOCK(v_lock_name);
    SET out_locked_by = IS_USED_LOCK(v_lock_name);
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_skip`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_skip(
    IN in_job_id BIGINT UNSIGNED,
    IN in_last DATETIME(6),
    IN in_reason VARCHAR(32) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_by VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Records the occurrences from job_next to in_last (UTC, an instant of the grid) as one SKIPPED span with its reason, and moves job_next behind them, inside the transaction of the caller, who holds the lock of the job row. Does nothing when there are none. Errors: none of its own. Example: CALL job$_skip(v_job_id, v_last, ''OVERRUN'', v_account)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
skip: BEGIN
    DECLARE v_run_no, v_count, v_epoch BIGINT UNSIGNED;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_first, v_last, v_next, v_anchor DATETIME(6);
    DECLARE v_interval DECIMAL(16,6);

    SELECT job_run_counter + 1, job_owner, job_name, job_next, job_schedule_anchor, job_next_interval, job_runner_epoch
    INTO v_run_no, v_owner, v_name, v_first, v_anchor, v_interval, v_epoch
    FROM job WHERE job_id = in_job_id FOR UPDATE;
    IF v_first IS NULL OR in_last IS NULL OR in_last < v_first THEN
        LEAVE skip;
    END IF;

    CALL job$_grid(v_anchor, v_interval, in_last, v_last, v_next);
    SET v_count = 1 + COALESCE(TIMESTAMPDIFF(MICROSECOND, v_first, v_last) DIV CAST(v_interval * 1000000 AS SIGNED), 0);
    INSERT INTO job_run (
        job_id, run_no, run_kind, outcome, reason, job_owner, job_name, scheduled_for, attempt, finished_at,
        span_last, span_count, run_account, run_connection_id, run_server, run_epoch
    ) VALUES (
        in_job_id, v_run_no, 'SCHEDULED', 'SKIPPED', in_reason, v_owner, v_name, v_first, 0, UTC_TIMESTAMP(6),
        v_last, IF(v_count <= 10000, v_count, NULL), in_by, CONNECTION_ID(), @@server_uid, v_epoch
    );
    UPDATE job
    SET job_run_counter = v_run_no, job_next = v_next, job_changed = job_changed
    WHERE job_id = in_job_id;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_step`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_step(
    IN in_job_id BIGINT UNSIGNED,
    IN in_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_action VARCHAR(8) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_wait DECIMAL(20,6),
    OUT out_run_no BIGINT UNSIGNED,
    OUT out_call VARCHAR(300) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Decides what the runner does next, in one transaction that begins by locking the job row and comparing the run token. out_action: WAIT (out_wait seconds at most, then ask again), RUN (the occurrence is claimed as out_run_no; execute out_call, then record), SKIP (out_message says what was skipped; ask again) or END (out_message says why). Errors: those of the server. Example: CALL job$_step(v_job_id, v_run_token, v_action, v_wait, v_run_no, v_call, v_message)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
step: BEGIN
    DECLARE v_now, v_done, v_next, v_last, v_after, v_anchor, v_start, v_finish, v_seen, v_runner_start, v_cycle_finish DATETIME(6);
    DECLARE v_interval DECIMAL(16,6);
    DECLARE v_status, v_runner_status, v_new_status, v_stop_reason VARCHAR(16) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_epoch, v_stop_epoch, v_cycles, v_known BIGINT UNSIGNED;
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_schema, v_procedure VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_host, v_server, v_controller VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_tries INT DEFAULT 0;
    DECLARE v_reason VARCHAR(32) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_runner_reason, v_new_reason VARCHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_done_before BOOLEAN DEFAULT FALSE;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    decide: LOOP
        BEGIN
            DECLARE EXIT HANDLER FOR 1213, 1205, 1020
            BEGIN
                ROLLBACK AND NO CHAIN NO RELEASE;
                SET v_tries = v_tries + 1;
                IF v_tries >= 10 THEN
                    RESIGNAL;
                END IF;
            END;
            -- The occurrence is in job_run already, from before a clock step or a changed schedule: pass over it.
            DECLARE EXIT HANDLER FOR 1062
            BEGIN
                ROLLBACK AND NO CHAIN NO RELEASE;
                IF v_done_before THEN
                    RESIGNAL;
                END IF;
                SET v_done_before = TRUE;
            END;

            SET out_action = 'END', out_wait = 0, out_run_no = NULL, out_call = NULL, out_message = NULL;
            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            SELECT COUNT(*), MAX(job_runner_token), MAX(job_runner_epoch), MAX(job_stop_epoch), MAX(job_stop_reason), MAX(job_status)
            INTO v_known, v_token, v_epoch, v_stop_epoch, v_stop_reason, v_status
            FROM job WHERE job_id = in_job_id FOR UPDATE;
            IF v_known = 0 THEN
                SET out_message = 'The job is gone';
                COMMIT AND NO CHAIN NO RELEASE;
                LEAVE step;
            ELSEIF NOT COALESCE(v_token = SHA2(in_run_token, 256), FALSE) THEN
                SET out_message = 'Another runner took the job over';
                COMMIT AND NO CHAIN NO RELEASE;
                LEAVE step;
            END IF;

            IF v_status = 'RESUMED' THEN
                SET v_status = 'ENABLED';
                UPDATE job SET job_status = v_status, job_changed = job_changed WHERE job_id = in_job_id;
            END IF;
            IF v_status NOT IN ('ENABLED', 'PAUSED') THEN
                SET out_message = CASE v_status
                    WHEN 'ABORTED' THEN 'Aborted at request'
                    WHEN 'ERROR' THEN 'The job failed too often in a row'
                    ELSE CONCAT('The job became ', v_status)
                END;
            ELSEIF v_stop_epoch >= v_epoch THEN
                SET out_message = CASE v_stop_reason
                    WHEN 'ABORT' THEN 'Aborted at request'
                    WHEN 'SHUTDOWN' THEN 'Ended because its controller shuts down'
                    WHEN 'RENEW' THEN 'Ended to renew the session'
                    WHEN 'UPGRADE' THEN 'Ended to be replaced by a new version'
                    ELSE 'Ended at request'
                END;
            ELSEIF @@global.read_only OR @@global.innodb_read_only THEN
                SET out_message = 'Ended because this server became read-only';
            END IF;
            IF out_message IS NOT NULL THEN
                COMMIT AND NO CHAIN NO RELEASE;
                LEAVE step;
            END IF;

            CALL job$_plan(in_job_id);
            SELECT job_next, job_schedule_anchor, job_schedule_start, job_schedule_finish, job_schedule_interval, job_runner_status, job_runner_reason,
                   job_runner_seen, job_runner_start, job_runner_last_cycle_finish, job_runner_cycles, job_run_counter + 1,
                   job_owner, job_name, job_procedure_schema, job_procedure_name,
                   job_runner_account, job_runner_host, job_runner_server, job_runner_controller
            INTO v_next, v_anchor, v_start, v_finish, v_interval, v_runner_status, v_runner_reason,
                 v_seen, v_runner_start, v_cycle_finish, v_cycles, out_run_no,
                 v_owner, v_name, v_schema, v_procedure,
                 v_account, v_host, v_server, v_controller
            FROM job WHERE job_id = in_job_id FOR UPDATE;
            SET v_now = UTC_TIMESTAMP(6);

            IF v_status = 'ENABLED' AND v_runner_status = 'PAUSED' AND v_next <= v_now THEN
                -- Resumed by a plain UPDATE: what fell into the pause is never caught up.
                CALL job$_grid(v_anchor, v_interval, LEAST(v_now, COALESCE(v_finish, v_now)), v_last, v_after);
                CALL job$_skip(in_job_id, v_last, 'PAUSED', v_account);
                SET out_message = CONCAT('PAUSED: skipped ', v_next, ' to ', v_last, ' UTC');
                COMMIT AND NO CHAIN NO RELEASE;
                SET out_action = 'SKIP';
                LEAVE step;
            END IF;

            IF v_status = 'ENABLED' AND (v_next IS NULL OR v_next > v_finish) THEN
                UPDATE job
                SET job_status = 'FINISHED', job_changed = job_changed
                WHERE job_id = in_job_id;
                CALL job$_event(in_job_id, 'STATUS', v_account, v_status, 'FINISHED', 'The schedule is over');
                SET out_message = 'Ok: the schedule is over';
                COMMIT AND NO CHAIN NO RELEASE;
                LEAVE step;
            ELSEIF v_status = 'ENABLED' AND v_next <= v_now THEN
                -- Due. The latest instant that has come runs, late or not; whole intervals missed before it are one span.
                CALL job$_grid(v_anchor, v_interval, LEAST(v_now, COALESCE(v_finish, v_now)), v_last, v_after);
                IF v_last > v_next THEN
                    -- Never over what has its row already, should somebody have moved job_next back.
                    SET v_done = NULL;
                    SELECT MAX(done) INTO v_done FROM (
                        SELECT COALESCE(span_last, scheduled_for) AS done
                        FROM job_run
                        WHERE job_id = in_job_id AND run_kind = 'SCHEDULED'
                        ORDER BY scheduled_for DESC
                        LIMIT 1
                    ) AS r;
                    IF v_done >= v_next THEN
                        CALL job$_grid(v_anchor, v_interval, v_done, v_last, v_after);
                        UPDATE job SET job_next = v_after, job_changed = job_changed WHERE job_id = in_job_id;
                        SET out_message = CONCAT('DONE BEFORE: passed over ', v_next, ' to ', v_last, ' UTC');
                        COMMIT AND NO CHAIN NO RELEASE;
                        SET out_action = 'SKIP';
                        LEAVE step;
                    END IF;
                    CALL job$_grid(v_anchor, v_interval, v_last - INTERVAL 1 MICROSECOND, v_last, v_after);
                    SET v_reason = CASE
                        WHEN v_next < v_runner_start THEN 'NO_RUNNER'
                        WHEN v_next < v_cycle_finish THEN 'OVERRUN'
                        ELSE 'STALLED'
                    END;
                    CALL job$_skip(in_job_id, v_last, v_reason, v_account);
                    SET out_message = CONCAT(v_reason, ': skipped ', v_next, ' to ', v_last, ' UTC');
                    COMMIT AND NO CHAIN NO RELEASE;
                    SET out_action = 'SKIP';
                    LEAVE step;
                END IF;
                CALL job$_grid(v_anchor, v_interval, v_last, v_next, v_after);
                IF v_done_before THEN
                    UPDATE job SET job_next = v_after, job_changed = job_changed WHERE job_id = in_job_id;
                    SET out_message = CONCAT('DONE BEFORE: passed over ', v_next, ' UTC');
                    COMMIT AND NO CHAIN NO RELEASE;
                    SET out_action = 'SKIP';
                    LEAVE step;
                END IF;
                INSERT INTO job_run (
                    job_id, run_no, run_kind, outcome, job_owner, job_name, scheduled_for, attempt, started_at,
                    run_account, run_host, run_connection_id, run_server, run_controller, run_epoch
                ) VALUES (
                    in_job_id, out_run_no, 'SCHEDULED', 'RUNNING', v_owner, v_name, v_next, 1, v_now,
                    v_account, v_host, CONNECTION_ID(), v_server, v_controller, v_epoch
                );
                UPDATE job
                SET job_next = v_after,
                    job_run_counter = out_run_no,
                    job_run_open = out_run_no,
                    job_run_last = out_run_no,
                    job_runner_status = 'RUNNING',
                    job_runner_reason = NULL,
                    job_runner_seen = v_now,
                    job_runner_last_cycle_start = v_now,
                    job_runner_last_cycle_finish = NULL,
                    job_changed = job_changed
                WHERE job_id = in_job_id;
                COMMIT AND NO CHAIN NO RELEASE;
                SET out_action = 'RUN';
                SET out_call = CONCAT('CALL `', REPLACE(v_schema, '`', '``'), '`.`', REPLACE(v_procedure, '`', '``'), '`()');
                LEAVE step;
            END IF;

            SET v_new_status = CASE
                WHEN v_status = 'PAUSED' THEN 'PAUSED'
                WHEN v_start > v_now THEN 'WAITING'
                ELSE 'SLEEPING'
            END;
            SET v_new_reason = IF(v_new_status = 'WAITING', 'before the start', NULL);
            IF NOT v_new_status <=> v_runner_status OR NOT v_new_reason <=> v_runner_reason OR v_seen < v_now - INTERVAL 20 SECOND THEN
                UPDATE job
                SET job_runner_status = v_new_status,
                    job_runner_reason = v_new_reason,
                    job_runner_seen = v_now,
                    job_changed = job_changed
                WHERE job_id = in_job_id;
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            SET out_action = 'WAIT';
            SET out_wait = IF(v_status = 'PAUSED', 6, TIMESTAMPDIFF(MICROSECOND, v_now, v_next) * 0.000001);
            LEAVE step;
        END;
    END LOOP decide;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_stop`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_stop(
    IN in_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The part of job$stop that writes; in_token: the ticket. Errors: 45002, 45003 no such job. Example: none, call job$stop'
SQL SECURITY DEFINER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_account VARCHAR(384) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_owner VARCHAR(128) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_reason, v_text LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id, v_connection, v_epoch, v_stop_epoch BIGINT UNSIGNED;
    DECLARE v_tries INT DEFAULT 0;

    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        ROLLBACK AND NO CHAIN NO RELEASE;
        RESIGNAL;
    END;

    CALL job$_caller(in_token, v_account, v_owner);
    CALL job$_options('job$stop', in_options, '["reason", "connection_id"]');
    CALL job$_option(in_options, 'reason', v_reason);
    SET v_reason = COALESCE(v_reason, 'SHUTDOWN');
    CALL job$_option(in_options, 'connection_id', v_text);
    IF v_reason NOT IN ('SHUTDOWN', 'RENEW', 'UPGRADE') THEN
        CALL job$_fail(45002, 'job$stop: reason must be SHUTDOWN, RENEW or UPGRADE');
    END IF;
    IF v_text IS NOT NULL AND v_text NOT REGEXP '^[0-9]{1,19}$' THEN
        CALL job$_fail(45002, 'job$stop: connection_id must be a whole number');
    END IF;
    SET v_connection = v_text;
    again: LOOP
        BEGIN
            DECLARE EXIT HANDLER FOR 1213, 1205, 1020
            BEGIN
                ROLLBACK AND NO CHAIN NO RELEASE;
                SET v_tries = v_tries + 1;
                IF v_tries >= 10 THEN
                    RESIGNAL;
                END IF;
            END;

            ROLLBACK AND NO CHAIN NO RELEASE;
            SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            START TRANSACTION READ WRITE;
            CALL job$_find(v_owner, in_job_name, 'job$stop', v_job_id);
            SELECT job_runner_epoch, job_stop_epoch INTO v_epoch, v_stop_epoch
            FROM job WHERE job_id = v_job_id FOR UPDATE;
            IF v_stop_epoch < v_epoch
                AND EXISTS (
                    SELECT 1 FROM job
                    WHERE job_id = v_job_id AND job_runner_token IS NOT NULL
                      AND (v_connection IS NULL OR job_runner_connection_id = v_connection)
                )
            THEN
                UPDATE job SET job_stop_epoch = v_epoch, job_stop_reason = v_reason WHERE job_id = v_job_id;
                CALL job$_event(v_job_id, 'STOP', v_account, NULL, v_reason, NULL);
            END IF;
            COMMIT AND NO CHAIN NO RELEASE;
            LEAVE again;
        END;
    END LOOP again;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$_uptime`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$_uptime(
    OUT out_seconds BIGINT UNSIGNED
)
COMMENT 'Tells for how many seconds this server has been up: connection ids are given out anew after a restart. Errors: none. Example: CALL job$_uptime(v_uptime)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    SELECT CAST(variable_value AS UNSIGNED) INTO out_seconds
    FROM information_schema.global_status
    WHERE variable_name = 'Uptime';
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$token`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$token(
    OUT out_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Makes a token that nobody can guess and that never comes again: a digest of the secret, of UUID() and of chance. Errors: none. Example: CALL job$token(v_token)'
SQL SECURITY DEFINER
NOT DETERMINISTIC
READS SQL DATA
BEGIN
    SELECT SHA2(CONCAT(setting_value, ':token:', UUID(), ':', CONNECTION_ID(), ':', RAND()), 256) INTO out_token
    FROM job_setting
    WHERE setting_name = 'secret';
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$ticket`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$ticket(
    OUT out_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Writes the ticket of one API call, by which the routine behind it knows whose call it is: the defaults of job_ticket fill in the account with whose rights this code runs. A row that came another way proves nothing: ticket_schema tells a trigger or function of somebody else''s, and ticket_mode can be computed only in the sql_mode that this routine gives itself and that ends with it, which tells a statement or a view. Commits the caller''s open transaction, as DDL does, and opens one, which job$_caller rolls back. Errors: those of the INSERT. Example: CALL job$ticket(v_token)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    COMMIT AND NO CHAIN NO RELEASE;
    SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
    START TRANSACTION READ WRITE;
    SET SESSION sql_mode = 'ALLOW_INVALID_DATES';
    CALL job$token(out_token);
    INSERT INTO job_ticket (ticket_token) VALUES (out_token);
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$define`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$define(
    IN in_job_name VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Defines the job in_job_name for the calling account. Options, one JSON document: schema and procedure (which takes no argument and which the caller may execute), every (seconds between occurrences, 0.1 to 3155760000), start, finish (UTC, YYYY-MM-DD HH:MM:SS), max_failures, description, and for a job that exists: replace (true: keep its id, status and history) or if_not_exists (true: change nothing). Answers one row (job_id, action, next_1, next_2, next_3). Commits the caller''s open transaction. Errors: 45002 wrong definition, 45004 refused. Example: CALL job$define(''nightly'', ''{"schema": "shop", "procedure": "roll_up", "every": 86400}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_schema, v_procedure LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$_options('job$define', in_options,
        '["schema", "procedure", "every", "start", "finish", "max_failures", "description", "replace", "if_not_exists"]');
    CALL job$_option(in_options, 'schema', v_schema);
    CALL job$_option(in_options, 'procedure', v_procedure);
    CALL job$_callable(v_schema, v_procedure);

    CALL job$ticket(v_token);
    CALL job$_define(v_token, in_job_name, in_options);
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$drop`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$drop(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Drops the caller''s job in_job_name; refused while a runner or somebody else holds its lock. Its runs and events stay, under the job_id that is never given out again. Options, one JSON document: purge_history (true: they go too). Answers one row (job_id, runs_purged). Commits the caller''s open transaction. Errors: 45002, 45003 no such job, 45004 it runs. Example: CALL job$drop(''nightly'', ''{"purge_history": true}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_drop(v_token, in_job_name, in_options);
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$get_lock`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$get_lock(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_status INT,
    OUT out_locked_by BIGINT UNSIGNED
)
COMMENT 'Takes the lock of the caller''s own job in_job_name for this session, without waiting: the same lock that its runner holds, so while it is held no runner can start. out_status: 1 taken, 0 held by the connection out_locked_by (perhaps this one), NULL an error. Free it with job$release_lock or by disconnecting. Commits the caller''s open transaction. Errors: 45003 no such job. Example: CALL job$get_lock(''nightly'', @status, @locked_by)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_get_lock(v_token, in_job_name, out_status, out_locked_by);
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$overview`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$overview(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Answers the rows of job_overview that are the caller''s own jobs: the one named in_job_name, or all where that is NULL. For owners, who cannot read the view. Commits the caller''s open transaction. Errors: 45003 no such job. Example: CALL job$overview(NULL)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_overview(v_token, in_job_name);
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$release_lock`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$release_lock(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    OUT out_status INT,
    OUT out_locked_by BIGINT UNSIGNED
)
COMMENT 'Releases the lock that job$get_lock took in this session. out_status: 1 released, 0 held by the connection out_locked_by, NULL held by nobody. The lock of a runner is not released: that wants its run token. Commits the caller''s open transaction. Errors: 45003 no such job, 45004 it is a runner''s. Example: CALL job$release_lock(''nightly'', @status, @locked_by)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_release_lock(v_token, in_job_name, out_status, out_locked_by);
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$run`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$run(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Runs the caller''s job in_job_name on its schedule, in this session, until the schedule ends or the job is aborted; blocks meanwhile. Answers one row (job_name, message) that says how it ended. Commits the caller''s open transaction. Errors: none; refusals are messages. Example: CALL job$run(''nightly'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    CALL job$run_with(in_job_name, NULL);
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$run_with`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$run_with(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'The runner: what job$run does, with options as one JSON document: controller (the name of the jobctl process that keeps this runner alive; then a row (job$notice, run_no, seconds, message) is sent for each thing that happens: STARTED, OK, ERROR, SKIPPED). Result sets of the job procedure pass through; an empty one is sent now and then while waiting, which tells whether the client still listens; the last one is the row (job_name, message). Errors: none; refusals are messages. Example: CALL job$run_with(''nightly'', ''{"controller": "ana@db1"}'')'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
run: BEGIN
    DECLARE v_slice INT DEFAULT 6;
    DECLARE v_token, v_run_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_controller VARCHAR(255) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_job_id, v_run_no BIGINT UNSIGNED;
    DECLARE v_action VARCHAR(8) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_call VARCHAR(300) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_wait, v_seconds DECIMAL(20,6);
    DECLARE v_woken INT DEFAULT 0;
    DECLARE v_probed DATETIME;
    DECLARE v_failed, v_open, v_client_gone BOOLEAN DEFAULT FALSE;
    DECLARE v_error_code INT UNSIGNED;
    DECLARE v_error_sqlstate CHAR(5) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_error_message VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_settings, v_settings_now LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin;
    DECLARE v_leaked VARCHAR(1024) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    -- The one outermost handler: on every way out the final state is written, the lock is free and the row is sent.
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
    BEGIN
        GET DIAGNOSTICS CONDITION 1 v_error_code = MYSQL_ERRNO, v_message = MESSAGE_TEXT;
        SET v_message = CONCAT('Ended by error ', COALESCE(v_error_code, 0), ': ', COALESCE(v_message, 'no diagnostics'));
        IF v_run_token IS NOT NULL THEN
            BEGIN
                -- Where not even a rollback is possible (an XA transaction left open), the lock goes with the session.
                DECLARE EXIT HANDLER FOR SQLEXCEPTION KILL CONNECTION CONNECTION_ID();
                CALL job$_release(v_job_id, v_run_token, v_message);
            END;
        END IF;
        SELECT in_job_name AS job_name, v_message AS message;
    END;

    IF @@global.read_only OR @@global.innodb_read_only THEN
        SELECT in_job_name AS job_name,
            CONCAT('This server (', @@hostname, ':', @@port, ') is read-only; run the job on the writable one') AS message;
        LEAVE run;
    END IF;
    SET v_controller = JSON_UNQUOTE(JSON_EXTRACT(in_options, '$.controller'));
    -- A body gets the session as it is now each time, whatever the body before did to it.
    CALL job$_session(v_settings);
    CALL job$ticket(v_token);
    CALL job$_acquire(v_token, in_job_name, v_controller, v_job_id, v_run_token, v_message);
    IF v_run_token IS NULL THEN
        SELECT in_job_name AS job_name, v_message AS message;
        LEAVE run;
    END IF;

    IF v_controller IS NOT NULL THEN
        -- A request of its controller, and the controller's death, must not wait for a long slice.
        SET v_slice = 2;
        SELECT 'STARTED' AS `job$notice`, NULL AS run_no, NULL AS seconds, CONNECTION_ID() AS message;
    END IF;

    cycle: LOOP
        IF v_probed IS NULL OR v_probed < UTC_TIMESTAMP() - INTERVAL 3 SECOND THEN
            -- Nothing else tells that the client is dead, and the error comes just once.
            SET v_probed = UTC_TIMESTAMP();
            BEGIN
                DECLARE EXIT HANDLER FOR 1158, 1159, 1160, 1161 SET v_client_gone = TRUE;
                SELECT in_job_name AS job_name, NULL AS message LIMIT 0;
            END;
            IF v_client_gone THEN
                SET v_message = 'Ended because its client is gone';
                LEAVE cycle;
            END IF;
        END IF;
        CALL job$_step(v_job_id, v_run_token, v_action, v_wait, v_run_no, v_call, v_message);
        CASE v_action
        WHEN 'WAIT' THEN
            -- A sleep can return early, and at 5 s it does so for ever once the client is dead: the step looks at the clock.
            BEGIN
                DECLARE CONTINUE HANDLER FOR 1317 SET v_woken = 1;
                SELECT SLEEP(LEAST(v_wait, v_slice)) INTO v_woken;
            END;
            IF NOT v_woken <=> 0 THEN
                SET v_message = 'Interrupted while it was waiting';
                LEAVE cycle;
            END IF;
        WHEN 'RUN' THEN
            SET v_failed = FALSE, v_error_code = NULL, v_error_sqlstate = NULL, v_error_message = NULL;
            SET @`job$call` = v_call;
            BEGIN
                DECLARE EXIT HANDLER FOR SQLEXCEPTION
                BEGIN
                    GET DIAGNOSTICS CONDITION 1
                        v_error_code = MYSQL_ERRNO, v_error_sqlstate = RETURNED_SQLSTATE, v_error_message = MESSAGE_TEXT;
                    SET v_failed = TRUE, v_error_message = COALESCE(v_error_message, 'failed, no diagnostics');
                END;
                PREPARE `job$statement` FROM @`job$call`;
                EXECUTE `job$statement`;
            END;
            -- The body's rest is rolled back before anything else: setting autocommit first would commit it.
            SET v_open = FALSE;
            BEGIN
                DECLARE EXIT HANDLER FOR 1568 SET v_open = TRUE;
                SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
            END;
            ROLLBACK AND NO CHAIN NO RELEASE;
            IF v_open AND NOT v_failed THEN
                SET v_failed = TRUE, v_error_message = 'The job procedure left a transaction open; it was rolled back';
            END IF;
            SET SESSION timestamp = DEFAULT;
            SET v_leaked = NULL;
            CALL job$_session(v_settings_now);
            IF v_settings_now <> v_settings THEN
                CALL job$_session_restore(v_settings, v_leaked);
            END IF;
            CALL job$_record(v_job_id, v_run_token, v_run_no, v_failed, v_error_code, v_error_sqlstate, v_error_message, v_leaked,
                v_seconds, v_message);
            IF v_controller IS NOT NULL THEN
                SELECT IF(v_failed, 'ERROR', 'OK') AS `job$notice`, v_run_no AS run_no, v_seconds AS seconds, v_error_message AS message;
            END IF;
            IF v_message IS NOT NULL THEN
                LEAVE cycle;
            END IF;
        WHEN 'SKIP' THEN
            IF v_controller IS NOT NULL THEN
                SELECT 'SKIPPED' AS `job$notice`, NULL AS run_no, NULL AS seconds, v_message AS message;
            END IF;
        ELSE
            LEAVE cycle;
        END CASE;
    END LOOP cycle;

    CALL job$_release(v_job_id, v_run_token, v_message);
    SELECT in_job_name AS job_name, v_message AS message;
END;;

DELIMITER ;

DROP PROCEDURE IF EXISTS `job$stop`;

DELIMITER ;;

CREATE DEFINER = `root`@`localhost` PROCEDURE job$stop(
    IN in_job_name VARCHAR(129) CHARSET utf8mb4 COLLATE utf8mb4_bin,
    IN in_options LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Asks the present runner of the caller''s job in_job_name to end after its present cycle; the job keeps its status, so another runner may start. Options, one JSON document: reason (SHUTDOWN, the default, RENEW or UPGRADE), connection_id (only if that connection is the runner). Commits the caller''s open transaction. Errors: 45002, 45003 no such job. Example: CALL job$stop(''nightly'', NULL)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
MODIFIES SQL DATA
BEGIN
    DECLARE v_token CHAR(64) CHARSET utf8mb4 COLLATE utf8mb4_bin;

    CALL job$ticket(v_token);
    CALL job$_stop(v_token, in_job_name, in_options);
END;;

DELIMITER ;

REPLACE INTO job_setting (setting_name, setting_value)
SELECT 'routines_digest', SHA2(CONCAT('c7ac21d1d2f522293ff0bd53ee89ebc197ec6a70f4fb88afa039d113efe59d12',
        (SELECT COALESCE(GROUP_CONCAT(SHA2(CONCAT_WS('|', routine_name, definer, security_type, sql_data_access,
                 is_deterministic, sql_mode, routine_definition), 256)
             ORDER BY routine_name), '')
         FROM information_schema.routines WHERE routine_schema = DATABASE() AND routine_name IN ('job$_acquire', 'job$_callable', 'job$_caller', 'job$_check_name', 'job$_check_time', 'job$_define', 'job$_drop', 'job$_event', 'job$_fail', 'job$_find', 'job$_get_lock', 'job$_grid', 'job$_holder', 'job$_in_progress', 'job$_lock_name', 'job$_lost', 'job$_option', 'job$_options', 'job$_overview', 'job$_plan', 'job$_session', 'job$_session_restore', 'job$_record', 'job$_refusal', 'job$_release', 'job$_release_lock', 'job$_skip', 'job$_step', 'job$_stop', 'job$_uptime', 'job$token', 'job$ticket', 'job$define', 'job$drop', 'job$get_lock', 'job$overview', 'job$release_lock', 'job$run', 'job$run_with', 'job$stop')),
        (SELECT COALESCE(SHA2(GROUP_CONCAT(CONCAT_WS('|', specific_name, ordinal_position, parameter_mode, parameter_name,
                 dtd_identifier, collation_name) ORDER BY specific_name, ordinal_position), 256), '')
         FROM information_schema.parameters WHERE specific_schema = DATABASE() AND specific_name IN ('job$_acquire', 'job$_callable', 'job$_caller', 'job$_check_name', 'job$_check_time', 'job$_define', 'job$_drop', 'job$_event', 'job$_fail', 'job$_find', 'job$_get_lock', 'job$_grid', 'job$_holder', 'job$_in_progress', 'job$_lock_name', 'job$_lost', 'job$_option', 'job$_options', 'job$_overview', 'job$_plan', 'job$_session', 'job$_session_restore', 'job$_record', 'job$_refusal', 'job$_release', 'job$_release_lock', 'job$_skip', 'job$_step', 'job$_stop', 'job$_uptime', 'job$token', 'job$ticket', 'job$define', 'job$drop', 'job$get_lock', 'job$overview', 'job$release_lock', 'job$run', 'job$run_with', 'job$stop')),
        (SELECT COALESCE(GROUP_CONCAT(SHA2(CONCAT_WS('|', table_name, definer, security_type, view_definition), 256)
             ORDER BY table_name), '')
         FROM information_schema.views WHERE table_schema = DATABASE() AND table_name IN ('job_overview'))), 256);
