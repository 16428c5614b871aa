//! How a table is fitted into a width, a line a row.

use ratatui::text::Line;

use crate::report::Table;

/// Blanks between two columns.
pub const GAP: u16 = 2;
/// A column is never narrower, unless all of it is.
const LEAST: u16 = 6;
/// Where this is not left for each, some have to go.
const READABLE: u16 = 10;
/// What goes first where there is no room.
const DISPENSABLE: [&str; 5] = ["runner", "owner", "runs", "ago", "failing"];

/// The columns to show, by number, each with its width. `widest`: what each has needed up to now, so that none trembles.
pub fn fit(table: &Table, width: u16, widest: &mut Vec<u16>) -> Vec<(usize, u16)> {
    widest.resize(table.header.len(), 0);
    for (column, widest) in widest.iter_mut().enumerate() {
        *widest = natural(table, column).max(*widest);
    }
    let mut columns: Vec<_> = widest.iter().copied().enumerate().collect();
    for name in DISPENSABLE {
        let least: u16 = columns.iter().map(|(_, natural)| (*natural).min(READABLE) + GAP).sum();
        if least <= width + GAP {
            break;
        }
        columns.retain(|(column, _)| table.header[*column] != name);
    }
    // The widest gives way, until all fit.
    while columns.iter().map(|(_, width)| width + GAP).sum::<u16>() > width + GAP {
        match columns.iter_mut().max_by_key(|(_, width)| *width) {
            Some((_, widest)) if *widest > LEAST => *widest -= 1,
            _ => break,
        }
    }
    columns
}

/// The width of the longest text in a column.
fn natural(table: &Table, column: usize) -> u16 {
    let cells = table.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.as_str());
    let texts = cells.chain(table.header.get(column).map(String::as_str));
    texts.map(columns).max().unwrap_or(0)
}

/// How many columns a text takes on a terminal.
pub fn columns(text: &str) -> u16 {
    u16::try_from(Line::raw(text).width()).unwrap_or(u16::MAX / 64)
}

/// Cuts a text to a width, with a mark where something is missing.
pub fn cut(text: &str, width: u16) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    for c in text.chars() {
        // Characters that are joined are wider or narrower than each by itself.
        cut.push(c);
        if columns(&cut) + 1 > width {
            cut.pop();
            break;
        }
    }
    cut + "…"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Cell;

    fn table(names: &[&str], row: &[&str]) -> Table {
        let header = names.iter().map(|name| (*name).to_owned()).collect();
        Table { header, rows: vec![row.iter().map(|text| Cell::text(*text)).collect()] }
    }

    #[test]
    fn the_widest_column_gives_way_first() {
        let table = table(&["name", "status"], &["a very long name of a job", "SLEEPING"]);
        assert_eq!(fit(&table, 40, &mut Vec::new()), [(0, 25), (1, 8)]);
        assert_eq!(fit(&table, 24, &mut Vec::new()), [(0, 14), (1, 8)]);
    }

    #[test]
    fn what_can_be_missed_goes_where_there_is_no_room() {
        let table = table(&["name", "owner", "status"], &["a job of the shop", "somebody else", "SLEEPING"]);
        assert_eq!(fit(&table, 22, &mut Vec::new()), [(0, 12), (2, 8)]);
    }

    #[test]
    fn a_column_that_was_wide_stays_so() {
        let mut widest = Vec::new();
        fit(&table(&["last run"], &["error 12.3ms"]), 80, &mut widest);
        assert_eq!(fit(&table(&["last run"], &["ok 1s"]), 80, &mut widest), [(0, 12)]);
    }

    #[test]
    fn a_cut_text_fits_and_says_so() {
        assert_eq!(cut("nightly", 7), "nightly");
        assert_eq!(cut("nightly", 6), "night…");
        assert_eq!(columns(&cut("🚀🚀🚀", 5)), 5);
        assert_eq!(cut("nightly", 0), "…");
        for width in 1..20 {
            assert!(columns(&cut(&"❤\u{fe0f}".repeat(20), width)) <= width, "{width}");
        }
    }
}
