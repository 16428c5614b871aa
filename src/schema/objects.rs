//! The one list of everything that jobctl has in the database.

/// What an object is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// A table, made by a migration.
    Table,
    /// The view, for people with nothing but `mysql`.
    View,
    /// A stored procedure.
    Routine,
}

/// A table, a view or a routine.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Its name in the schema.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// The statement that creates it, without a definer; empty for a table, which migrations create and change.
    pub sql: &'static str,
    /// Whether an account that owns jobs needs to execute it.
    pub owner: bool,
}

/// The table of applied migrations, in refinery's form.
pub const HISTORY: &str = "job_schema_history";

/// An account that may execute this routine owns jobs.
pub const OWNER_MARK: &str = "job$run";

const fn table(name: &'static str) -> Object {
    Object { name, kind: Kind::Table, sql: "", owner: false }
}

/// `sql/NAME.sql` creates the routine `job$NAME`.
macro_rules! routine {
    ($name:literal, $owner:literal) => {
        Object {
            name: concat!("job$", $name),
            kind: Kind::Routine,
            sql: include_str!(concat!("../../sql/", $name, ".sql")),
            owner: $owner,
        }
    };
}

/// Everything, in the order of installation. The outer routines come last, so that nothing can be called before it is whole.
pub const OBJECTS: &[Object] = &[
    table(HISTORY),
    table("job"),
    table("job_run"),
    table("job_event"),
    table("job_progress"),
    table("job_controller"),
    table("job_server"),
    table("job_ticket"),
    table("job_setting"),
    table("job_switch"),
    table("job_request"),
    Object { name: "job_overview", kind: Kind::View, sql: include_str!("../../sql/job_overview.sql"), owner: false },
    routine!("_acquire", true),
    routine!("_adopt", false),
    routine!("_alter", true),
    routine!("_callable", true),
    routine!("_caller", false),
    routine!("_cancel", true),
    routine!("_check_name", false),
    routine!("_check_time", false),
    routine!("_claim", false),
    routine!("_close_span", false),
    routine!("_controller", true),
    routine!("_controller_lives", false),
    routine!("_define", true),
    routine!("_decide", false),
    routine!("_definition", false),
    routine!("_doctor", true),
    routine!("_drop", true),
    routine!("_event", false),
    routine!("_execute", true),
    routine!("_fail", true),
    routine!("_failed", false),
    routine!("_find", false),
    routine!("_forecast", false),
    routine!("_get_lock", true),
    routine!("_grid", false),
    routine!("_hand_over", true),
    routine!("_heartbeat", true),
    routine!("_held", false),
    routine!("_holder", false),
    routine!("_in_progress", false),
    routine!("_in_turn", false),
    routine!("_listen", true),
    routine!("_lock_name", false),
    routine!("_look", true),
    routine!("_lost", false),
    routine!("_mend", true),
    routine!("_option", true),
    routine!("_options", true),
    routine!("_overview", true),
    routine!("_plan", false),
    routine!("_probe", true),
    routine!("_search", true),
    routine!("_receive", true),
    routine!("_server", false),
    routine!("_session", true),
    routine!("_session_restore", true),
    routine!("_record", true),
    routine!("_refusal", false),
    routine!("_release", true),
    routine!("_release_lock", true),
    routine!("_request", true),
    routine!("_ring", true),
    routine!("_skip", false),
    routine!("_stale", false),
    routine!("_step", true),
    routine!("_stop", true),
    routine!("_stop_run", false),
    routine!("_switch", true),
    routine!("_traces", true),
    routine!("_traces_clear", true),
    routine!("_transition", false),
    routine!("_turn", true),
    routine!("_unlock", true),
    routine!("_unpark", true),
    routine!("_uptime", false),
    routine!("_wait", true),
    routine!("_wake", false),
    routine!("_watch", true),
    routine!("_write", false),
    routine!("token", true),
    routine!("ticket", true),
    routine!("abort", true),
    routine!("adopt", false),
    routine!("alter", true),
    routine!("cancel", true),
    routine!("controller", true),
    routine!("define", true),
    routine!("disable", true),
    routine!("doctor", true),
    routine!("drop", true),
    routine!("enable", true),
    routine!("get_lock", true),
    routine!("heartbeat", true),
    routine!("look", true),
    routine!("mend", true),
    routine!("overview", true),
    routine!("park", true),
    routine!("pause", true),
    routine!("pause_all", true),
    routine!("release_lock", true),
    routine!("resume", true),
    routine!("resume_all", true),
    routine!("ring", true),
    routine!("run", true),
    routine!("run_with", true),
    routine!("stop", true),
    routine!("watch", true),
];

/// The routines, in the order of installation.
pub fn routines() -> impl Iterator<Item = &'static Object> {
    OBJECTS.iter().filter(|object| object.kind == Kind::Routine)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;

    /// The names of the files in a folder of the repository, without their ends.
    fn files(folder: &str) -> BTreeSet<String> {
        let path = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
        let names =
            fs::read_dir(path).expect(folder).map(|file| file.expect(folder).file_name().into_string().expect("a name"));
        names.map(|name| name.strip_suffix(".sql").expect("an .sql file").to_owned()).collect()
    }

    #[test]
    fn no_file_of_sql_is_forgotten() {
        let listed = OBJECTS.iter().filter(|object| object.kind != Kind::Table);
        let listed = listed.map(|object| object.name.trim_start_matches("job$").to_owned()).collect();
        assert_eq!(files("sql"), listed);
    }

    #[test]
    fn no_migration_is_forgotten() {
        let embedded = super::super::migrate::all();
        let embedded = embedded.iter().map(|migration| format!("V{}__{}", migration.version(), migration.name())).collect();
        assert_eq!(files("migrations"), embedded);
    }

    #[test]
    fn every_table_of_a_migration_is_listed() {
        let created: BTreeSet<_> = super::super::migrate::all()
            .iter()
            .filter_map(|migration| {
                migration.sql()?.split_once("CREATE TABLE IF NOT EXISTS ")?.1.split_whitespace().next().map(str::to_owned)
            })
            .collect();
        let tables = OBJECTS.iter().filter(|object| object.kind == Kind::Table && object.name != HISTORY);
        assert_eq!(created, tables.map(|object| object.name.to_owned()).collect());
    }

    #[test]
    fn every_file_creates_what_its_name_says() {
        for object in OBJECTS.iter().filter(|object| object.kind != Kind::Table) {
            let words: Vec<_> = object.sql.split(|c: char| c.is_whitespace() || c == '(').collect();
            let word = if object.kind == Kind::View { "VIEW" } else { "PROCEDURE" };
            let at = words.iter().position(|found| *found == word).expect(object.name);
            assert_eq!(words[at + 1], object.name);
        }
    }

    #[test]
    fn an_owner_may_execute_what_its_routines_call_with_its_rights() {
        for caller in routines().filter(|object| object.owner && object.sql.contains("SQL SECURITY INVOKER")) {
            let body = caller.sql.split_once("BEGIN").map_or("", |(_, body)| body);
            for called in routines().filter(|object| body.contains(&format!("CALL {}(", object.name))) {
                assert!(called.owner, "{} calls {}", caller.name, called.name);
            }
        }
    }
}
