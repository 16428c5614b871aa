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
COMMENT = 'jobctl: the servers on which this schema has worked'
