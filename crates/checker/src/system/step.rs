//! A step in progress, and the point that it is rolled back to.

use super::savepoint::Savepoint;
use crate::system::choice::Alternative;
use crate::system::state::State;
use explore::graph::Access;
use kernel::Tid;

/// A step in progress.
pub(crate) struct Step {
    pub tid: Tid,
    /// The chosen alternative, unless it was used already.
    pub alternative: Alternative,
    /// The instruction that it began with.
    pub began_at: u64,
    /// Its footprint so far.
    pub accesses: Vec<Access>,
    /// How many of these were searched for blocks to reclaim.
    pub handed: usize,
    /// Parts executed so far: operations with the local instructions before them.
    pub parts: u32,
    /// Instructions since the last operation. In the prefix, an access to a racing word is none.
    pub run: u64,
    /// Nothing was executed so far: a visible operation may come.
    pub is_fresh: bool,
    /// The savepoint after the visible operation: what follows is rolled back if it turns out not to be local.
    pub after_operation: Option<(Savepoint, Progress)>,
    /// A failed assertion, in the program's words.
    pub assertion: Option<String>,
    /// How it contradicts what another schedule has said to a strict peer. Known when the step is over.
    pub contradiction: Option<String>,
    /// A misuse of a library function.
    pub misuse: Option<&'static str>,
    /// The lowest stack address that was written.
    pub lowest: u64,
    /// Below this address the stack is all zeros.
    pub clean_below: u64,
    /// The thread has called `exit(2)` or `exit_group(2)`: the footprint of that call covers its end.
    pub exits: bool,
}

/// The part of a step that a rollback restores, beside the state.
pub(crate) struct Progress {
    accesses: usize,
    lowest: u64,
    clean_below: u64,
    assertion: Option<String>,
    misuse: Option<&'static str>,
    exits: bool,
}

impl Progress {
    /// Accesses that were recorded after this point.
    pub fn since<'a>(&self, step: &'a mut Step) -> &'a mut [Access] {
        &mut step.accesses[self.accesses..]
    }
}

impl Step {
    /// A step of a thread before it has done anything.
    pub(crate) fn begin(state: &State, tid: Tid, alternative: Alternative) -> Self {
        Self {
            tid,
            alternative,
            began_at: state.world.cpus[&tid].rip,
            accesses: Vec::new(),
            handed: 0,
            parts: 0,
            run: 0,
            is_fresh: true,
            after_operation: None,
            assertion: None,
            contradiction: None,
            misuse: None,
            lowest: u64::MAX,
            clean_below: state.dead_end(tid),
            exits: false,
        }
    }

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

    /// Whether accesses were recorded since.
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
