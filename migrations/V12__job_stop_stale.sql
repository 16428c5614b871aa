-- A runner whose controller does not show any sign of life any more is asked to end, so that another controller may go on.
ALTER TABLE job
    DROP CONSTRAINT ck_job_stop_reason,
    ADD CONSTRAINT ck_job_stop_reason CHECK (job_stop_reason IN ('ABORT', 'SHUTDOWN', 'RENEW', 'UPGRADE', 'STALE'))
