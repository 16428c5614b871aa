//! Brings the faults down on one server, and mends everything afterwards.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::Sum;
use super::controllers::{COUNT, Controller};
use super::faults::{Counts, Fault, Kind, Stream};
use super::proxy::Proxy;
use super::verdict::Usurped;
use super::world::{Runner, World, now};
use crate::servers::Private;
use crate::session::Session;

/// How long a fault waits for the moment it was meant for.
const PATIENCE: Duration = Duration::from_secs(4);
/// How often a fault is tried that meets nobody, as there is no server or no runner yet.
const TRIES: usize = 4;

/// What ends a fault that lasts.
enum End {
    Thaw(usize),
    Heal(usize, u16),
    Join(usize),
    Unlock(Session),
}

/// One server under fire.
pub struct Storm {
    pub world: Arc<World>,
    private: Private,
    pub controllers: Vec<Controller>,
    ends: Vec<(Instant, End)>,
    pub counts: Counts,
    sum: Arc<Mutex<Sum>>,
    pub usurped: Vec<Usurped>,
    pub log: Vec<String>,
    pub wrong: Vec<String>,
}

impl Storm {
    pub async fn new(private: Private, world: Arc<World>, sum: Arc<Mutex<Sum>>) -> Self {
        let server = mysql_async::Opts::from(private.server.options()).tcp_port();
        let mut controllers = Vec::new();
        for number in 0..COUNT {
            controllers.push(Controller::new(number, server).await);
        }
        let (counts, usurped, log, wrong) = (Counts::default(), Vec::new(), Vec::new(), Vec::new());
        Self { world, private, controllers, ends: Vec::new(), counts, sum, usurped, log, wrong }
    }

    /// Faults for so long, and until each kind was tried; in a long storm twice, as it meets a body and a runner that waits in turns.
    /// On a machine that has much else to do the storm goes on, until each kind has struck often enough, but not for ever.
    pub async fn rage(&mut self, mut stream: Stream, length: Duration) {
        let begun = Instant::now();
        let rounds = if length.as_secs() < 60 { 1 } else { 2 };
        let sum = self.sum.clone();
        let rare = || !sum.lock().expect("no panic").rare().is_empty();
        while begun.elapsed() < length || stream.rounds() < rounds || begun.elapsed() < 3 * length && rare() {
            let fault = stream.next();
            self.pass(fault.after).await;
            for _ in 0..TRIES {
                if self.strike(&fault).await {
                    break;
                }
                self.pass(Duration::from_millis(500)).await;
            }
        }
    }

    /// Lets some time pass: what has lasted long enough ends, and who died is started again.
    pub async fn pass(&mut self, time: Duration) {
        let begun = Instant::now();
        loop {
            let over = |(at, _): &mut (Instant, End)| *at <= Instant::now();
            for (_, end) in self.ends.extract_if(.., over).collect::<Vec<_>>() {
                self.end(end).await;
            }
            for controller in &mut self.controllers {
                self.wrong.extend(controller.tend(&self.world).await);
            }
            if begun.elapsed() >= time {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Ends all that lasts.
    pub async fn heal(&mut self) {
        for (_, end) in std::mem::take(&mut self.ends) {
            self.end(end).await;
        }
    }

    async fn end(&mut self, end: End) {
        match end {
            End::Thaw(controller) => self.controllers[controller].freeze(false),
            End::Heal(controller, port) => self.controllers[controller].proxy.heal(port),
            End::Join(controller) => self.controllers[controller].proxy.partition(false),
            End::Unlock(mut session) => drop(session.attempt("UNLOCK TABLES").await),
        }
    }

    /// `false`: it met nobody.
    async fn strike(&mut self, fault: &Fault) -> bool {
        let struck = match fault.kind {
            Kind::KillController | Kind::FreezeController | Kind::EndController | Kind::Partition | Kind::KillBell => {
                self.controller(fault).await
            }
            Kind::KillQuery | Kind::KillConnection | Kind::Cut | Kind::Stall | Kind::Usurp => self.runner(fault).await,
            Kind::KillOther => self.other(fault).await,
            Kind::KillServer | Kind::ReadLock => self.server(fault).await,
            Kind::Hand(_) => None,
        };
        let (runners, whom) = struck.clone().unwrap_or_default();
        self.log.push(format!("{} {:?} {whom} {}", now(), fault.kind, if struck.is_some() { "struck" } else { "missed" }));
        if struck.is_some() {
            let body = runners.iter().any(|runner| runner.body);
            let waited = runners.iter().any(|runner| !runner.body);
            self.counts.struck(fault.kind, body, waited);
            self.sum.lock().expect("no panic").counts.struck(fault.kind, body, waited);
        }
        struck.is_some()
    }

    /// Waits for a moment at which one of these runners is as the fault wants it; gives those of the last look.
    async fn moment(&self, fault: &Fault, whose: impl Fn(&Runner) -> bool) -> Vec<Runner> {
        let begun = Instant::now();
        loop {
            let mut runners = self.world.runners().await;
            runners.retain(&whose);
            if runners.iter().any(|runner| runner.body == fault.body) || begun.elapsed() >= PATIENCE {
                return runners;
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    async fn controller(&mut self, fault: &Fault) -> Option<(Vec<Runner>, String)> {
        let free: Vec<_> = (0..COUNT).filter(|number| self.controllers[*number].free()).collect();
        let names: Vec<_> = free.iter().map(|number| self.controllers[*number].name.clone()).collect();
        let runners = self.moment(fault, |runner| names.contains(&runner.controller)).await;
        // Rather one that has such a runner.
        let has = |number: &&usize| {
            let name = &self.controllers[**number].name;
            runners.iter().any(|runner| runner.body == fault.body && runner.controller == *name)
        };
        let busy: Vec<_> = free.iter().filter(has).collect();
        let number = match busy.get(fault.whom % busy.len().max(1)) {
            Some(number) => **number,
            None => *free.get(fault.whom % free.len().max(1))?,
        };
        let until = Instant::now() + fault.lasts;
        let controller = &mut self.controllers[number];
        match fault.kind {
            Kind::KillController => controller.kill(fault.lasts).await,
            Kind::FreezeController => {
                controller.freeze(true);
                self.ends.push((until, End::Thaw(number)));
            }
            Kind::EndController => controller.end(),
            Kind::Partition => {
                controller.proxy.partition(true);
                self.ends.push((until, End::Join(number)));
            }
            _ => {
                let sql = "SELECT controller_bell_connection_id FROM job_controller WHERE controller_finish IS NULL AND controller_name";
                let rows = self.world.ask(&format!("{sql} = '{}'", controller.name)).await?;
                self.world.ask(&format!("KILL {}", rows.first()?[0])).await?;
            }
        }
        let name = self.controllers[number].name.clone();
        Some((runners.into_iter().filter(|runner| runner.controller == name).collect(), name))
    }

    async fn runner(&mut self, fault: &Fault) -> Option<(Vec<Runner>, String)> {
        // It writes, and would wait for the lock that nobody ends meanwhile.
        while fault.kind == Kind::Usurp && self.ends.iter().any(|(_, end)| matches!(end, End::Unlock(_))) {
            self.pass(Duration::from_millis(100)).await;
        }
        let mut runners = self.moment(fault, |_| true).await;
        if runners.iter().any(|runner| runner.body == fault.body) {
            runners.retain(|runner| runner.body == fault.body);
        }
        if runners.is_empty() {
            return None;
        }
        let runner = runners.swap_remove(fault.whom % runners.len());
        let connection = &runner.connection;
        match fault.kind {
            Kind::KillQuery => drop(self.world.ask(&format!("KILL QUERY {connection}")).await?),
            Kind::KillConnection => drop(self.world.ask(&format!("KILL {connection}")).await?),
            Kind::Usurp => self.usurp(&runner).await?,
            _ => {
                let sql = format!(
                    "SELECT SUBSTRING_INDEX(host, ':', -1) FROM information_schema.processlist WHERE id = {connection}"
                );
                let port = self.world.ask(&sql).await?.first()?[0].parse().ok()?;
                let proxies = || self.controllers.iter().map(|controller| &controller.proxy);
                let hit = |proxy: &Proxy| if fault.kind == Kind::Cut { proxy.cut(port) } else { proxy.stall(port) };
                let number = proxies().position(hit)?;
                if fault.kind == Kind::Stall {
                    self.ends.push((Instant::now() + fault.lasts, End::Heal(number, port)));
                }
            }
        }
        let whom = format!("{} on {connection}, body: {}", self.world.jobs[runner.job].name, runner.body);
        Some((vec![runner], whom))
    }

    /// What a takeover writes, as if it had come from another server: only the token tells the runner of it.
    async fn usurp(&mut self, runner: &Runner) -> Option<()> {
        let (id, connection) = (self.world.jobs[runner.job].id, &runner.connection);
        let taken = format!(
            "UPDATE job SET job_runner_epoch = job_runner_epoch + 1, job_runner_token = SHA2(UUID(), 256), job_changed = job_changed \
             WHERE job_id = {id} AND job_runner_connection_id = {connection} AND job_runner_token IS NOT NULL \
               AND COALESCE(job_runner_status = 'RUNNING', 0) = {}",
            u8::from(runner.body)
        );
        self.world.ask(&taken).await?;
        if self.world.ask("SELECT ROW_COUNT()").await?.first()?[0] != "1" {
            return None;
        }
        let connection = connection.parse().ok()?;
        self.usurped.push(Usurped { job: runner.job, connection, running: runner.body, since: now(), until: i64::MAX });
        Some(())
    }

    async fn other(&mut self, fault: &Fault) -> Option<(Vec<Runner>, String)> {
        let user = &self.world.bob.user;
        let sql = format!(
            "SELECT id FROM information_schema.processlist WHERE CONVERT(user USING utf8mb4) COLLATE utf8mb4_bin = '{user}' \
               AND id NOT IN (SELECT job_runner_connection_id FROM job WHERE job_runner_token IS NOT NULL) \
               AND id NOT IN (SELECT controller_bell_connection_id FROM job_controller) ORDER BY id"
        );
        let rows = self.world.ask(&sql).await?;
        let row = rows.get(fault.whom % rows.len().max(1))?;
        let kill = format!("KILL {} {}", if fault.body { "QUERY" } else { "CONNECTION" }, row[0]);
        self.world.ask(&kill).await?;
        Some((Vec::new(), kill))
    }

    async fn server(&mut self, fault: &Fault) -> Option<(Vec<Runner>, String)> {
        let runners = self.moment(fault, |_| true).await;
        if fault.kind == Kind::KillServer {
            let at = now();
            for usurped in self.usurped.iter_mut().filter(|usurped| usurped.until == i64::MAX) {
                usurped.until = at;
            }
            self.private.stop(true);
            self.pass(fault.lasts).await;
            self.private.restart(&[]);
            return Some((runners, String::new()));
        }
        let options = self.world.db.server().options();
        let mut session = Session::new(mysql_async::Conn::new(options).await.ok()?);
        session.attempt("SET SESSION lock_wait_timeout = 5").await.ok()?;
        session.attempt("FLUSH TABLES WITH READ LOCK").await.ok()?;
        self.ends.push((Instant::now() + fault.lasts, End::Unlock(session)));
        Some((runners, String::new()))
    }
}
