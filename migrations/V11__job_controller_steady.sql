-- Since when a controller's heartbeats come without a gap: only one that has been heard all the time may judge another.
ALTER TABLE job_controller
    ADD COLUMN controller_steady DATETIME(6) NULL
        COMMENT 'UTC; since when its heartbeats have come without a gap of half its time to live'
