//! An installation as a list of statements: executed by `jobctl install`, printed by `jobctl install --dry-run`.

use mysql_async::Conn;

use super::capabilities::Capabilities;
use super::objects::{Kind, OBJECTS, Object};
use super::present::Present;
use super::{digest, grants, migrate};
use crate::chance;
use crate::db::{self, quote};
use crate::error::Error;
use crate::model::Account;

/// One step of an installation.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The statement, without a delimiter.
    pub sql: String,
    /// What it is for.
    pub role: Role,
}

/// What a statement is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// It must succeed.
    Step,
    /// The same, and its body holds semicolons.
    Routine,
    /// It makes or changes a table, and must succeed, or be done already by an installation that failed behind it.
    Table,
    /// It shuts the door: no runner can start any more, and it must succeed with none alive.
    Door,
    /// It gives accounts back what they had; that it fails is told, and ends nothing.
    Grant,
}

/// What is to be done, in order.
#[derive(Debug)]
pub struct Plan {
    /// Nothing, if the schema is as it should be.
    pub statements: Vec<Statement>,
    /// How many migrations are among them.
    pub migrations: usize,
    /// Whose rights the routines have.
    pub definer: Account,
    /// Rights on routines cannot be read, and so not given back.
    pub blind: bool,
}

impl Plan {
    /// Compares the schema with what it should be.
    pub async fn make(conn: &mut Conn, schema: &str, present: &Present, definer: Account) -> Result<Self, Error> {
        let pending = migrate::pending(&present.applied)?;
        present.has_tables(schema, &pending)?;
        let capabilities = Capabilities::probe(conn, schema).await?;
        let objects: Vec<_> = OBJECTS.iter().filter(|object| object.kind != Kind::Table).collect();
        let created: Vec<_> = objects.iter().map(|object| create(object, &definer, &capabilities)).collect();
        let digest = digest::expression(&created);
        let mut plan = Plan { statements: Vec::new(), migrations: pending.len(), definer, blind: false };
        let current = present.version.as_deref() == Some(env!("CARGO_PKG_VERSION"));
        if pending.is_empty() && current && is_installed(conn, &digest).await? {
            return Ok(plan);
        }

        if !present.exists {
            let name = quote::identifier(schema);
            plan.step(format!("CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"));
        }
        plan.step(format!("USE {}", quote::identifier(schema)));
        plan.step(migrate::create_history());
        for migration in pending {
            let sql = migration.sql().unwrap_or_default().trim_end().trim_end_matches(';').to_owned();
            plan.statements.push(Statement { sql, role: Role::Table });
            plan.step(migrate::note(&migration));
        }
        plan.step(format!(
            "INSERT IGNORE INTO job_setting (setting_name, setting_value)\nVALUES ('secret', '{}')",
            chance::hex(32)?
        ));
        plan.step(
            "INSERT IGNORE INTO job_setting (setting_name, setting_value)\nVALUES ('job_counter', '0'), ('event_counter', '0')",
        );
        // Where it was installed it is no copy.
        plan.step(capabilities.fill(
            "INSERT INTO job_server (server_identity, server_name, server_first, server_last)\n\
             SELECT {{server_identity}}, CONCAT(@@hostname, ':', @@port), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)\n\
             FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM job_server)",
        ));
        // Whatever else is there was committed by somebody who should not have.
        plan.step("DELETE FROM job_ticket WHERE ticket_token <> ''");
        plan.step(
            "INSERT IGNORE INTO job_ticket (ticket_token, ticket_account, ticket_connection_id, ticket_mode)\n\
             VALUES ('', '', 0, NULL)",
        );
        plan.set("version", &quote::literal(env!("CARGO_PKG_VERSION")));
        // Until the last statement the digest is nobody's, so that an installation that fails half-way is seen to be one.
        plan.set("routines_digest", "''");
        if present.definer.as_ref().is_some_and(|before| *before != plan.definer) {
            // Nothing is dropped before it is clear that the installer may name this definer.
            plan.step("DROP PROCEDURE IF EXISTS `job$definer`");
            plan.step(format!("CREATE DEFINER = {} PROCEDURE `job$definer`() DO 0", plan.definer));
            plan.step("DROP PROCEDURE `job$definer`");
        }
        let held = if present.names.is_empty() { Ok(Vec::new()) } else { grants::held(conn, schema).await };
        plan.blind = held.is_err();
        let held = held.unwrap_or_default();
        plan.step("DROP PROCEDURE IF EXISTS `job$run`");
        plan.statements.push(Statement { sql: "DROP PROCEDURE IF EXISTS `job$run_with`".into(), role: Role::Door });
        for (object, sql) in objects.into_iter().zip(created) {
            let word = if object.kind == Kind::View { "VIEW" } else { "PROCEDURE" };
            plan.step(format!("DROP {word} IF EXISTS {}", quote::identifier(object.name)));
            plan.statements.push(Statement { sql, role: Role::Routine });
            let grants = grants::restore(schema, object, &held).into_iter();
            plan.statements.extend(grants.map(|sql| Statement { sql, role: Role::Grant }));
        }
        plan.set("routines_digest", &digest);
        Ok(plan)
    }

    fn step(&mut self, sql: impl Into<String>) {
        self.statements.push(Statement { sql: sql.into(), role: Role::Step });
    }

    /// Writes a setting, whose value is an SQL expression.
    fn set(&mut self, name: &str, expression: &str) {
        self.step(format!("REPLACE INTO job_setting (setting_name, setting_value)\nSELECT '{name}', {expression}"));
    }
}

/// Whether the routines and the view are those that were installed last, and those that would be installed now.
async fn is_installed(conn: &mut Conn, digest: &str) -> Result<bool, Error> {
    let sql = format!("SELECT setting_value = {digest} FROM job_setting WHERE setting_name = 'routines_digest'");
    Ok(db::first(conn, &sql, ()).await? == Some(1))
}

/// The statement that creates an object with a definer.
fn create(object: &Object, definer: &Account, capabilities: &Capabilities) -> String {
    let sql = object.sql.trim_end().trim_end_matches(';');
    let at = if sql.starts_with("CREATE ") { 0 } else { sql.find("\nCREATE ").map_or(0, |at| at + 1) };
    let (comment, statement) = sql.split_at(at);
    let statement = statement.replacen("CREATE ", &format!("CREATE DEFINER = {definer} "), 1);
    capabilities.fill(&format!("{comment}{statement}"))
}
