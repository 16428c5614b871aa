//! What a person types, and what the system says of the terminal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rustix::process::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::error::{Error, Kind};

/// Something to react to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Input {
    /// Up or down by so many lines.
    Move(isize),
    /// Up or down by so many screens.
    Page(isize),
    /// To the first line.
    First,
    /// To the last line.
    Last,
    /// Pause the job that is chosen, or resume it.
    Pause,
    /// End.
    Quit,
    /// End, as Ctrl-C asks.
    Interrupt,
    /// Give the terminal back and stop, as Ctrl-Z asks.
    Suspend,
    /// Somebody else had the terminal.
    Resume,
    /// Its size changed, or a key that means nothing was pressed.
    Redraw,
    /// It is gone.
    Gone,
}

/// How often the thread that reads keys looks whether it is still wanted.
const PATIENCE: Duration = Duration::from_millis(200);

/// All of it, in one place.
pub struct Inputs {
    keys: mpsc::UnboundedReceiver<Input>,
    wanted: Arc<AtomicBool>,
    stop: Signal,
    go_on: Signal,
    hangup: Signal,
    quit: Signal,
}

impl Inputs {
    /// Begins to listen.
    ///
    /// # Errors
    ///
    /// When the system does not let us.
    pub fn listen() -> Result<Inputs, Error> {
        let listen = |number: Number| {
            signal(SignalKind::from_raw(number.as_raw()))
                .map_err(|cause| Error::new(Kind::Failed, "cannot listen to signals").because(cause))
        };
        let (sender, keys) = mpsc::unbounded_channel();
        let wanted = Arc::new(AtomicBool::new(true));
        let still_wanted = wanted.clone();
        thread::spawn(move || {
            while still_wanted.load(Ordering::Relaxed) {
                let read = event::poll(PATIENCE).and_then(|there| if there { event::read().map(Some) } else { Ok(None) });
                let input = match read {
                    Ok(None) => continue,
                    Ok(Some(event)) => input(&event),
                    Err(_) => Some(Input::Gone),
                };
                if input.is_some_and(|input| sender.send(input).is_err() || input == Input::Gone) {
                    return;
                }
            }
        });
        Ok(Inputs {
            keys,
            wanted,
            stop: listen(Number::TSTP)?,
            go_on: listen(Number::CONT)?,
            hangup: listen(Number::HUP)?,
            quit: listen(Number::QUIT)?,
        })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) -> Input {
        tokio::select! {
            input = self.keys.recv() => input.unwrap_or(Input::Gone),
            _ = self.stop.recv() => Input::Suspend,
            _ = self.go_on.recv() => Input::Resume,
            _ = self.hangup.recv() => Input::Gone,
            _ = self.quit.recv() => Input::Gone,
        }
    }
}

impl Drop for Inputs {
    fn drop(&mut self) {
        self.wanted.store(false, Ordering::Relaxed);
    }
}

/// What an event asks for; `None`: nothing.
fn input(event: &Event) -> Option<Input> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(asked(key)),
        Event::Resize(..) => Some(Input::Redraw),
        _ => None,
    }
}

fn asked(key: &KeyEvent) -> Input {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if control => Input::Interrupt,
        KeyCode::Char('z') if control => Input::Suspend,
        KeyCode::Char('l') if control => Input::Resume,
        KeyCode::Char('q' | 'Q') | KeyCode::Esc => Input::Quit,
        KeyCode::Char('p' | 'P') => Input::Pause,
        KeyCode::Up | KeyCode::Char('k') => Input::Move(-1),
        KeyCode::Down | KeyCode::Char('j') => Input::Move(1),
        KeyCode::PageUp => Input::Page(-1),
        KeyCode::PageDown | KeyCode::Char(' ') => Input::Page(1),
        KeyCode::Home | KeyCode::Char('g') => Input::First,
        KeyCode::End | KeyCode::Char('G') => Input::Last,
        _ => Input::Redraw,
    }
}
