-- The switch beside the jobs: as long as a row is there, nothing of that owner's runs, whatever the status of each job.
CREATE TABLE IF NOT EXISTS job_switch (
    switch_owner VARCHAR(128) NOT NULL
        COMMENT 'Owner whose jobs are all paused; empty: everybody''s',
    switch_at DATETIME(6) NOT NULL
        COMMENT 'UTC; since when',
    switch_by VARCHAR(384) NOT NULL
        COMMENT 'Account that did it',
    switch_reason VARCHAR(1024) NULL
        COMMENT 'Why, in its words',
    CONSTRAINT pk_job_switch PRIMARY KEY (switch_owner)
)
ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
COMMENT = 'jobctl: owners whose jobs are all paused at once'
