//! What propositions speak about.
//!
//! A trait, so that propositions are tested against tables of facts, without a world;
//! [`crate::WorldFacts`] is the one that counts.

use debuginfo::{Kind, Value};

/// A stream that a process writes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// The value of a variable, and what it means.
#[derive(Clone, PartialEq, Debug)]
pub struct Datum {
    /// The value.
    pub value: Value,
    /// What it means.
    pub kind: Kind,
}

/// What is true in one state. Processes are known by the names that [`Facts::processes`] gives.
///
/// **Invariant:** names and existence of variables do not change along a path; only their values
/// come and go. So an unknown name is an error at the start of a check
/// ([`crate::Proposition::verify`]), and never in the middle of one.
pub trait Facts {
    /// All processes: a service's name, or `name.N` for its replicas.
    fn processes(&self) -> Vec<String>;
    /// With which code a process has exited, if it has.
    fn exited(&self, process: &str) -> Option<i32>;
    /// Which signal has ended a process, if one has.
    fn crashed(&self, process: &str) -> Option<u8>;
    /// Whether a process lives, and all its threads wait.
    fn is_blocked(&self, process: &str) -> bool;
    /// Whether a process lives.
    fn is_running(&self, process: &str) -> bool;
    /// What a process has written so far.
    fn output(&self, process: &str, stream: Stream) -> Vec<u8>;
    /// Whether there is a file.
    fn exists(&self, path: &str) -> bool;
    /// The content of a file, if there is one.
    fn content(&self, path: &str) -> Option<Vec<u8>>;
    /// The length of a file, if there is one.
    fn size(&self, path: &str) -> Option<u64> {
        self.content(path).map(|content| content.len() as u64)
    }
    /// The value of a global variable of a process, by its debug name; `Ok(None)` if it is not there now.
    ///
    /// # Errors
    /// If there never is such a variable: why.
    fn variable(&mut self, process: &str, path: &str) -> Result<Option<Datum>, String>;
    /// Whether the last step was a syscall of a process.
    ///
    /// # Errors
    /// If nobody knows.
    fn called(&self, process: &str, call: &str) -> Result<bool, String>;
}
