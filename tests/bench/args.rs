//! The words of the command line.

use std::path::PathBuf;

/// What `--help` prints.
const HELP: &str = "\
Measures jobctl and the server's Event Scheduler side by side, on servers of its own.

usage: cargo bench --bench scheduler -- [OPTION...]

  --quick        fewer samples, fewer Ns, under 3 minutes; the same measures and targets
  --server NAME  only this server (mysql, mariadb-10.11, mariadb-11.8); may be repeated
  --only PART    only this part (install, lateness, cycle, idle, reactions, takeover, status); may be repeated
  --runners N    how many jobs wait at the same time [default: 1000; --quick 250]
  --json FILE    where to write all figures [default: target/bench/scheduler.json]";

/// What is to be measured, and where.
pub struct Args {
    /// As little as still means something.
    pub quick: bool,
    /// What `tests/servers` calls the servers.
    pub servers: Vec<String>,
    /// Names of parts; empty: all.
    only: Vec<String>,
    /// How many jobs wait at the same time; `None`: as the length of the run says.
    runners: Option<u32>,
    /// Where the figures go.
    pub json: PathBuf,
}

impl Args {
    /// Reads the words after the program's name; `Err`: what to print instead of measuring.
    pub fn read(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let json = concat!(env!("CARGO_MANIFEST_DIR"), "/target/bench/scheduler.json");
        let mut args = Self { quick: false, servers: Vec::new(), only: Vec::new(), runners: None, json: json.into() };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("error: {word} needs a value"));
            match word.as_str() {
                // Cargo says so to every benchmark.
                "--bench" => {}
                "--quick" => args.quick = true,
                "--server" => args.servers.push(value()?),
                "--only" => args.only.push(value()?),
                "--runners" => args.runners = Some(value()?.parse().map_err(|error| format!("error: --runners: {error}"))?),
                "--json" => args.json = value()?.into(),
                "-h" | "--help" => return Err(HELP.into()),
                _ => return Err(format!("error: no option `{word}`\n\n{HELP}")),
            }
        }
        if args.servers.is_empty() {
            args.servers = ["mysql", "mariadb-10.11", "mariadb-11.8"].map(str::to_owned).to_vec();
        }
        Ok(args)
    }

    /// Whether a part is to be measured.
    pub fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == part)
    }

    /// How many jobs wait at the same time.
    pub fn runners(&self) -> u32 {
        self.runners.unwrap_or(self.count(1_000, 250))
    }

    /// One count for a quick run, and one for a full one.
    pub fn count<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}
