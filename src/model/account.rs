//! An account of the server, `USER@HOST`.

use std::fmt;
use std::str::FromStr;

/// An account; an empty host means a role, or any host.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Account {
    /// The user name, which may itself hold an @.
    pub user: String,
    /// The host pattern.
    pub host: String,
}

impl FromStr for Account {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (user, host) = text.rsplit_once('@').unwrap_or((text, "%"));
        let account = Account { user: unquoted(user), host: unquoted(host) };
        if account.user.is_empty() || text.contains('\0') {
            return Err(format!("`{text}` is no account: write `USER@HOST`"));
        }
        Ok(account)
    }
}

/// Takes away the quotes round a name: any of the three kinds that SQL knows.
fn unquoted(text: &str) -> String {
    for quote in ['\'', '"', '`'] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)) {
            return inner.replace(&format!("{quote}{quote}"), &quote.to_string());
        }
    }
    text.to_owned()
}

impl fmt::Display for Account {
    /// Writes the account for SQL, in backticks, which no `sql_mode` reads differently.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.user.replace('`', "``"))?;
        if self.host.is_empty() { Ok(()) } else { write!(f, "@`{}`", self.host.replace('`', "``")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_cut_at_the_last_at() {
        for (text, sql) in [
            ("bob", "`bob`@`%`"),
            ("bob@localhost", "`bob`@`localhost`"),
            ("bob@x@%", "`bob@x`@`%`"),
            ("'it''s'@'10.0.%'", "`it's`@`10.0.%`"),
            ("`a``b`@`h`", "`a``b`@`h`"),
        ] {
            assert_eq!(text.parse::<Account>().map(|account| account.to_string()), Ok(sql.to_owned()));
        }
        assert!("@host".parse::<Account>().is_err());
    }
}
