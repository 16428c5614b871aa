//! Asks runners to end after their present cycle.

use std::collections::HashMap;

use super::silence::{self, Line};
use crate::db;
use crate::error::Error;
use crate::settings::Settings;

/// Asks each of these runners, by job name and connection, to end after its present cycle; their jobs stay as they are.
pub async fn ask(settings: &Settings, runners: &HashMap<String, u64>) -> Result<(), Error> {
    let (mut conn, line) = Line::open(settings, silence::PATIENCE).await?;
    for (job, connection) in runners {
        let options = serde_json::json!({ "reason": "SHUTDOWN", "connection_id": connection }).to_string();
        let asked = db::call(&mut conn, &settings.schema, "job$stop", vec![job.into(), options.into()]);
        match line.answer(asked).await {
            // A job that was dropped has no runner to stop.
            Err(error) if error.kind == crate::error::Kind::NotFound => {}
            asked => drop(asked?),
        }
    }
    let _ = conn.disconnect().await;
    Ok(())
}
