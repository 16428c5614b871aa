//! Tables for people.

use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table, presets};

use crate::report::{self, Tone};
use crate::settings::Screen;

/// Draws a table: with borders and fitted to the width on a terminal, one line per row elsewhere.
pub fn render(table: &report::Table, screen: Screen) -> String {
    let mut drawn = Table::new();
    drawn.load_style(if screen.terminal { presets::UTF8_HORIZONTAL_ONLY } else { presets::NOTHING });
    if screen.terminal || screen.width.is_some() {
        drawn.set_content_arrangement(ContentArrangement::Dynamic);
    }
    if let Some(width) = screen.width {
        drawn.set_width(width);
    }
    if screen.color {
        drawn.enforce_styling();
    } else {
        drawn.force_no_tty();
    }
    if !table.header.is_empty() {
        drawn.set_header(table.header.iter().map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
    }
    for row in &table.rows {
        drawn.add_row(row.iter().map(|cell| draw(cell, screen)));
    }
    for column in drawn.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines = drawn.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}

fn draw(cell: &report::Cell, screen: Screen) -> Cell {
    let drawn = Cell::new(one_line(&cell.text));
    let drawn = if cell.right { drawn.set_alignment(CellAlignment::Right) } else { drawn };
    let color = match cell.tone {
        Tone::Good => Color::Green,
        Tone::Warn => Color::Yellow,
        Tone::Bad => Color::Red,
        Tone::Plain => return drawn,
    };
    if screen.color { drawn.fg(color) } else { drawn }
}

/// A cell is one line, whatever the database holds.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs() -> report::Table {
        let row = |name: &str, status: &str, tone| vec![report::Cell::text(name), report::Cell::text(status).tone(tone)];
        report::Table {
            header: vec!["name".into(), "status".into()],
            rows: vec![row("nightly", "RUNNING", Tone::Good), row("a\nb", "LOST", Tone::Bad)],
        }
    }

    #[test]
    fn a_pipe_gets_one_plain_line_per_row() {
        assert_eq!(render(&jobs(), Screen::default()), "name     status\nnightly  RUNNING\na b      LOST\n");
    }

    #[test]
    fn colours_need_a_welcome() {
        let screen = Screen { terminal: true, color: true, width: Some(80), ..Screen::default() };
        assert!(render(&jobs(), screen).contains("\u{1b}["));
        assert!(!render(&jobs(), Screen { color: false, ..screen }).contains("\u{1b}["));
    }
}
