//! `jobctl doctor`: what is not as it should be, and what mends it.

use serde_json::json;

use super::{Answer, Block, Cell, Table, Tone};
use crate::db::Rows;
use crate::model::word;

/// Something that is not as it should be.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The job; empty: the server.
    pub job_name: String,
    /// What kind of thing it is.
    pub finding: String,
    /// What is wrong, in a sentence.
    pub message: String,
}

impl Finding {
    /// Whether it can be mended safely without asking.
    pub fn mendable(&self) -> bool {
        self.finding == "LOST"
    }

    /// The one safe command that mends it, if there is one.
    fn mend(&self) -> Option<String> {
        match self.finding.as_str() {
            "LOST" => Some("jobctl doctor --fix".into()),
            "VERSION" => Some(format!("jobctl abort {0}, then jobctl enable {0}", word(&self.job_name))),
            "CONTROLLER_STALE" => Some(format!("jobctl start {}, which takes over", word(&self.job_name))),
            "HELD" => Some("jobctl adopt, if the jobs are to run here".into()),
            "NOT_DURABLE" => Some("set it to 1".into()),
            _ => None,
        }
    }
}

/// Shows findings, or that there are none.
pub fn findings(findings: &[Finding]) -> Answer {
    let row = |finding: &Finding| json!({ "job_name": finding.job_name, "finding": finding.finding, "message": finding.message, "mend": finding.mend() });
    let rows: Vec<_> = findings.iter().filter_map(|finding| row(finding).as_object().cloned()).collect();
    let columns = ["job_name", "finding", "message", "mend"].map(String::from).to_vec();
    let rows = Rows { columns, records: rows };
    if findings.is_empty() {
        return Answer::new(rows, vec![Block::Text("all is as it should be".into())]);
    }
    let line = |finding: &Finding| {
        let about = if finding.job_name.is_empty() { "(server)" } else { &finding.job_name };
        let mend = finding.mend().unwrap_or_else(|| "-".into());
        vec![Cell::text(about), Cell::text(&finding.message).tone(Tone::Warn), Cell::text(mend)]
    };
    let table = Table {
        header: ["about", "what is wrong", "mend"].map(String::from).to_vec(),
        rows: findings.iter().map(line).collect(),
    };
    let count = findings.len();
    let failure = format!("{count} thing{} not as it should be", if count == 1 { " is" } else { "s are" });
    Answer { failure: Some(failure), ..Answer::new(rows, vec![Block::Table(table)]) }
}
