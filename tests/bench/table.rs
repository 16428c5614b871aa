//! The table for people: a row per measure, a column per server.

use std::fmt::Write;

use crate::report::Report;

/// Parts in order of their first appearance.
struct Rows<'a>(Vec<(&'a str, Vec<Row<'a>>)>);

/// A label, with a cell per server.
type Row<'a> = (&'a str, Vec<Option<String>>);

impl<'a> Rows<'a> {
    fn put(&mut self, part: &'a str, label: &'a str, column: usize, columns: usize, cell: String) {
        let part = match self.0.iter().position(|(name, _)| *name == part) {
            Some(at) => at,
            None => {
                self.0.push((part, Vec::new()));
                self.0.len() - 1
            }
        };
        let rows = &mut self.0[part].1;
        let row = match rows.iter().position(|(name, _)| *name == label) {
            Some(at) => at,
            None => {
                rows.push((label, vec![None; columns]));
                rows.len() - 1
            }
        };
        rows[row].1[column] = Some(cell);
    }
}

/// Writes the table, with the targets at its end.
pub fn draw(reports: &[Report]) -> String {
    let mut rows = Rows(Vec::new());
    for (column, report) in reports.iter().enumerate() {
        for figure in &report.figures {
            rows.put(figure.part, &figure.label, column, reports.len(), figure.cell.clone());
        }
    }
    for (column, report) in reports.iter().enumerate() {
        for verdict in &report.verdicts {
            let word = if verdict.reached { "yes" } else { "NO" };
            rows.put("targets: reached?", &verdict.target, column, reports.len(), format!("{word}: {}", verdict.measured));
        }
    }
    let mut lines = vec![Line::new("", reports.iter().map(|report| format!("{} ({})", report.server, report.version)))];
    for (part, rows) in &rows.0 {
        lines.push(Line::new(&format!("**{part}**"), reports.iter().map(|_| String::new())));
        let cell = |cell: &Option<String>| cell.clone().unwrap_or_else(|| "-".into());
        lines.extend(rows.iter().map(|(label, cells)| Line::new(label, cells.iter().map(cell))));
    }
    let width = |at: usize| lines.iter().map(|line| line.0[at].chars().count()).max().unwrap_or_default();
    let widths: Vec<_> = (0..=reports.len()).map(width).collect();
    lines.insert(1, Line(widths.iter().map(|width| "-".repeat(*width)).collect()));
    let mut text = String::new();
    for line in &lines {
        for (cell, width) in line.0.iter().zip(&widths) {
            write!(text, "| {cell:width$} ").expect("a String takes all");
        }
        text += "|\n";
    }
    text
}

/// The cells of a line, the label first.
struct Line(Vec<String>);

impl Line {
    fn new(label: &str, cells: impl Iterator<Item = String>) -> Self {
        Self(std::iter::once(label.to_owned()).chain(cells).collect())
    }
}
