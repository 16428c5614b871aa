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
COMMENT = 'jobctl: proof of who calls a routine; always empty to other sessions'
