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
        "REPAIRED" => format!("reinstalled jobctl {version} in schema `{schema}` ({migrations} migrations)\n"),
        "UPGRADED" => format!("upgraded schema `{schema}` to jobctl {version} ({migrations} migrations)\n"),
        _ => format!("installed jobctl {version} in schema `{schema}` ({migrations} migrations)\n"),
    };
    text += &format!("its routines work with the rights of {}\n", done.definer);
    if done.drained > 0 {
        let (runners, are) = if done.drained == 1 { ("runner", "is") } else { ("runners", "are") };
        text += &format!("{} {runners} ended for it, and {are} started again\n", done.drained);
    }
    // Forty lines that were read at the first time.
    let grants_wanted = owner.is_some() || done.action != "UNCHANGED";
    let owner_grants = grants::owner(schema, owner.as_deref().unwrap_or(SOMEBODY));
    if grants_wanted {
        text += "\nan account that owns jobs needs:\n\n";
        text.extend(owner_grants.iter().map(|grant| format!("    {grant};\n")));
    }
    let row = json!({
        "schema": schema,
        "version": version,
        "action": done.action,
        "migrations": migrations,
        "runners_drained": done.drained,
        "definer": done.definer.to_string(),
        "owner_grants": owner_grants,
        "warnings": done.warnings,
    });
    let mut answer = Answer::new(row.as_object().cloned().unwrap_or_default().into(), vec![Block::Text(text)]);
    answer.notes.extend(done.warnings.iter().map(|warning| format!("warning: {warning}")));
    if !grants_wanted {
        answer.notes.push("hint: `jobctl install --owner ACCOUNT` prints what an account needs that owns jobs".into());
    } else if done.own {
        answer
            .notes
            .push("hint: instead of the installer, a locked account with just enough rights can define the routines:".into());
        answer.notes.extend(done.least.iter().map(|statement| format!("hint: {statement};")));
        answer.notes.push("hint: jobctl install --definer jobctl@localhost".into());
    }
    answer
}

/// Says what was dropped.
pub fn uninstalled(done: &Uninstalled, schema: &str) -> Answer {
    let what =
        if done.schema { format!("and the schema `{schema}`") } else { format!("from schema `{schema}`, which holds more") };
    let text = format!("dropped {} objects of jobctl {what}", done.objects);
    let row = json!({ "schema": schema, "objects": done.objects, "schema_dropped": done.schema });
    let row = if let Value::Object(row) = row { row } else { Default::default() };
    Answer::new(row.into(), vec![Block::Text(text)])
}
