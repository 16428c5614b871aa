//! Uninstalling.

use mysql_async::Conn;
use mysql_async::prelude::Queryable;

use super::objects::{Kind, OBJECTS};
use super::present::Present;
use super::{lock, runners};
use crate::db;
use crate::error::{self, Error};

/// What is there to be dropped.
#[derive(Debug)]
pub struct Uninstalled {
    /// How many objects were dropped.
    pub objects: usize,
    /// Whether the schema was empty then, and is gone too.
    pub schema: bool,
}

/// Makes sure that jobctl is installed and that no runner lives; says how many jobs there are.
pub async fn check(conn: &mut Conn, schema: &str) -> Result<u64, Error> {
    lock::take(conn, schema).await?;
    let present = Present::look(conn, schema).await?;
    if !present.ours {
        return Err(Error::new(error::Kind::NotFound, format!("jobctl is not installed in schema `{schema}`"))
            .hint("`--database` names another schema"));
    }
    runners::none_lives(conn).await?;
    match db::first(conn, "SELECT COUNT(*) FROM job", ()).await {
        // Half-installed: the table is not there.
        Err(error) if error.is_server(&[1146]) => Ok(0),
        jobs => Ok(jobs?.unwrap_or(0)),
    }
}

/// Drops what is jobctl's, the outer objects first, and the schema if nothing else is in it.
pub async fn uninstall(conn: &mut Conn, schema: &str) -> Result<Uninstalled, Error> {
    let present = Present::look(conn, schema).await?;
    let mut objects = 0;
    for object in OBJECTS.iter().rev().filter(|object| present.names.iter().any(|name| name == object.name)) {
        let word = match object.kind {
            Kind::Table => "TABLE",
            Kind::View => "VIEW",
            Kind::Routine => "PROCEDURE",
        };
        conn.query_drop(format!("DROP {word} IF EXISTS {}", db::quote::identifier(object.name))).await?;
        objects += 1;
    }
    let empty = Present::look(conn, schema).await?.names.is_empty();
    if empty {
        conn.query_drop(format!("DROP DATABASE {}", db::quote::identifier(schema))).await?;
    }
    Ok(Uninstalled { objects, schema: empty })
}
