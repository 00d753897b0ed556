//! A step in progress, and how far it has come.

use super::savepoint::Savepoint;
use crate::system::choice::Alternative;
use explore::graph::Access;
use kernel::Tid;

/// A step in progress.
pub(crate) struct Step {
    pub tid: Tid,
    /// What was chosen, as far as it was not yet used.
    pub alternative: Alternative,
    /// What was touched.
    pub accesses: Vec<Access>,
    /// So many of these were looked at for blocks that wait there.
    pub handed: usize,
    /// Nothing was done so far.
    pub is_fresh: bool,
    /// Where to come back to if the instructions behind the operation turn out to touch something.
    pub behind: Option<(Savepoint, Progress)>,
    /// An assertion that has failed, as the program tells it.
    pub assertion: Option<String>,
    /// A function is used as it may not be.
    pub misuse: Option<&'static str>,
    /// The lowest address of the stack that was written.
    pub lowest: u64,
    /// Below this address the stack is all zeros.
    pub clean_below: u64,
    /// The thread has called the kernel to end itself: the footprint of that call says what others notice.
    pub exits: bool,
}

/// How far a step has come.
pub(crate) struct Progress {
    accesses: usize,
    lowest: u64,
    clean_below: u64,
    assertion: Option<String>,
    misuse: Option<&'static str>,
    exits: bool,
}

impl Progress {
    /// Accesses that were noted after this point.
    pub fn since<'a>(&self, step: &'a mut Step) -> &'a mut [Access] {
        &mut step.accesses[self.accesses..]
    }
}

impl Step {
    pub(crate) fn progress(&self) -> Progress {
        Progress {
            accesses: self.accesses.len(),
            lowest: self.lowest,
            clean_below: self.clean_below,
            assertion: self.assertion.clone(),
            misuse: self.misuse,
            exits: self.exits,
        }
    }

    /// Whether accesses were noted since.
    pub(crate) fn has_touched_since(&self, progress: &Progress) -> bool {
        self.accesses.len() > progress.accesses
    }

    pub(crate) fn go_back_to(&mut self, progress: Progress) {
        let Progress { accesses, lowest, clean_below, assertion, misuse, exits } = progress;
        self.accesses.truncate(accesses);
        self.handed = self.handed.min(accesses);
        (self.lowest, self.clean_below) = (lowest, clean_below);
        (self.assertion, self.misuse, self.exits) = (assertion, misuse, exits);
    }
}
