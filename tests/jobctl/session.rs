//! One connection, and its answers as text.

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, Row, Value};

use super::db::Db;

const PROCESSES: &str = "information_schema.processlist";

/// One connection to a test server.
pub struct Session {
    conn: Conn,
}

impl Session {
    pub fn new(conn: Conn) -> Self {
        Self { conn }
    }

    /// Its CONNECTION_ID().
    pub fn id(&self) -> u32 {
        self.conn.id()
    }

    /// Runs a statement; result sets are read and dropped.
    pub async fn run(&mut self, sql: &str) {
        self.attempt(sql).await.unwrap_or_else(|error| panic!("{error}\nin: {sql}"));
    }

    /// Runs a statement that may fail, and gives all rows of all result sets.
    ///
    /// MySQL cannot list its sessions in `information_schema` while a statement of any of them holds a character beyond utf8mb3, as
    /// another test's may; `performance_schema` lists the same.
    pub async fn attempt(&mut self, sql: &str) -> Result<Vec<Vec<Vec<String>>>, Error> {
        match self.answer(sql).await {
            Err(Error::Server(error)) if error.code == 3854 && sql.contains(PROCESSES) => {
                self.answer(&sql.replace(PROCESSES, "performance_schema.processlist")).await
            }
            answer => answer,
        }
    }

    async fn answer(&mut self, sql: &str) -> Result<Vec<Vec<Vec<String>>>, Error> {
        let mut result = self.conn.query_iter(sql).await?;
        let mut sets = Vec::new();
        while !result.is_empty() {
            // An empty set after the last one is the end of a CALL, not a set.
            let rows: Vec<Row> = result.collect().await?;
            sets.push(rows.into_iter().map(|row| row.unwrap().iter().map(text).collect()).collect());
        }
        Ok(sets)
    }

    /// The rows of the first result set.
    pub async fn rows(&mut self, sql: &str) -> Vec<Vec<String>> {
        let sets = self.attempt(sql).await.unwrap_or_else(|error| panic!("{error}\nin: {sql}"));
        sets.into_iter().next().unwrap_or_default()
    }

    /// The only row.
    pub async fn row(&mut self, sql: &str) -> Vec<String> {
        let mut rows = self.rows(sql).await;
        assert_eq!(rows.len(), 1, "rows of: {sql}");
        rows.remove(0)
    }

    /// The only value of the only row.
    pub async fn one(&mut self, sql: &str) -> String {
        self.row(sql).await.remove(0)
    }

    /// The only value of the only row, a whole number.
    pub async fn number(&mut self, sql: &str) -> i64 {
        let value = self.one(sql).await;
        value.parse().unwrap_or_else(|_| panic!("not a number: {value}\nin: {sql}"))
    }

    /// The server's error code for a statement that must fail, and its message.
    pub async fn error(&mut self, sql: &str) -> (u16, String) {
        match self.attempt(sql).await {
            Err(Error::Server(error)) => (error.code, error.message),
            Err(error) => panic!("{error}\nin: {sql}"),
            Ok(sets) => panic!("this should have failed, but answered {sets:?}\nin: {sql}"),
        }
    }

    /// Defines a job; see [`Db::define`].
    pub async fn define(&mut self, db: &Db, job: &str, procedure: &str, every: &str, more: &str) -> Vec<String> {
        let options = format!(
            r#"{{"schema": {}, "procedure": {}, "every": {every}{more}}}"#,
            serde_json::json!(db.bodies()),
            serde_json::json!(procedure)
        );
        self.row(&format!("CALL {}.job$define({}, {})", name(db.schema()), literal(job), literal(&options))).await
    }

    /// Closes the connection in good order.
    pub async fn close(self) {
        self.conn.disconnect().await.expect("a connection can be closed");
    }
}

/// An identifier, quoted.
pub fn name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A string as a literal that no `sql_mode` can bend.
pub fn literal(text: &str) -> String {
    let hex: String = text.bytes().map(|byte| format!("{byte:02X}")).collect();
    format!("_utf8mb4 X'{hex}' COLLATE utf8mb4_bin")
}

fn text(value: &Value) -> String {
    match value {
        Value::NULL => "NULL".into(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => other.as_sql(true).trim_matches('\'').into(),
    }
}
