//! A small shop: tables, procedures, an account, and jobs with what a shop does at night and all day, at the speed of a demo.

use mysql_async::prelude::Queryable;
use serde_json::json;

use super::server::Server;
use crate::db::{self, Session};
use crate::error::Error;
use crate::model::{Account, Host};
use crate::schema::{grants, install};
use crate::settings::Settings;

/// Statements, a blank line between two.
const SHOP: &str = include_str!("shop.sql");

/// The account that owns the jobs: an ordinary one, with no more than what `jobctl install` prints.
const OWNER: &str = "shop";

/// What to type to look into the shop from another terminal.
pub fn how_to_connect(shop: &Settings) -> Vec<String> {
    let server = &shop.server;
    let password = server.password.as_ref().map(|secret| secret.0.as_str()).unwrap_or_default();
    let mysql = |host: &Host| format!("  mysql -h {} -P {} -u {OWNER} -p{password} shop", host.name, host.port);
    let url = format!("  export JOBCTL_URL=mysql://{OWNER}:{password}@{server}/{}", shop.schema);
    ["in another terminal:".to_owned()].into_iter().chain(server.hosts.iter().map(mysql)).chain([url]).collect()
}

/// Name, procedure, interval in seconds, and what it is for.
const JOBS: [(&str, &str, &str, &str); 5] = [
    ("visits", "visit", "1", "somebody puts something into a cart"),
    ("carts", "expire_carts", "3", "removes carts that nobody touches any more"),
    ("reminders", "send_reminders", "5", "reminds customers of their carts; hourly, in a real shop"),
    ("stock", "check_stock", "2", "fails when an item runs out"),
    ("roll-up", "roll_up", "8", "adds up the sales; nightly and slow, in a real shop"),
];

/// Installs jobctl into a fresh server, and the shop with its jobs; gives the settings of their owner.
pub async fn open(server: &Server, settings: &Settings) -> Result<Settings, Error> {
    let root = server.root(settings);
    let owner = Account { user: OWNER.into(), host: "127.0.0.1".into() };
    let mut conn = db::connect(&root, Session::Own).await?;
    install::install(&mut conn, &root.schema, install::Options::default()).await?;
    for statement in SHOP.split("\n\n") {
        conn.query_drop(statement).await?;
    }
    conn.query_drop(format!("CREATE USER {owner} IDENTIFIED BY '{}'", server.password())).await?;
    conn.query_drop(format!("GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE ON shop.* TO {owner}")).await?;
    // What an owner has, and a look at the view, to try things out by SQL.
    let view = format!("GRANT SELECT ON {}.job_overview TO {owner}", root.schema);
    for grant in grants::owner(&root.schema, &owner.to_string()).into_iter().chain([view]) {
        conn.query_drop(grant).await?;
    }
    conn.disconnect().await?;
    let shop = server.account(settings, OWNER);
    let mut conn = db::connect(&shop, Session::Own).await?;
    for (name, procedure, every, description) in JOBS {
        let options = json!({ "schema": "shop", "procedure": procedure, "every": every, "description": description });
        db::call(&mut conn, &shop.schema, "job$define", vec![name.into(), options.to_string().into()]).await?;
    }
    conn.disconnect().await?;
    Ok(shop)
}
