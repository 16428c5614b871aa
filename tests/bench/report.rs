//! What was measured on one server, and what was to be reached.

use serde_json::{Value, json};

use crate::spread::Spread;

/// Everything of one server.
pub struct Report {
    /// What `tests/servers` calls it.
    pub server: String,
    /// Its version.
    pub version: String,
    /// The settings that decide what a commit costs.
    pub settings: String,
    /// In the order of the table.
    pub figures: Vec<Figure>,
    /// What was to be reached.
    pub verdicts: Vec<Verdict>,
}

/// One row of the table.
pub struct Figure {
    /// Under which heading it stands.
    pub part: &'static str,
    /// What was measured.
    pub label: String,
    /// The cell.
    pub cell: String,
    /// The same for machines.
    value: Value,
}

/// A target, and what came of it.
pub struct Verdict {
    /// What is to be reached.
    pub target: String,
    /// Whether it was.
    pub reached: bool,
    /// What was measured.
    pub measured: String,
}

impl Report {
    /// Nothing measured yet.
    pub fn new(server: &str) -> Self {
        let (figures, verdicts) = (Vec::new(), Vec::new());
        Self { server: server.into(), version: String::new(), settings: String::new(), figures, verdicts }
    }

    /// A distribution: median, p99, worst.
    pub fn spread(&mut self, part: &'static str, label: impl Into<String>, unit: &str, spread: &Spread) {
        let (median, p99, worst) = (spread.median(), spread.p99(), spread.worst());
        let cell = format!("{} / {} / {}", short(median), short(p99), short(worst));
        let value = json!({ "unit": unit, "median": median, "p99": p99, "worst": worst, "samples": spread.count() });
        self.put(part, format!("{}, {unit}", label.into()), cell, value);
    }

    /// One number.
    pub fn number(&mut self, part: &'static str, label: impl Into<String>, unit: &str, number: f64) {
        self.put(part, format!("{}, {unit}", label.into()), short(number), json!({ "unit": unit, "value": number }));
    }

    /// A cell that is not one number; `value` is the same for machines.
    pub fn put(&mut self, part: &'static str, label: String, cell: String, value: Value) {
        self.figures.push(Figure { part, label, cell, value });
    }

    /// Whether a target was reached.
    pub fn target(&mut self, target: impl Into<String>, reached: bool, measured: impl Into<String>) {
        self.verdicts.push(Verdict { target: target.into(), reached, measured: measured.into() });
    }

    /// All of it for machines.
    pub fn json(&self) -> Value {
        let figure = |figure: &Figure| json!({ "part": figure.part, "label": figure.label, "figure": figure.value });
        let verdict =
            |verdict: &Verdict| json!({ "target": verdict.target, "reached": verdict.reached, "measured": verdict.measured });
        json!({
            "server": self.server,
            "version": self.version,
            "settings": self.settings,
            "figures": self.figures.iter().map(figure).collect::<Vec<_>>(),
            "targets": self.verdicts.iter().map(verdict).collect::<Vec<_>>(),
        })
    }
}

/// Three digits that count, more where the number is larger.
pub fn short(number: f64) -> String {
    match number.abs() {
        _ if number.is_nan() => "-".into(),
        0.0 => "0".into(),
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}
