//! The transcripts of the README, typed in their order on a fresh server of each kind: what they print is what it says.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::each::each_private;
use super::servers::{Private, Server};

const README: &str = include_str!("../../README.md");

#[test]
fn every_transcript_of_the_readme_is_real() {
    each_private(|server| async move {
        let private = Private::start(&server.name, &[]);
        let shell = Shell::new(&private.server);
        for step in steps(README) {
            assert_eq!(plain(&shell.type_in(&step.command)), plain(&step.output), "$ {}", step.command);
        }
    });
}

#[test]
fn the_readme_has_transcripts_to_be_tried() {
    assert!(steps(README).len() >= 12);
}

/// A command of the README, and what it says that is printed.
struct Step {
    command: String,
    output: String,
}

/// The commands in blocks of kind `console`: a line after `$ `, then its output.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (inside, line.strip_prefix("$ ")) {
            (false, _) => inside = line == "```console",
            (true, Some(command)) => steps.push(Step { command: command.into(), output: String::new() }),
            (true, None) if line == "```" => inside = false,
            (true, None) => {
                let step = steps.last_mut().expect("a block begins with a command");
                step.output += line;
                step.output.push('\n');
            }
        }
    }
    steps
}

/// Words that begin with a digit differ from time to time, and columns with them.
fn plain(output: &str) -> String {
    let word = |word: &str| if word.starts_with(|c: char| c.is_ascii_digit()) { "#".to_owned() } else { word.to_owned() };
    let line = |line: &str| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    output.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// A shell in which `jobctl` and `mysql` are what the reader has, logged in as the administrator of the server.
struct Shell {
    folder: PathBuf,
    url: String,
}

impl Shell {
    fn new(server: &Server) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("readme-{}", server.name));
        std::fs::create_dir_all(&folder).expect("a folder");
        let port = mysql_async::Opts::from(server.options()).tcp_port();
        let client = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers");
        let script = format!(
            "#!/bin/sh\nexec '{client}' client {} --protocol=tcp --host=127.0.0.1 --port={port} --user=root --batch \"$@\" 2>/dev/null\n",
            server.name
        );
        let mysql = folder.join("mysql");
        std::fs::write(&mysql, script).expect("a script");
        let made_executable = Command::new("chmod").arg("+x").arg(&mysql).status().expect("chmod");
        assert!(made_executable.success());
        Shell { folder, url: format!("{}/jobctl", server.url) }
    }

    /// Types one command and gives all that it prints.
    fn type_in(&self, command: &str) -> String {
        let binaries = Path::new(env!("CARGO_BIN_EXE_jobctl")).parent().expect("a folder").display();
        let path = format!("{}:{binaries}:{}", self.folder.display(), std::env::var("PATH").unwrap_or_default());
        let output = Command::new("timeout")
            .args(["60", "bash", "-c", &format!("{command} 2>&1")])
            .env("PATH", path)
            .env("JOBCTL_URL", &self.url)
            .env("TZ", "UTC")
            .output()
            .expect("bash and timeout");
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}
