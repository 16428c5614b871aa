-- One row per owner, raised by every request: so a controller hears of it without reading the jobs.
CREATE TABLE IF NOT EXISTS job_request (
    request_owner VARCHAR(128) NOT NULL
        COMMENT 'Owner of the jobs that a request was about; empty: everybody',
    request_counter BIGINT UNSIGNED NOT NULL
        COMMENT 'Grows by one with each request; compare for inequality only',
    CONSTRAINT pk_job_request PRIMARY KEY (request_owner)
)
ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
COMMENT = 'jobctl: what tells a controller that something was requested'
