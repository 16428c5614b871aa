//! The digest by which an installation knows that routines and view are present and unchanged.

use sha2::{Digest, Sha256};

use super::objects::{Kind, OBJECTS};
use crate::db::quote::literal;

/// An SQL expression: a digest over the statements that were installed, and over what the server now holds of them.
pub fn expression(installed: &[String]) -> String {
    let source = installed.iter().fold(Sha256::new(), |digest, sql| digest.chain_update(sql).chain_update("\n"));
    let source: String = source.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let names = |kind| {
        let objects = OBJECTS.iter().filter(|object| object.kind == kind);
        objects.map(|object| literal(object.name)).collect::<Vec<_>>().join(", ")
    };
    format!(
        "SHA2(CONCAT('{source}',
        (SELECT COALESCE(GROUP_CONCAT(SHA2(CONCAT_WS('|', routine_name, definer, sql_mode, routine_definition), 256)
             ORDER BY routine_name), '')
         FROM information_schema.routines WHERE routine_schema = DATABASE() AND routine_name IN ({})),
        (SELECT COALESCE(GROUP_CONCAT(SHA2(CONCAT_WS('|', table_name, definer, view_definition), 256) ORDER BY table_name), '')
         FROM information_schema.views WHERE table_schema = DATABASE() AND table_name IN ({}))), 256)",
        names(Kind::Routine),
        names(Kind::View),
    )
}
