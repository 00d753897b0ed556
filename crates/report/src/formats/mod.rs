//! Where teams look: reports for test dashboards, code scanning, editors and viewers of traces.
//!
//! ```text
//! findings     what a check found out, with its counterexamples          junit, sarif, github
//! occurrences  the events of a trace one by one, and what came from what  perfetto, shiviz, dot
//! ```
//! **Invariant:** what the exit code calls a failure, none of these calls a success: what was not decided is an error or is
//! skipped, and a check without an answer has an entry that says so.

mod causality;
mod date;
mod dot;
mod findings;
mod github;
mod junit;
mod occurrences;
mod paths;
mod perfetto;
mod sarif;
mod shiviz;

pub use dot::trace_dot;
pub use findings::Findings;
pub(crate) use findings::place;
pub use github::github;
pub use junit::junit;
pub use paths::Paths;
pub use perfetto::perfetto;
pub use sarif::sarif;
pub use shiviz::shiviz;
