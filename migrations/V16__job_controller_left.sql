-- After a failover a runner that was left behind may go on for as long as its controller's last sign of life there allows.
ALTER TABLE job_controller
    ADD COLUMN controller_left DATETIME(6) NULL
        COMMENT 'UTC; its last sign of life on the server that it was on before, by that server''s clock; NULL: it was on no other'
