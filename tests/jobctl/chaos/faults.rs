//! What strikes, when and whom: a stream that the seed alone decides.

use std::collections::BTreeMap;
use std::time::Duration;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// SIGKILL of a controller; it is started again.
    KillController,
    /// SIGSTOP of a controller, later SIGCONT.
    FreezeController,
    /// SIGTERM of a controller; it is started again once it has ended.
    EndController,
    /// KILL QUERY of a runner's session.
    KillQuery,
    /// KILL CONNECTION of a runner's session.
    KillConnection,
    /// KILL CONNECTION of the session that holds a controller's bells.
    KillBell,
    /// KILL of a session that is neither: the one a controller looks with, or one of somebody who asks for something.
    KillOther,
    /// The TCP connection of a runner is closed on both sides.
    Cut,
    /// The TCP connection of a runner carries nothing for a while.
    Stall,
    /// No connection of a controller carries anything for a while, new ones neither.
    Partition,
    /// SIGKILL of the server, and its restart.
    KillServer,
    /// FLUSH TABLES WITH READ LOCK for a while.
    ReadLock,
    /// A takeover of which the runner learns by the job row alone, as when another server was promoted.
    Usurp,
    /// `jobctl pause`, and so on.
    Hand(&'static str),
}

/// All that do not come by hand.
const KINDS: [Kind; 13] = [
    Kind::KillController,
    Kind::FreezeController,
    Kind::EndController,
    Kind::KillQuery,
    Kind::KillConnection,
    Kind::KillBell,
    Kind::KillOther,
    Kind::Cut,
    Kind::Stall,
    Kind::Partition,
    Kind::KillServer,
    Kind::ReadLock,
    Kind::Usurp,
];

/// All that come by hand.
pub const HANDS: [&str; 8] = ["pause", "resume", "abort", "abort --now", "enable", "disable", "cancel", "alter"];

impl Kind {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Kind> {
        KINDS.into_iter().chain(HANDS.map(Kind::Hand))
    }

    /// Whether it can strike while a body runs, and while a runner waits.
    pub fn strikes(self) -> [bool; 2] {
        match self {
            // Its job has no runner, unless the present run has not ended yet.
            Kind::Hand("enable") => [true, false],
            // There is nothing to be cancelled.
            Kind::Hand("cancel") => [true, false],
            // A session that runs nothing.
            Kind::KillOther => [false, false],
            _ => [true, true],
        }
    }
}

/// Something that is about to strike.
#[derive(Clone, Debug)]
pub struct Fault {
    pub kind: Kind,
    /// Wanted: while a body runs, else while a runner waits.
    pub body: bool,
    /// Whom, by chance.
    pub whom: usize,
    /// How long after the one before it.
    pub after: Duration,
    /// How long it lasts, where it does.
    pub lasts: Duration,
}

/// Numbers by chance, the same for the same seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64, purpose: &str) -> Self {
        Self(purpose.bytes().fold(seed, |seed, byte| (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 16) as usize % end
    }

    pub fn millis(&mut self, from: usize, to: usize) -> Duration {
        Duration::from_millis((from + self.below(to - from)) as u64)
    }
}

/// Faults without end: each kind once, in random order, then each once again.
pub struct Stream {
    random: Random,
    deck: Vec<Kind>,
    dealt: usize,
    /// What each kind was meant for last.
    body: [bool; KINDS.len()],
}

impl Stream {
    pub fn new(seed: u64, server: &str) -> Self {
        let mut random = Random::new(seed, server);
        let body = KINDS.map(|_| random.below(2) == 0);
        Self { random, deck: Vec::new(), dealt: 0, body }
    }

    /// How often each kind came, at least.
    pub fn rounds(&self) -> usize {
        self.dealt / KINDS.len()
    }

    pub fn next(&mut self) -> Fault {
        let random = &mut self.random;
        if self.deck.is_empty() {
            self.deck = KINDS.into();
            for last in (1..self.deck.len()).rev() {
                self.deck.swap(last, random.below(last + 1));
            }
        }
        let kind = self.deck.pop().expect("it was filled");
        self.dealt += 1;
        // In turns, so that each kind meets both.
        let at = KINDS.iter().position(|other| *other == kind).expect("one of them");
        self.body[at] = !self.body[at];
        let body = self.body[at];
        let lasts = match kind {
            // Longer than the time to live of 2 s, or not.
            Kind::FreezeController | Kind::Stall | Kind::Partition => random.millis(300, 6000),
            Kind::ReadLock => random.millis(300, 2500),
            Kind::KillServer => random.millis(0, 600),
            _ => random.millis(0, 1000),
        };
        // Each kind comes early, and then at leisure: a server needs seconds to recover, and the storm is about jobs that run.
        let longest = if self.dealt > KINDS.len() { 2600 } else { 1500 };
        Fault { kind, body, whom: random.below(1000), after: random.millis(400, longest), lasts }
    }
}

/// How often each kind struck: in all, while a body ran, while a runner waited.
#[derive(Clone, Debug, Default)]
pub struct Counts(BTreeMap<Kind, [usize; 3]>);

impl Counts {
    /// One more.
    pub fn struck(&mut self, kind: Kind, body: bool, waited: bool) {
        let counts = self.0.entry(kind).or_default();
        counts[0] += 1;
        counts[1] += usize::from(body);
        counts[2] += usize::from(waited);
    }

    pub fn add(&mut self, other: &Counts) {
        for (kind, counts) in &other.0 {
            let sum = self.0.entry(*kind).or_default();
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count;
            }
        }
    }

    /// Whether nothing struck, as where no server can be started.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn of(&self, kind: Kind) -> [usize; 3] {
        self.0.get(&kind).copied().unwrap_or_default()
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all: Vec<_> =
            self.0.iter().map(|(kind, [all, body, waited])| format!("{kind:?} {all} ({body}/{waited})")).collect();
        write!(f, "struck (a body ran/a runner waited): {}", all.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_faults() {
        let stream = |seed| {
            let mut stream = Stream::new(seed, "mysql");
            (0..50).map(|_| format!("{:?}", stream.next())).collect::<Vec<_>>()
        };
        assert_eq!(stream(7), stream(7));
        assert_ne!(stream(7), stream(8));
    }
}
