//! Makes the README's picture of the live screen from a real run: `cargo build && cargo run --example picture`.

use std::error::Error;
use std::fmt::Write;
use std::num::NonZero;
use std::time::Duration;

use pty_process::{Command, Size};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout};
use vt100::{Cell, Color, Parser, Screen};

/// Size of the terminal, in characters.
const COLUMNS: NonZero<u16> = NonZero::new(84).expect("not 0");
const ROWS: NonZero<u16> = NonZero::new(24).expect("not 0");
/// Size of a character, in pixels.
const WIDTH: f32 = 8.4;
const HEIGHT: f32 = 18.0;
/// How long the shop is open before the picture is taken.
const OPEN: Duration = Duration::from_secs(12);
/// What is typed then: down to `stock`.
const KEYS: &[u8] = b"jjj";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (mut pty, terminal) = pty_process::open()?;
    pty.resize(Size::new(ROWS.get(), COLUMNS.get()))?;
    let mut demo = Command::new("target/debug/jobctl")
        .args(["demo", "--install-server"])
        .env("TERM", "xterm-256color")
        .env("TZ", "UTC")
        .spawn(terminal)?;
    let mut parser = Parser::new(ROWS, COLUMNS, 0);
    let mut bytes = [0; 4096];
    let mut opened = None;
    let mut typed = false;
    while opened.is_none_or(|opened: Instant| opened.elapsed() < OPEN + Duration::from_secs(1)) {
        if let Ok(read) = timeout(Duration::from_millis(100), pty.read(&mut bytes)).await {
            parser.process(&bytes[..read?]);
        }
        if opened.is_none() && parser.screen().contents().contains("visits") {
            opened = Some(Instant::now());
        }
        if !typed && opened.is_some_and(|opened| opened.elapsed() > OPEN) {
            pty.write_all(KEYS).await?;
            typed = true;
        }
    }
    std::fs::write("tests/picture/live.svg", svg(parser.screen())?)?;
    pty.write_all(b"q").await?;
    while pty.read(&mut bytes).await.is_ok_and(|read| read > 0) {}
    demo.wait().await?;
    Ok(())
}

/// Draws a screen, character by character where they differ in looks, else in runs.
fn svg(screen: &Screen) -> Result<String, Box<dyn Error>> {
    let (columns, rows) = (COLUMNS.get(), ROWS.get());
    let (width, height) = (f32::from(columns) * WIDTH + 24.0, f32::from(rows) * HEIGHT + 24.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"ui-monospace, 'DejaVu Sans \
         Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1d1f21\"/>\n"
    );
    for row in 0..rows {
        let mut column = 0;
        while column < columns {
            let from = column;
            let style = screen.cell(row, column).map(look);
            let mut text = String::new();
            while column < columns && screen.cell(row, column).map(look) == style {
                let contents = screen.cell(row, column).map(Cell::contents).unwrap_or_default();
                text += if contents.is_empty() { " " } else { contents };
                column += 1;
            }
            let Some((fill, back, more)) = style else { continue };
            let (x, y) = (12.0 + f32::from(from) * WIDTH, 12.0 + f32::from(row) * HEIGHT);
            let length = f32::from(column - from) * WIDTH;
            if let Some(back) = back {
                writeln!(svg, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"{HEIGHT}\" fill=\"{back}\"/>")?;
            }
            if !text.trim().is_empty() {
                let text = text.replace('&', "&amp;").replace('<', "&lt;");
                writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{length:.1}\" xml:space=\"preserve\" fill=\"{fill}\"{more}>{text}</text>",
                    y + 13.5
                )?;
            }
        }
    }
    Ok(svg + "</svg>\n")
}

/// Colour of the text, colour behind it, and what else: how a cell looks.
fn look(cell: &Cell) -> (&'static str, Option<&'static str>, &'static str) {
    let fill = match cell.fgcolor() {
        Color::Idx(1) => "#e06c6c",
        Color::Idx(2) => "#8fc36b",
        Color::Idx(3) => "#e5c07b",
        _ if cell.dim() => "#8a8f94",
        _ => "#dcdfe4",
    };
    let more = match (cell.bold(), cell.underline()) {
        (true, true) => " font-weight=\"bold\" text-decoration=\"underline\"",
        (true, false) => " font-weight=\"bold\"",
        (false, true) => " text-decoration=\"underline\"",
        (false, false) => "",
    };
    if cell.inverse() { ("#1d1f21", Some("#dcdfe4"), more) } else { (fill, None, more) }
}
