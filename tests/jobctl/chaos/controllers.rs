//! Three controllers, each behind a proxy of its own, kept alive as a service manager keeps them.

use std::time::{Duration, Instant};

use super::proxy::Proxy;
use super::world::World;
use crate::cli::tool::{Going, Tool};

/// How many.
pub const COUNT: usize = 3;
/// How long one that was told to end may take, with whatever strikes meanwhile.
const END: Duration = Duration::from_secs(45);

/// One of them.
pub struct Controller {
    pub name: String,
    pub proxy: Proxy,
    pub going: Option<Going>,
    /// It was stopped by SIGSTOP.
    pub frozen: bool,
    /// When it got SIGTERM.
    pub ending: Option<Instant>,
    not_before: Instant,
    /// What those before it said.
    logs: Vec<String>,
}

impl Controller {
    pub async fn new(number: usize, server: u16) -> Self {
        let (name, proxy) = (format!("c{number}"), Proxy::new(server).await);
        Self { name, proxy, going: None, frozen: false, ending: None, not_before: Instant::now(), logs: Vec::new() }
    }

    /// Starts it when it does not work and its time has come; gives what is wrong with it.
    pub async fn tend(&mut self, world: &World) -> Option<String> {
        let works = self.going.as_mut().is_some_and(Going::works);
        if let (true, Some(since)) = (works, self.ending) {
            if self.frozen || since.elapsed() < END {
                return None;
            }
            self.ending = None;
            return Some(format!("{} does not end within {END:?} of SIGTERM", self.name));
        }
        if works {
            return None;
        }
        if self.going.is_some() {
            self.bury(Duration::from_millis(300)).await;
        }
        if self.not_before <= Instant::now() {
            let url = world.db.url(&world.bob);
            let port = format!("@127.0.0.1:{}/", self.proxy.port);
            let (login, rest) = url.split_once('@').expect("a login");
            let url = format!("{login}{port}{}", rest.split_once('/').expect("a schema").1);
            let tool =
                Tool::bare(&["--url", &url, "start", "--all", "--ttl", "2s", "--park", "10s", "--controller-name", &self.name]);
            self.going = Some(tool.start());
        }
        None
    }

    /// Takes away one that has ended; the next one may start after `wait`.
    pub async fn bury(&mut self, wait: Duration) {
        if let Some(going) = self.going.take() {
            let (code, log) = going.ends().await;
            self.logs.extend(log);
            self.logs.push(format!("-- {} ended with {code}", self.name));
        }
        (self.frozen, self.ending) = (false, None);
        self.not_before = Instant::now() + wait;
    }

    /// SIGKILL; the next one may start after `wait`.
    pub async fn kill(&mut self, wait: Duration) {
        if let Some(going) = &self.going {
            going.signal("KILL");
        }
        self.bury(wait).await;
    }

    /// SIGSTOP or SIGCONT.
    pub fn freeze(&mut self, frozen: bool) {
        if let Some(going) = self.going.as_mut().filter(|_| self.frozen != frozen)
            && going.works()
        {
            going.signal(if frozen { "STOP" } else { "CONT" });
        }
        self.frozen = frozen;
    }

    /// SIGTERM.
    pub fn end(&mut self) {
        if let Some(going) = &mut self.going
            && going.works()
        {
            going.signal("TERM");
            self.ending = Some(Instant::now());
        }
    }

    /// Waits for its end after SIGTERM; `false`: it does not come.
    pub async fn ends(&mut self) -> bool {
        let begun = Instant::now();
        while self.going.as_mut().is_some_and(Going::works) {
            if begun.elapsed() > END {
                return false;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.bury(END).await;
        true
    }

    /// Whether it works, and nobody has told it to stop or to end.
    pub fn free(&mut self) -> bool {
        !self.frozen && self.ending.is_none() && self.going.as_mut().is_some_and(Going::works)
    }

    /// All that it said, and those before it.
    pub fn log(&self) -> Vec<String> {
        let mut log = self.logs.clone();
        log.extend(self.going.iter().flat_map(Going::log));
        log
    }
}
