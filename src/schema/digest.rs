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
    let (routines, views) = (names(Kind::Routine), names(Kind::View));
    format!(
        "SHA2(CONCAT('{source}',
        (SELECT COALESCE(GROUP_CONCAT(SHA2(CONCAT_WS('|', routine_name, definer, security_type, sql_data_access,
                 is_deterministic, sql_mode, routine_definition), 256)
             ORDER BY routine_name), '')
         FROM information_schema.routines WHERE routine_schema = DATABASE() AND routine_name IN ({routines})),
        (SELECT COALESCE(SHA2(GROUP_CONCAT(CONCAT_WS('|', specific_name, ordinal_position, parameter_mode, parameter_name,
                 dtd_identifier, collation_name) ORDER BY specific_name, ordinal_position), 256), '')
         FROM information_schema.parameters WHERE specific_schema = DATABASE() AND specific_name IN ({routines})),
        (SELECT COALESCE(GROUP_CONCAT(SHA2(CONCAT_WS('|', table_name, definer, security_type, view_definition), 256)
             ORDER BY table_name), '')
         FROM information_schema.views WHERE table_schema = DATABASE() AND table_name IN ({views}))), 256)"
    )
}
