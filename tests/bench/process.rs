//! What the kernel says of a process: the server, or a controller.

use std::fs::read_to_string;

/// A process by its id.
#[derive(Clone, Copy, Debug)]
pub struct Process(pub u32);

impl Process {
    /// Processor time of all its threads so far, those that have ended too, in seconds; the kernel counts in ticks of 10 ms.
    pub fn cpu(self) -> f64 {
        let stat = read_to_string(format!("/proc/{}/stat", self.0)).expect("the process lives");
        // The second field is the name in brackets, which may hold anything.
        let (_, fields) = stat.rsplit_once(')').expect("a name in brackets");
        let ticks = |field: &str| field.parse::<f64>().expect("a number");
        // USER_HZ is 100 on every Linux that Rust and these servers run on.
        fields.split_whitespace().skip(11).take(2).map(ticks).sum::<f64>() / 100.0
    }

    /// Its resident memory, in KiB.
    pub fn memory(self) -> f64 {
        let status = read_to_string(format!("/proc/{}/status", self.0)).expect("the process lives");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        line.split_whitespace().next().and_then(|size| size.parse().ok()).expect("a number")
    }
}

/// How many threads of this machine have wanted to run, on average of the last minute: what else went on.
pub fn load() -> String {
    let load = read_to_string("/proc/loadavg").expect("Linux tells its load");
    load.split_whitespace().next().unwrap_or_default().to_owned()
}
