//! A server program, and what it takes to run it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Kind};
use crate::settings;

/// Names of the program, the likelier first.
const NAMES: [&str; 2] = ["mariadbd", "mysqld"];
/// Where systems keep it that leave `sbin` out of the path of ordinary users.
const FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/usr/libexec"];

/// A server program on this machine.
#[derive(Clone, Debug)]
pub struct Program {
    /// The command line up to the name of the program; more than one word when it was unpacked and brings its own libraries.
    pub command: Vec<OsString>,
    /// Where it looks for the rest of itself.
    pub options: Vec<OsString>,
    /// Folder of its messages and of the SQL files that make a data directory.
    pub share: PathBuf,
    /// Whether it is a MariaDB.
    pub mariadb: bool,
    /// What it says of itself: `MariaDB 11.8.9`.
    pub version: String,
}

impl Program {
    /// Finds one: the one that is given (a program, or a folder that a server was unpacked into), else one that was fetched,
    /// else one that this machine has.
    ///
    /// # Errors
    ///
    /// [`Kind::Usage`] when what is given is no server, [`Kind::NotFound`] when there is none.
    pub fn find(given: Option<&Path>) -> Result<Program, Error> {
        if let Some(given) = given {
            let found = if given.is_dir() { Program::unpacked(given) } else { Program::installed(given) };
            return found.ok_or_else(|| {
                Error::usage(format!("`{}` is no MySQL or MariaDB server that can be run", given.display()))
                    .hint("name the program (`mysqld` or `mariadbd`), or a folder that holds `usr/sbin/mysqld`")
            });
        }
        let fetched = settings::server_folders().into_iter().flat_map(|folder| unpacked_in(&folder));
        let path = settings::program_folders().into_iter().chain(FOLDERS.map(PathBuf::from));
        let installed = path.flat_map(|folder| NAMES.map(|name| folder.join(name))).filter(|program| program.is_file());
        let mut found = fetched.filter_map(|root| Program::unpacked(&root));
        found.next().or_else(|| installed.filter_map(|program| Program::installed(&program)).next()).ok_or_else(|| {
            Error::new(Kind::NotFound, "there is no MySQL or MariaDB server program on this machine")
                .hint("`jobctl demo --install-server` fetches one, on a Debian machine, and installs nothing")
                .hint("elsewhere install the package `mariadb-server` or `mysql-server`; or name a program: `--server PATH`")
        })
    }

    /// A program that the system installed, or a tarball brought with all around it.
    fn installed(program: &Path) -> Option<Program> {
        let program = program.canonicalize().ok()?;
        let prefix = program.parent()?.parent()?;
        let shares = ["share/mariadb", "share/mysql", "share"].map(|share| prefix.join(share));
        let share = shares
            .into_iter()
            .find(|share| share.join("english/errmsg.sys").is_file() || share.join("errmsg-utf8.txt").is_file())?;
        Program::known(vec![program.clone().into()], Vec::new(), share)
    }

    /// A package that was unpacked into a folder: it runs by its own `ld-linux`, since the machine's libraries may be older.
    fn unpacked(root: &Path) -> Option<Program> {
        let root = root.canonicalize().ok()?;
        let program = NAMES.map(|name| root.join("usr/sbin").join(name)).into_iter().find(|program| program.is_file())?;
        let libraries: Vec<_> = ["lib", "usr/lib"].into_iter().flat_map(|lib| children(&root.join(lib), "-linux-")).collect();
        let loader = libraries.iter().flat_map(|folder| children(folder, "ld-linux")).next()?;
        let mut path = OsString::new();
        for folder in &libraries {
            path.push(folder);
            path.push(":");
        }
        let share =
            ["usr/share/mariadb", "usr/share/mysql"].map(|share| root.join(share)).into_iter().find(|share| share.is_dir())?;
        let option = |name: &str, value: &Path| {
            let mut option = OsString::from(name);
            option.push(value);
            option
        };
        let options = vec![
            option("--basedir=", &root.join("usr")),
            option("--plugin-dir=", &root.join("usr/lib/mysql/plugin")),
            option("--lc-messages-dir=", &share),
            option("--character-sets-dir=", &share.join("charsets")),
        ];
        Program::known(vec![loader.into(), "--library-path".into(), path, program.into()], options, share)
    }

    /// The statements that make a data directory; only a MariaDB has them as files.
    ///
    /// # Errors
    ///
    /// When a file cannot be read.
    pub fn bootstrap(&self) -> io::Result<Vec<u8>> {
        // The server reads one statement a line here.
        let mut sql = b"CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL, @skip_auth_anonymous = 1;\n\
            SET @current_hostname = 'localhost';\n"
            .to_vec();
        let parts =
            ["_system_tables.sql", "_performance_tables.sql", "_system_tables_data.sql", "maria_add_gis_sp_bootstrap.sql"];
        for part in parts {
            for file in children(&self.share, part) {
                sql.extend(fs::read(file)?);
            }
        }
        Ok(sql)
    }

    /// Asks it for its version, which also tells whether it can be run at all.
    fn known(command: Vec<OsString>, options: Vec<OsString>, share: PathBuf) -> Option<Program> {
        let said = Command::new(&command[0]).args(&command[1..]).args(["--no-defaults", "--version"]).output().ok()?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        // `/usr/sbin/mysqld  Ver 9.7.4 for Linux ...`, `... Ver 11.8.9-MariaDB-...`
        let number = said.split_once("Ver ")?.1.split_whitespace().next()?;
        let mariadb = number.contains("MariaDB");
        let number = number.split('-').next()?;
        let version = format!("{} {number}", if mariadb { "MariaDB" } else { "MySQL" });
        Some(Program { command, options, share, mariadb, version })
    }
}

/// The folders under `folder` that a server was unpacked into, whole.
fn unpacked_in(folder: &Path) -> Vec<PathBuf> {
    let mut servers = children(folder, "");
    // MariaDB first: it starts faster.
    servers.sort_by_key(|server| !server.ends_with(super::fetch::NAME));
    servers.into_iter().map(|server| server.join("root")).filter(|root| root.join("complete").is_file()).collect()
}

/// What is in a folder and has a word in its name, in order; nothing where there is no such folder.
fn children(folder: &Path, word: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let named = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().contains(word));
    let mut children: Vec<_> = entries.filter(named).collect();
    children.sort();
    children
}
