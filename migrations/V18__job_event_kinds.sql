-- What is noticed of the system as a whole has events too.
ALTER TABLE job_event
    MODIFY COLUMN event_no BIGINT UNSIGNED NOT NULL
        COMMENT 'Number within the job, from 1, by job.job_event_counter; of the system, by the setting event_counter',
    MODIFY COLUMN event_kind VARCHAR(32) NOT NULL
        COMMENT 'Of a job: DEFINED CHANGED DROPPED STATUS SWITCH STOP RUNNER_START RUNNER_STOP KILL LOST KILLED TIMEOUT LOCK_LOST MENDED; of the system: CONTROLLER_START CONTROLLER_STOP CONTROLLER_STALE SERVER HELD ADOPTED'
