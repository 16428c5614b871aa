//! `SCHEMA.PROCEDURE`, as people write it.

use std::fmt;
use std::str::FromStr;

/// A stored procedure, named with its schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProcedureName {
    /// The schema it lives in.
    pub schema: String,
    /// Its own name.
    pub name: String,
}

impl FromStr for ProcedureName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no procedure: write `SCHEMA.PROCEDURE`, each in backticks if it holds a dot");
        let (schema, rest) = part(text).ok_or_else(wrong)?;
        let (name, rest) = rest.strip_prefix('.').and_then(part).ok_or_else(wrong)?;
        if rest.is_empty() { Ok(ProcedureName { schema, name }) } else { Err(wrong()) }
    }
}

/// Takes one identifier, bare or in backticks, off the front.
fn part(text: &str) -> Option<(String, &str)> {
    let (name, rest) = match text.strip_prefix('`') {
        None => {
            let end = text.find(['.', '`']).unwrap_or(text.len());
            (text[..end].to_owned(), &text[end..])
        }
        Some(quoted) => {
            let end = quoted.replace("``", "\0\0").find('`')?;
            (quoted[..end].replace("``", "`"), &quoted[end + 1..])
        }
    };
    let fits = (1..=64).contains(&name.chars().count()) && !name.contains('\0');
    fits.then_some((name, rest))
}

impl fmt::Display for ProcedureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bare = |name: &str| !name.contains(['.', '`']);
        let quoted = |name: &str| if bare(name) { name.to_owned() } else { format!("`{}`", name.replace('`', "``")) };
        write!(f, "{}.{}", quoted(&self.schema), quoted(&self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn procedures_are_read_bare_and_quoted() {
        for (text, schema, name) in
            [("app.nightly", "app", "nightly"), ("`a.b`.`c``d`", "a.b", "c`d"), ("app.`x y`", "app", "x y")]
        {
            let read: ProcedureName = text.parse().expect(text);
            assert_eq!((read.schema.as_str(), read.name.as_str()), (schema, name));
            assert_eq!(read.to_string().parse(), Ok(read));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "nightly", "a.b.c", ".b", "a.", "`a.b", "`a`b.c", "a.`b`c", "a b`.c"] {
            assert!(text.parse::<ProcedureName>().is_err(), "{text}");
        }
    }
}
