//! An installation as a script for the `mysql` or `mariadb` client.

use super::plan::{Plan, Role};
use crate::db;

/// Ends a statement whose body holds semicolons.
const DELIMITER: &str = ";;";

/// Writes the script.
pub fn render(plan: &Plan) -> String {
    let mut script = format!("-- jobctl {}: what `jobctl install` would do here\n", env!("CARGO_PKG_VERSION"));
    if plan.statements.is_empty() {
        return script + "-- nothing to do\n";
    }
    script += "-- It holds the secret that names jobctl's locks: keep it as you keep a password.\n";
    script += &format!("{};\n", db::PINNED);
    let mut routine = false;
    for statement in &plan.statements {
        let wanted = statement.role == Role::Routine;
        if wanted != routine {
            script += &format!("\nDELIMITER {}\n", if wanted { DELIMITER } else { ";" });
            routine = wanted;
        }
        script += &format!("\n{}{}\n", statement.sql, if routine { DELIMITER } else { ";" });
    }
    script
}
