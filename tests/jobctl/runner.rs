//! `CALL job$run` on a connection of its own, as a plain client does it.

use std::time::Duration;

use mysql_async::Error;
use tokio::task::JoinHandle;

use super::session::{Session, literal, name};

/// A runner that works, or has ended.
pub struct Runner {
    /// The connection it runs on.
    pub id: u32,
    task: JoinHandle<Result<Vec<Vec<Vec<String>>>, Error>>,
}

impl Runner {
    /// Starts a runner of `job` in `session`.
    pub fn start(session: Session, schema: &str, job: &str) -> Self {
        Self::call(session, format!("CALL {}.job$run({})", name(schema), literal(job)))
    }

    /// Sends any statement, without waiting for its answer.
    pub fn call(mut session: Session, sql: String) -> Self {
        Self { id: session.id(), task: tokio::spawn(async move { session.attempt(&sql).await }) }
    }

    /// Whether it has ended.
    pub fn ended(&self) -> bool {
        self.task.is_finished()
    }

    /// Waits for its end and gives the message of its result row.
    pub async fn message(self) -> String {
        let sets = self.outcome().await.expect("job$run answers with a row, not with an error");
        let row = sets.last().and_then(|set| set.last()).expect("job$run answers with a row");
        assert_eq!(row.len(), 2, "the row is (job_name, message): {row:?}");
        row[1].clone()
    }

    /// Waits for its end and gives all result sets, or the error that its client saw.
    pub async fn outcome(self) -> Result<Vec<Vec<Vec<String>>>, Error> {
        let ended = tokio::time::timeout(Duration::from_mins(2), self.task).await;
        ended.expect("the runner ends within 2 minutes").expect("no panic")
    }
}
