//! SIGINT and SIGTERM, heard in one place.

use tokio::signal::unix::{self, SignalKind};

use crate::error::{Error, Kind};

/// A request to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Signal {
    /// SIGINT, as Ctrl-C sends it.
    Interrupt,
    /// SIGTERM, as a service manager sends it.
    Terminate,
}

impl Signal {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Signal::Interrupt => "SIGINT",
            Signal::Terminate => "SIGTERM",
        }
    }

    /// The end of a command that would have gone on.
    pub fn ended(self) -> Error {
        Error::new(self.kind(), format!("ended by {}", self.name()))
    }

    fn kind(self) -> Kind {
        match self {
            Signal::Interrupt => Kind::Interrupted,
            Signal::Terminate => Kind::Terminated,
        }
    }
}

impl From<Signal> for Error {
    fn from(signal: Signal) -> Self {
        Error::new(signal.kind(), format!("ended by {} before all runners had ended", signal.name()))
    }
}

/// Listens from its creation on, so that no signal is lost.
#[derive(Debug)]
pub struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
}

impl Signals {
    /// Begins to listen; from now on these signals do not end the process by themselves.
    ///
    /// # Errors
    ///
    /// When the system does not let us.
    pub fn listen() -> Result<Self, Error> {
        let listen =
            |kind| unix::signal(kind).map_err(|cause| Error::new(Kind::Failed, "cannot listen to signals").because(cause));
        Ok(Signals { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    /// Waits for the next signal; nothing is lost when the wait is dropped.
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }
}
