//! Where a server is, or may be.

use std::fmt;

/// Where servers listen, unless told otherwise.
const PORT: u16 = 3306;

/// One place where a server may be reached.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Host {
    /// Name or address.
    pub name: String,
    /// TCP port.
    pub port: u16,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.port)
    }
}

impl Host {
    /// Reads `a,b:3307,[::1]:3308`; those that name no port listen on `port`, by default 3306. Never an empty list.
    ///
    /// # Errors
    ///
    /// A sentence that says which one is none.
    pub fn list(text: &str, port: Option<u16>) -> Result<Vec<Host>, String> {
        text.split(',').map(|host| Host::read(host.trim(), port)).collect()
    }

    fn read(text: &str, port: Option<u16>) -> Result<Host, String> {
        // An address of IPv6 holds colons of its own, so a port stands behind its bracket.
        let (name, own) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((name, "")) => (name, None),
            Some((name, rest)) => (name, rest.strip_prefix(':')),
            None if text.matches(':').count() > 1 => (text, None),
            None => text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port))),
        };
        let own = own.map(|own| own.parse().map_err(|_| format!("`{text}` names no port behind its colon"))).transpose()?;
        match name {
            "" => Err("a host has a name".into()),
            name => Ok(Host { name: name.into(), port: own.or(port).unwrap_or(PORT) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_with_and_without_ports() {
        let read = |text| Host::list(text, Some(3307)).map(|hosts| hosts.iter().map(Host::to_string).collect::<Vec<_>>());
        assert_eq!(read("db").as_deref(), Ok(&["db:3307".to_owned()][..]));
        assert_eq!(read("a:1, b").as_deref(), Ok(&["a:1".to_owned(), "b:3307".to_owned()][..]));
        assert_eq!(read("::1").as_deref(), Ok(&["::1:3307".to_owned()][..]));
        assert_eq!(read("[::1]:5").as_deref(), Ok(&["::1:5".to_owned()][..]));
        assert!(read("").is_err() && read("a,").is_err() && read("a:b").is_err() && read("a:99999").is_err());
        assert_eq!(Host::list("db", None).expect("a host")[0].port, 3306);
    }
}
