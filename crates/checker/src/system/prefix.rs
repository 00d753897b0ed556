//! The prefix: steps of a single thread before any other actor exists, executed once for all rounds of a search.
//!
//! An interpreter starts for longer than the threads of its script run, and each round of a search begins at the start.
//! While there is one actor, nobody can come in between, so a step ends and leads where it does under any refinement.
//!
//! **Invariant:** watchpoints do not move the ends of such steps (`Step::run`): a schedule that was found with one
//! refinement begins the same with another one.

use crate::system::state::Snapshot;
use explore::graph::Step;
use kernel::kernel::Output;
use rustc_hash::{FxHashMap, FxHashSet};

/// Steps that are kept.
const STEPS_MAX: usize = 10_000;

/// What decides how a single thread is executed, beside its state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Manner {
    /// Functions of stdio are executed as they stand.
    pub is_stdio_split: bool,
    /// Spin loops are blocking operations.
    pub awaits: bool,
}

/// A step, and what it printed.
#[derive(Clone)]
pub struct PrefixStep {
    /// The step.
    pub taken: Step<Snapshot>,
    /// What it printed.
    pub printed: Vec<Output>,
    /// Its instructions: what it costs does not depend on whether it is kept.
    pub instructions: u64,
}

/// Steps by the fingerprint of the state that they begin in. Each begins where another one ends, or at the start.
#[derive(Default)]
pub struct Prefix {
    manner: Manner,
    steps: FxHashMap<u128, PrefixStep>,
    /// Fingerprints of the states that they lead to.
    reached: FxHashSet<u128>,
}

impl Prefix {
    /// The step that begins in a state.
    #[must_use]
    pub fn find(&self, manner: Manner, before: &Snapshot) -> Option<&PrefixStep> {
        self.steps.get(&before.fingerprint).filter(|_| self.manner == manner)
    }

    /// Whether a step leads to a state. One thread that is left of several is no prefix: it may have half executed an
    /// instruction, and which parts that has depends on the refinement.
    #[must_use]
    pub fn leads_to(&self, state: &Snapshot) -> bool {
        self.reached.contains(&state.fingerprint)
    }

    /// Keeps a step.
    pub fn add(&mut self, manner: Manner, before: &Snapshot, step: PrefixStep) {
        if self.manner != manner {
            *self = Self { manner, ..Self::default() };
        }
        if self.steps.len() < STEPS_MAX {
            self.reached.extend(step.taken.reached.state.as_ref().map(|after| after.fingerprint));
            self.steps.insert(before.fingerprint, step);
        }
    }
}
