-- What the last statement of a body warned of, apart from errors.
ALTER TABLE job_run
    ADD COLUMN run_warnings VARCHAR(4096) NULL
        COMMENT 'The first 5 warnings of the body''s last statement, one a line: code, colon, text'
        AFTER error_message
