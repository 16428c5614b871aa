//! `jobctl install` and `jobctl uninstall`.

use serde_json::{Value, json};

use super::{Answer, Block};
use crate::schema::grants;
use crate::schema::install::Installed;
use crate::schema::uninstall::Uninstalled;

/// Stands for an account that nobody named.
const SOMEBODY: &str = "'OWNER'@'HOST'";

/// Says what was installed, whose rights it has, and what an account that owns jobs needs.
pub fn installed(done: &Installed, schema: &str, owner: Option<String>) -> Answer {
    let version = env!("CARGO_PKG_VERSION");
    let migrations = done.migrations;
    let mut text = match done.action {
        "UNCHANGED" => format!("nothing to do: jobctl {version} is installed in schema `{schema}`\n"),
        "UPGRADED" => format!("upgraded schema `{schema}` to jobctl {version} ({migrations} migrations)\n"),
        _ => format!("installed jobctl {version} in schema `{schema}` ({migrations} migrations)\n"),
    };
    for warning in &done.warnings {
        text += &format!("warning: {warning}\n");
    }
    text += &format!("its routines work with the rights of {}", done.definer);
    if done.own {
        text += ", who installed it; an account with just enough rights, locked:\n\n";
        let least = crate::model::Account { user: "jobctl".into(), host: "localhost".into() };
        text += &statements(&grants::definer(&done.pattern, &least));
        text += "    jobctl install --definer jobctl@localhost\n";
    } else {
        text += "\n";
    }
    let owner_grants = grants::owner(schema, owner.as_deref().unwrap_or(SOMEBODY));
    text += "\nan account that owns jobs needs:\n\n";
    text += &statements(&owner_grants);
    let row = json!({
        "schema": schema,
        "version": version,
        "action": done.action,
        "migrations": migrations,
        "definer": done.definer.to_string(),
        "owner_grants": owner_grants,
        "warnings": done.warnings,
    });
    Answer::new(vec![row.as_object().cloned().unwrap_or_default()], vec![Block::Text(text)])
}

/// One statement a line, to be copied.
fn statements(statements: &[String]) -> String {
    statements.iter().map(|statement| format!("    {statement};\n")).collect()
}

/// Says what was dropped.
pub fn uninstalled(done: &Uninstalled, schema: &str) -> Answer {
    let what =
        if done.schema { format!("and the schema `{schema}`") } else { format!("from schema `{schema}`, which holds more") };
    let text = format!("dropped {} objects of jobctl {what}", done.objects);
    let row = json!({ "schema": schema, "objects": done.objects, "schema_dropped": done.schema });
    let row = if let Value::Object(row) = row { row } else { Default::default() };
    Answer::new(vec![row], vec![Block::Text(text)])
}
