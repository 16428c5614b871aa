//! Names and texts inside SQL, for the places where nothing can be bound.

/// An identifier in backticks.
pub fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A literal; right in sessions pinned by [`super::connect`], where a backslash escapes.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_doubled() {
        assert_eq!(identifier("a`b"), "`a``b`");
        assert_eq!(literal(r"it's \ odd"), r"'it''s \\ odd'");
    }
}
