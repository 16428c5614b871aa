//! What is drawn where.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::columns::{GAP, columns, cut, fit};
use crate::output::printable;
use crate::report::{Cell, Table, Tone};

/// All that is to be seen.
#[derive(Debug)]
pub struct View<'a> {
    /// What this is.
    pub title: &'a str,
    /// What else is to be read above the jobs.
    pub notes: &'a [String],
    /// A job a row.
    pub table: &'a Table,
    /// More about the job that is chosen.
    pub details: &'a [String],
    /// What happened, the latest last; `None`: no room is kept for it.
    pub log: Option<&'a [String]>,
    /// What went wrong, or what a key did.
    pub message: Option<&'a str>,
    /// What can be typed.
    pub keys: &'a str,
}

/// Which row is chosen, and which part of the table is to be seen.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The row that is chosen.
    pub chosen: usize,
    /// The first row on the screen.
    pub first: usize,
    /// Rows on the screen, the last time it was drawn.
    pub visible: usize,
    /// What each column has needed up to now.
    widest: Vec<u16>,
}

impl Place {
    /// Moves by rows, within a table of so many.
    pub fn go(&mut self, by: isize, rows: usize) {
        self.chosen = self.chosen.saturating_add_signed(by).min(rows.saturating_sub(1));
    }

    /// Keeps the row that is chosen on a screen of so many rows.
    fn scroll(&mut self, rows: usize, visible: usize) {
        self.visible = visible;
        self.chosen = self.chosen.min(rows.saturating_sub(1));
        self.first = self.first.min(self.chosen).min(rows.saturating_sub(visible));
        self.first = self.first.max((self.chosen + 1).saturating_sub(visible.max(1))).min(rows);
    }
}

/// Lines of the title, with an empty one below, and of the keys.
const FRAME: u16 = 3;

/// Draws it into a frame.
pub fn draw(frame: &mut Frame<'_>, view: &View<'_>, place: &mut Place, color: bool) {
    let area = frame.area();
    let rows = view.table.rows.len();
    let some = |lines: usize| u16::try_from(lines).unwrap_or(u16::MAX);
    // The title and the keys are there first, then the table, then the rest; a log has what the others leave.
    let notes = some(view.notes.len()).saturating_add(u16::from(!view.notes.is_empty()));
    let room = area.height.saturating_sub(FRAME);
    let notes = notes.min(room / 3);
    let room = room - notes;
    // Where there is not room for all, the table has at least two thirds.
    let most = (room / 3).max(room.saturating_sub(some(rows).saturating_add(1)));
    // What a person must be able to read whole, as far as that leaves the other lines.
    let folded: Vec<_> = view.details.iter().flat_map(|line| folded(&one_line(line), area.width)).collect();
    let below: &[String] = if some(folded.len()) < most { &folded } else { view.details };
    let details = some(below.len()).saturating_add(u16::from(!below.is_empty())).min(most);
    let table = some(rows).saturating_add(1).min(room - details);
    let [title, above, table, about, log, keys] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(notes),
        Constraint::Length(table),
        Constraint::Length(details),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(area);
    place.scroll(rows, usize::from(table.height.saturating_sub(1)));
    title_line(frame, title, view, place, rows);
    for (line, at) in view.notes.iter().zip(0..above.height) {
        frame.render_widget(Paragraph::new(cut(&one_line(line), above.width)), row(above, at));
    }
    draw_table(frame, table, view.table, place, color);
    lines(frame, about, below, Style::new());
    if let Some(text) = view.log {
        let last = &text[text.len().saturating_sub(usize::from(log.height.saturating_sub(1)))..];
        lines(frame, log, last, Style::new().add_modifier(Modifier::DIM));
    }
    let (text, style) = match view.message {
        Some(message) => (message, toned(Tone::Warn, color)),
        None => (view.keys, Style::new().add_modifier(Modifier::DIM)),
    };
    frame.render_widget(Paragraph::new(Line::styled(cut(&one_line(text), keys.width), style)), keys);
}

/// The title, and which rows are to be seen where not all are.
fn title_line(frame: &mut Frame<'_>, area: Rect, view: &View<'_>, place: &Place, rows: usize) {
    let last = (place.first + place.visible).min(rows);
    let part = if last - place.first < rows { format!("{}-{last} of {rows}", place.first + 1) } else { String::new() };
    let room = area.width.saturating_sub(columns(&part) + GAP);
    let bold = Style::new().add_modifier(Modifier::BOLD);
    frame.render_widget(Paragraph::new(Line::styled(cut(view.title, room), bold)), row(area, 0));
    frame.render_widget(Paragraph::new(Line::raw(part).right_aligned()), row(area, 0));
}

fn draw_table(frame: &mut Frame<'_>, area: Rect, table: &Table, place: &mut Place, color: bool) {
    let fitted = fit(table, area.width, &mut place.widest);
    let underlined = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
    let header = |column: usize| Cell {
        right: table.rows.first().is_some_and(|row| row[column].right),
        ..Cell::text(&table.header[column])
    };
    let line = |cell: &dyn Fn(usize) -> Cell, base: Style| {
        let mut spans = Vec::new();
        for (column, width) in &fitted {
            let cell = cell(*column);
            let text = cut(&one_line(&cell.text), *width);
            let blank = " ".repeat(usize::from(width.saturating_sub(columns(&text))));
            let style = if base == Style::new() { toned(cell.tone, color) } else { base };
            let (before, behind) = if cell.right { (blank, String::new()) } else { (String::new(), blank) };
            spans.push(Span::styled(format!("{before}{text}{behind}{}", " ".repeat(usize::from(GAP))), style));
        }
        Line::from(spans)
    };
    frame.render_widget(Paragraph::new(line(&header, underlined)), row(area, 0));
    for (at, cells) in table.rows.iter().enumerate().skip(place.first).take(place.visible) {
        let style = if at == place.chosen { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        let drawn = line(&|column| cells[column].clone(), style);
        let y = u16::try_from(at - place.first + 1).unwrap_or(u16::MAX);
        frame.render_widget(Paragraph::new(drawn), row(area, y));
    }
}

/// Draws lines below an empty one.
fn lines(frame: &mut Frame<'_>, area: Rect, lines: &[String], style: Style) {
    for (line, at) in lines.iter().zip(1..area.height) {
        frame.render_widget(Paragraph::new(Line::styled(cut(&one_line(line), area.width), style)), row(area, at));
    }
}

/// A text in lines of a width, cut at blanks where there are some; what does not fit on two lines is cut off.
fn folded(text: &str, width: u16) -> Vec<String> {
    if columns(text) <= width {
        return vec![text.to_owned()];
    }
    let mut first = String::new();
    for word in text.split_inclusive(' ') {
        if columns(first.trim_end()) + columns(word.trim_end()) + 1 > width {
            break;
        }
        first += word;
    }
    match text.strip_prefix(&first).filter(|rest| !first.is_empty() && !rest.is_empty()) {
        Some(rest) => vec![first.trim_end().to_owned(), cut(&format!("  {rest}"), width)],
        None => vec![cut(text, width)],
    }
}

/// One line of an area; an empty one where it has no such line.
fn row(area: Rect, at: u16) -> Rect {
    Rect { y: area.y.saturating_add(at), height: u16::from(at < area.height), ..area }
}

/// Whatever the database holds, it is one line, and no terminal obeys it.
fn one_line(text: &str) -> String {
    printable(&text.replace('\n', " "))
}

fn toned(tone: Tone, color: bool) -> Style {
    let style = match tone {
        Tone::Good => Style::new().fg(Color::Green),
        Tone::Warn => Style::new().fg(Color::Yellow),
        Tone::Bad => Style::new().fg(Color::Red),
        Tone::Plain => Style::new(),
    };
    if color { style } else { Style::new() }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    fn jobs(count: usize) -> Table {
        let rows = (1..=count).map(|job| vec![Cell::text(format!("job {job}")), Cell::number(job as u64)]).collect();
        Table { header: vec!["name".into(), "cycles".into()], rows }
    }

    fn drawn(width: u16, height: u16, view: &View<'_>, place: &mut Place) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory");
        terminal.draw(|frame| draw(frame, view, place, false)).expect("memory");
        let text = terminal.backend().to_string();
        text.lines().map(|line| line.trim_matches('"').trim_end().to_owned()).collect()
    }

    fn view<'a>(table: &'a Table, details: &'a [String], log: Option<&'a [String]>) -> View<'a> {
        View { title: "jobs", notes: &[], table, details, log, message: None, keys: "q quit" }
    }

    #[test]
    fn all_has_its_place() {
        let details = ["about it".to_owned()];
        let log = ["one", "two", "three\u{1b}[31m"].map(String::from);
        let lines = drawn(24, 12, &view(&jobs(2), &details, Some(&log)), &mut Place::default());
        let expected = [
            "jobs",
            "",
            "name   cycles",
            "job 1       1",
            "job 2       2",
            "",
            "about it",
            "",
            "one",
            "two",
            "three\u{fffd}[31m",
            "q quit",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn long_lists_scroll_with_the_job_that_is_chosen() {
        let mut place = Place::default();
        let table = jobs(100);
        place.go(50, 100);
        let lines = drawn(30, 12, &view(&table, &[], None), &mut place);
        assert_eq!(lines[0], format!("jobs{:>26}", "44-51 of 100"));
        assert_eq!(lines[10], "job 51       51");
        place.go(isize::MAX, 100);
        assert_eq!(drawn(30, 12, &view(&table, &[], None), &mut place)[10], "job 100     100");
        place.go(isize::MIN, 100);
        assert_eq!(drawn(30, 12, &view(&table, &[], None), &mut place)[3], "job 1         1");
    }

    #[test]
    fn no_screen_is_too_small() {
        let details = ["about it".to_owned()];
        for (width, height) in [(1, 1), (3, 2), (5, 4), (200, 3), (1, 50)] {
            for rows in [0, 1, 3] {
                drawn(width, height, &view(&jobs(rows), &details, Some(&details)), &mut Place::default());
            }
        }
    }
}
