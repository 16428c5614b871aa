//! The server program of a demo: one that is none, is missing or does not start is told, with what helps.

use std::fs;
use std::path::Path;

use tokio::process::Command;

use super::{JOBCTL, Place, failed, fast, pretend, run};

#[test]
fn a_wrong_server_is_wrong_usage() {
    fast(|_| async move {
        let (place, other) = (Place::new(), Place::new());
        fs::write(other.0.join("mysqld"), "no program").expect("a file");
        let [missing, file] = ["missing", "mysqld"].map(|name| other.0.join(name).to_str().expect("UTF-8").to_owned());
        for wrong in [&missing, &file, other.path(), "/bin/true", "/dev/null"] {
            let ran = place.demo(&["--server", wrong]).run().await;
            failed(&ran, 2, &format!("`{wrong}` is no MySQL or MariaDB server that can be run"));
            place.is_clean(&[]).await;
        }
    });
}

#[test]
fn without_any_server_it_says_how_to_get_one() {
    let folders = ["/usr/sbin", "/usr/local/sbin", "/usr/libexec"].map(Path::new);
    if folders.iter().any(|folder| folder.join("mysqld").exists() || folder.join("mariadbd").exists()) {
        eprintln!("NOT RUN, this machine has a server where every demo finds it");
        return;
    }
    fast(|_| async move {
        let place = Place::new();
        // Away from where cargo built it, and what has been fetched there.
        let program = place.0.join("jobctl");
        fs::copy(JOBCTL, &program).expect("a copy");
        let mut demo = Command::new(&program);
        demo.arg("demo").current_dir(&place.0).env_clear();
        for variable in ["PATH", "HOME", "TMPDIR"] {
            demo.env(variable, &place.0);
        }
        let ran = run(&mut demo).await;
        failed(&ran, 3, "there is no MySQL or MariaDB server program on this machine");
        assert!(ran.stderr.contains("hint: `jobctl demo --install-server`"), "{ran:#?}");
        assert!(ran.stderr.contains("hint: elsewhere install the package `mariadb-server`"), "{ran:#?}");
        assert_eq!((place.processes(), place.files()), (Vec::new(), vec![program]));
    });
}

#[test]
fn a_server_that_does_not_start_is_told_with_its_last_words() {
    fast(|_| async move {
        let (fake, place) = (Place::new(), Place::new());
        let server = pretend(&fake, "echo 'cannot, and never could'; exit 1");
        let ran = place.demo(&["--server", &server]).run().await;
        failed(&ran, 1, "MySQL 9.9.9 does not start: it said");
        assert!(ran.stderr.contains("\ncannot, and never could\n"), "{ran:#?}");
        place.is_clean(&[]).await;

        // Somebody else takes each port first: others are tried, not for ever.
        let tried = format!("echo >>'{}/tries'; echo 'Bind on TCP/IP port: Address already in use'; exit 1", fake.path());
        let ran = place.demo(&["--server", &pretend(&fake, &tried)]).run().await;
        failed(&ran, 1, "MySQL 9.9.9 does not start: it said");
        assert_eq!(fs::read_to_string(fake.0.join("tries")).expect("it was run"), "\n".repeat(5));
        place.is_clean(&[]).await;
    });
}
