-- Settings of the whole schema, and the secret from which lock names are made.
CREATE TABLE IF NOT EXISTS job_setting (
    setting_name VARCHAR(64) NOT NULL
        COMMENT 'secret version routines_digest job_counter hold switch event_counter',
    setting_value VARCHAR(1024) NOT NULL
        COMMENT 'Its value',
    CONSTRAINT pk_job_setting PRIMARY KEY (setting_name)
)
ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
COMMENT = 'jobctl: settings of the schema; the secret is read by routines alone'
