//! Installs jobctl into the schema of a test.

use super::db::Db;

/// Runs `jobctl install`, and gives the GRANTs that it prints for an owner.
pub async fn install(db: &Db) -> Vec<String> {
    let ran = db.jobctl(&db.root(), &["install"]).await;
    assert_eq!(ran.code, 0, "jobctl install: {ran:#?}");
    let grants: Vec<_> = (ran.stdout.lines().chain(ran.stderr.lines()))
        .map(|line| line.trim().trim_end_matches(';'))
        .filter(|line| line.starts_with("GRANT "))
        .map(str::to_owned)
        .collect();
    assert!(!grants.is_empty(), "jobctl install prints the GRANTs that an owner needs: {ran:#?}");
    grants
}
