-- The newest stamp of an owner's jobs is read many times a second, and all of them once: from the index alone.
ALTER TABLE job
    ADD KEY ix_job_owner_changed (job_owner, job_changed)
