//! Tables for people.

use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};

use crate::report::{self, Tone};
use crate::settings::Screen;

/// On a terminal a line sets the header off.
const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
/// Where a table does not fit, words are wrapped, and only those longer than the first of these that makes it fit are cut.
const WORDS: [usize; 5] = [20, 16, 12, 8, 5];
/// Blanks between two columns.
const GAP: usize = 2;
/// Below this nobody can read them: each row becomes a list of labels and values.
const READABLE: usize = 8;

/// Draws a table: fitted to the width where there is one, else one line per row.
pub fn render(table: &report::Table, screen: Screen) -> String {
    let mut drawn = Table::new();
    drawn.load_style(if screen.terminal { RULED } else { TableStyle::new() });
    if screen.terminal || screen.width.is_some() {
        drawn.set_content_arrangement(ContentArrangement::Dynamic);
    }
    if let Some(width) = screen.width.or(drawn.width()) {
        drawn.set_width(width);
    }
    if screen.color {
        drawn.enforce_styling().style_text_only();
    } else {
        drawn.force_no_tty();
    }
    if !table.header.is_empty() {
        drawn.set_header(table.header.iter().map(|name| Cell::new(name).add_attribute(Attribute::Bold)));
    }
    for row in &table.rows {
        drawn.add_row(row.iter().map(|cell| draw(cell, screen)));
    }
    // A ruled table has a blank between its columns as it is.
    let gap = if screen.terminal { GAP - 1 } else { GAP };
    let last = drawn.column_count().saturating_sub(1);
    let width = screen.width.or(drawn.width()).map_or(usize::MAX, usize::from);
    let least = |word: usize| (0..=last).map(|index| longest_word(table, index, word) + GAP).sum::<usize>() - GAP;
    if least(READABLE) > width && !table.header.is_empty() {
        return lists(table, screen);
    }
    let word = WORDS.into_iter().find(|word| least(*word) <= width).unwrap_or(WORDS[WORDS.len() - 1]);
    for (index, column) in drawn.column_iter_mut().enumerate() {
        let gap = if index < last { gap } else { 0 };
        let boundary = u16::try_from(longest_word(table, index, word) + gap).unwrap_or(u16::MAX);
        column.set_padding((0, u16::try_from(gap).unwrap_or(0)));
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(boundary)));
    }
    drawn.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Draws a table that is too wide as one list per row, a line per column.
fn lists(table: &report::Table, screen: Screen) -> String {
    let list = |row: &Vec<report::Cell>| {
        let label = |(name, cell): (&String, &report::Cell)| {
            vec![report::Cell::text(name), report::Cell { right: false, ..cell.clone() }]
        };
        let rows = table.header.iter().zip(row).map(label).collect();
        render(&report::Table { header: Vec::new(), rows }, screen)
    };
    table.rows.iter().map(list).collect::<Vec<_>>().join("\n")
}

/// The length of the longest word in a column, where longer ones than `word` may be cut.
fn longest_word(table: &report::Table, column: usize, word: usize) -> usize {
    let cells = table.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.as_str());
    let texts = table.header.get(column).map(String::as_str).into_iter().chain(cells);
    let words = texts.flat_map(str::split_whitespace).map(|text| text.chars().count().min(word));
    words.max().unwrap_or(0)
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
    fn a_table_that_is_too_wide_becomes_lists() {
        let screen = Screen { width: Some(15), ..Screen::default() };
        assert_eq!(render(&jobs(), screen), "name    nightly\nstatus  RUNNING\n\nname    a b\nstatus  LOST\n");
    }

    #[test]
    fn colours_need_a_welcome() {
        let screen = Screen { terminal: true, color: true, width: Some(80), ..Screen::default() };
        assert!(render(&jobs(), screen).contains("\u{1b}["));
        assert!(!render(&jobs(), Screen { color: false, ..screen }).contains("\u{1b}["));
    }
}
