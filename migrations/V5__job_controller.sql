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
COMMENT = 'jobctl: the controllers'
