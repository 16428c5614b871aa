//! Plain data and its rules: spans, names, times, accounts, hosts, and a job as the view shows it. Imports nothing of the house.

mod account;
mod host;
mod name;
mod overview;
mod procedure;
mod span;
mod time;

pub use account::Account;
pub use host::Host;
pub use name::{JobName, word};
pub use overview::JobOverview;
pub use procedure::ProcedureName;
pub use span::Span;
pub use time::{parse_time, sql_time};
