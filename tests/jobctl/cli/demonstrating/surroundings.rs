//! Where a demo runs: without root, and with a temporary folder of any kind or none.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use tokio::process::Command;

use super::{JOBCTL, Place, ended_well, failed, fast, root, run};
use crate::db::stamp;
use crate::each::each_private;

/// A command as an ordinary user: as `nobody`, unless we are one already.
fn ordinary(program: &Path) -> Command {
    if fs::metadata("/proc/self").is_ok_and(|of_us| of_us.uid() != 0) {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
    command
}

#[test]
fn without_root_a_demo_works_and_leaves_nothing() {
    fast(|server| async move {
        let (place, home) = (Place::new(), Place::new());
        for folder in [&place, &home] {
            fs::set_permissions(&folder.0, Permissions::from_mode(0o1777)).expect("a mode");
        }
        // Our own folders may be closed to others.
        let (program, copy) = (home.0.join("jobctl"), home.0.join("server"));
        fs::copy(JOBCTL, &program).expect("a copy");
        assert_eq!(run(Command::new("cp").args(["-r", &server]).arg(&copy)).await.code, 0);
        let mut demo = ordinary(&program);
        demo.args(["demo", "--for", "2s", "--server"]).arg(&copy).env("TMPDIR", &place.0);
        let ran = run(&mut demo).await;
        ended_well(ran.code, &ran.stderr);
        place.is_clean(&[]).await;

        // Where nothing may be written.
        fs::set_permissions(&place.0, Permissions::from_mode(0o555)).expect("a mode");
        failed(&run(&mut demo).await, 1, &format!("cannot make a folder in `{}`", place.path()));
        place.is_clean(&[]).await;
    });
}

#[test]
fn a_temporary_folder_with_a_long_and_strange_name_does_on_every_server() {
    each_private(|server| async move {
        let strange = " it's \"1\" $x %s;é";
        let long = strange.len() + std::env::temp_dir().join(format!("demo{}", stamp())).as_os_str().len();
        let place = Place::named(&format!("{strange}{}", "x".repeat(100_usize.saturating_sub(long))));
        assert!(place.path().len() >= 100, "{}", place.path());
        let ran = place.demo(&["--server", &root(&server), "--for", "1s"]).run().await;
        ended_well(ran.code, &ran.stderr);
        place.is_clean(&[]).await;
    });
}

#[test]
fn a_temporary_folder_that_is_empty_or_relative_does() {
    fast(|server| async move {
        let place = Place::new();
        fs::create_dir(place.0.join("here")).expect("a folder");
        for folder in ["", "here", "./here/../here"] {
            let mut demo = Command::new(JOBCTL);
            demo.args(["demo", "--server", &server, "--for", "1s"]).env("TMPDIR", folder).current_dir(&place.0);
            let ran = run(&mut demo).await;
            ended_well(ran.code, &ran.stderr);
            assert_eq!(place.files(), [place.0.join("here")]);
            assert!(fs::read_dir(place.0.join("here")).expect("it is there").next().is_none());
        }
    });
}

#[test]
fn a_temporary_folder_that_is_none_is_told() {
    fast(|server| async move {
        let place = Place::new();
        fs::write(place.0.join("file"), "").expect("a file");
        for none in ["missing", "file", "missing/too"] {
            let folder = place.0.join(none).to_str().expect("UTF-8").to_owned();
            let ran = place.demo(&["--server", &server, "--for", "1s"]).env("TMPDIR", &folder).run().await;
            failed(&ran, 1, &format!("cannot make a folder in `{folder}`: "));
            assert!(ran.stderr.contains("hint: `TMPDIR` names another folder"), "{ran:#?}");
            assert_eq!((place.processes(), place.files()), (Vec::new(), vec![place.0.join("file")]));
        }
    });
}
