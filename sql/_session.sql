CREATE PROCEDURE job$_session(
    OUT out_settings LONGTEXT CHARSET utf8mb4 COLLATE utf8mb4_bin
)
COMMENT 'Reads the settings of this session that a body can change and that would reach the next body or the runner, as one JSON object by their names. Errors: none. Example: CALL job$_session(v_settings)'
SQL SECURITY INVOKER
NOT DETERMINISTIC
NO SQL
BEGIN
    -- `+ 0`: MariaDB writes a boolean variable into JSON as ON without quotes.
    SET out_settings = JSON_OBJECT(
        'pseudo_thread_id', @@session.pseudo_thread_id,
        'sql_log_bin', @@session.sql_log_bin + 0,
        'insert_id', @@session.insert_id,
        'autocommit', @@session.autocommit + 0,
        '{{transaction}}_isolation', @@session.{{transaction}}_isolation,
        '{{transaction}}_read_only', @@session.{{transaction}}_read_only + 0,
        'completion_type', @@session.completion_type,
        'time_zone', @@session.time_zone,
        'lc_time_names', @@session.lc_time_names,
        'character_set_client', @@session.character_set_client,
        'character_set_results', @@session.character_set_results,
        'collation_connection', @@session.collation_connection,
        'max_error_count', @@session.max_error_count,
        'group_concat_max_len', @@session.group_concat_max_len,
        'max_join_size', @@session.max_join_size,
        'sql_big_selects', @@session.sql_big_selects + 0,
        'sql_select_limit', @@session.sql_select_limit,
        'sql_safe_updates', @@session.sql_safe_updates + 0,
        'sql_auto_is_null', @@session.sql_auto_is_null + 0,
        'foreign_key_checks', @@session.foreign_key_checks + 0,
        'unique_checks', @@session.unique_checks + 0,
        'innodb_lock_wait_timeout', @@session.innodb_lock_wait_timeout,
        'lock_wait_timeout', @@session.lock_wait_timeout,
        'div_precision_increment', @@session.div_precision_increment,
        'default_week_format', @@session.default_week_format,
        'auto_increment_increment', @@session.auto_increment_increment,
        'auto_increment_offset', @@session.auto_increment_offset
    );
END
