//! Takes the terminal over and gives it back, whatever happens.

use std::io::{self, Stdout, Write};
use std::panic;
use std::sync::Once;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use rustix::process::{Signal, getpid, kill_process};

use super::input::{Input, Inputs};
use super::view::{self, Place, View};
use crate::error::{Error, Kind};
use crate::settings::Screen;

/// A screen of our own, until it is dropped.
pub struct Live {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    inputs: Inputs,
    screen: Screen,
}

impl Live {
    /// Takes the terminal over: another screen, no cursor, every key for us.
    ///
    /// # Errors
    ///
    /// [`Kind::Failed`] when the terminal does not let us.
    pub fn enter(screen: Screen) -> Result<Live, Error> {
        restore_on_panic();
        let inputs = Inputs::listen()?;
        let entered = enter().and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        let terminal = entered.map_err(|cause| {
            leave();
            Error::new(Kind::Failed, "cannot use this terminal").because(cause).hint("`jobctl status` prints one table")
        })?;
        Ok(Live { terminal, inputs, screen })
    }

    /// Draws what changed since the last time.
    ///
    /// # Errors
    ///
    /// [`Kind::Failed`] when the terminal is gone.
    pub fn draw(&mut self, view: &View<'_>, place: &mut Place) -> Result<(), Error> {
        let color = self.screen.color;
        // A terminal that knows these shows nothing in between.
        let drawn = execute!(io::stdout(), BeginSynchronizedUpdate)
            .and_then(|()| self.terminal.draw(|frame| view::draw(frame, view, place, color)).map(drop))
            .and_then(|()| execute!(io::stdout(), EndSynchronizedUpdate));
        drawn.map_err(|cause| Error::new(Kind::Failed, "cannot write to the terminal").because(cause))
    }

    /// Waits for the next thing that a person or the system wants of us; nothing is lost when the wait is dropped.
    pub async fn next(&mut self) -> Input {
        self.inputs.next().await
    }

    /// Gives the terminal back and stops the process, as Ctrl-Z asks; goes on when it is continued.
    pub fn suspend(&mut self) -> Result<(), Error> {
        leave();
        // The one signal that stops for certain, whatever handlers there are. Continued, we go on here.
        let _ = kill_process(getpid(), Signal::STOP);
        self.resume()
    }

    /// Takes the terminal over again after somebody else had it.
    pub fn resume(&mut self) -> Result<(), Error> {
        // What the terminal is set to now is not what we left it at.
        let _ = disable_raw_mode();
        // Not the terminal's own `clear`, which asks where the cursor is, and a terminal need not answer.
        let again = enter().and_then(|()| execute!(io::stdout(), Clear(ClearType::All)));
        let again = again.and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        self.terminal = again.map_err(|cause| Error::new(Kind::Failed, "cannot use this terminal again").because(cause))?;
        Ok(())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        leave();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, Hide)
}

/// Puts the terminal back; where even that fails there is nobody to tell.
fn leave() {
    let _ = execute!(io::stdout(), EndSynchronizedUpdate, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    let _ = io::stdout().flush();
}

/// A panic is told on the screen that a person can read.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let told = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            leave();
            told(panic);
        }));
    });
}
