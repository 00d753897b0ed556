//! Allways held against SPIN: verdicts, kinds of error, counts of states, trails.
//!
//! What SPIN says about the models of this repository and of Debian's package was written down once, in the tables under
//! `models/` (`benches/spin_reference.py` writes them anew); random models and trails are put to SPIN itself. Where the
//! two differ on purpose, the test has a row with the reason, and `docs/spin.md` has the rest.

mod av;
mod counts;
mod csv;
mod debian;
mod expectations;
mod kinds;
mod micro;
mod pan;
mod random;
mod subject;
mod trails;

use std::path::{Path, PathBuf};

/// A file of the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Fails with every difference, not just the first.
fn all_agree(differences: &[String]) {
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}
