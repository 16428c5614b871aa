//! Random numbers, from the operating system.

use crate::error::{Error, Kind};

/// As many random bytes, in hex: what nobody can guess.
///
/// # Errors
///
/// [`Kind::Failed`] when the operating system gives none.
pub fn hex(bytes: usize) -> Result<String, Error> {
    let mut random = vec![0; bytes];
    getrandom::fill(&mut random)
        .map_err(|cause| Error::new(Kind::Failed, "the operating system gives no random numbers").because(cause.to_string()))?;
    Ok(random.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A number from 0 to 1, by chance; 0.5 where there is no source of chance.
pub fn fraction() -> f64 {
    getrandom::u32().map_or(0.5, |number| f64::from(number) / f64::from(u32::MAX))
}
