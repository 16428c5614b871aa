-- Which life of its controller a runner belongs to: a new controller of the same name does not bring an old one back.
ALTER TABLE job
    ADD COLUMN job_runner_life BIGINT UNSIGNED NULL
        COMMENT 'Number of the life lock by which its controller shows that it lives; NULL: it has none'
        AFTER job_runner_controller
