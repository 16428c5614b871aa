//! Installs jobctl into the schema of a test.

use super::db::Db;

/// Runs `jobctl install`, and gives the GRANTs that it prints for an owner.
pub async fn install(db: &Db) -> Vec<String> {
    let ran = db.jobctl(&db.root(), &["install"]).await;
    if ran.code == 42 {
        return scratch(db).await;
    }
    assert_eq!(ran.code, 0, "jobctl install: {ran:#?}");
    let grants: Vec<_> = (ran.stdout.lines().chain(ran.stderr.lines()))
        .map(|line| line.trim().trim_end_matches(';'))
        .filter(|line| line.starts_with("GRANT "))
        .map(str::to_owned)
        .collect();
    assert!(!grants.is_empty(), "jobctl install prints the GRANTs that an owner needs: {ran:#?}");
    grants
}

async fn scratch(db: &Db) -> Vec<String> {
    let root = std::env::var("SCRATCH_SQL").unwrap_or(env!("CARGO_MANIFEST_DIR").to_owned());
    let read = |folder: &str| {
        let mut files: Vec<_> = std::fs::read_dir(format!("{root}/{folder}")).unwrap().map(|f| f.unwrap().path()).collect();
        files.sort();
        files.into_iter().map(|f| (f.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&f).unwrap()))
    };
    let mut admin = db.admin().await;
    admin.run("SET NAMES utf8mb4 COLLATE utf8mb4_bin").await;
    admin
        .run(
            "SET sql_mode='STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
        )
        .await;
    for (_, text) in read("migrations") {
        admin.run(&text).await;
    }
    admin.run("INSERT INTO job_setting VALUES('secret',SHA2(CONCAT(UUID(),RAND()),256)),('version','0.1.0')").await;
    let (status, uuid) =
        if db.mariadb() { ("information_schema", "server_uid") } else { ("performance_schema", "server_uuid") };
    let transaction = if admin.attempt("SELECT @@session.transaction_isolation").await.is_ok() { "transaction" } else { "tx" };
    let mut grants = Vec::new();
    let called: String = read("sql").filter(|(_, text)| text.contains("SECURITY INVOKER")).map(|(_, text)| text).collect();
    for (stem, text) in read("sql") {
        let text = text
            .replace("{{server_identity}}", &format!("@@{uuid}"))
            .replace("{{transaction}}", transaction)
            .replace("{{wsrep_on}}", if db.mariadb() { "@@wsrep_on" } else { "0" })
            .replace("{{version}}", "'0.1.0'")
            .replace("{{schema}}", &format!("'{}'", db.schema()))
            .replace("{{server_identity_query}}", &format!("SELECT variable_value AS server_identity FROM {status}.global_variables WHERE variable_name = '{uuid}'"))
            .replace("{{status_schema}}", status)
            .replace("{{call_count}}", if db.mariadb() {
                "(SELECT CAST(variable_value AS SIGNED) FROM information_schema.session_status WHERE variable_name = 'COM_CALL_PROCEDURE')"
            } else { "0" });
        admin.run(&text).await;
        if stem != "job_overview" && (!stem.starts_with('_') || called.contains(&format!("CALL job${stem}("))) {
            grants.push(format!("GRANT EXECUTE ON PROCEDURE `{}`.`job${stem}` TO owner", db.schema()));
        }
    }
    grants.push(format!("GRANT INSERT (ticket_token) ON `{}`.`job_ticket` TO owner", db.schema()));
    grants
}
