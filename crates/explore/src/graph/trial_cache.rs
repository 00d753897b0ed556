//! Steps that were executed for their footprints, or by a worker, kept in case that the search takes them.

use super::fifo_map::FifoMap;
use crate::footprint_system::Step;

/// A step: state, actor, choice.
type Key = (u32, u32, u32);

/// Steps that were executed and are not in the graph.
///
/// Steps hold successors, which hold snapshots: hence a small bound.
pub struct TrialCache<S> {
    steps: FifoMap<Key, Step<S>>,
}

impl<S> TrialCache<S> {
    /// Room for `max` steps.
    pub fn new(max: usize) -> Self {
        Self { steps: FifoMap::new(max) }
    }

    /// Adds a step.
    pub fn insert(&mut self, at: u32, actor: u32, index: u32, taken: Step<S>) {
        self.steps.insert((at, actor, index), taken);
    }

    /// A step.
    pub fn get(&self, at: u32, actor: u32, index: u32) -> Option<&Step<S>> {
        self.steps.get(&(at, actor, index))
    }

    /// Takes a step out.
    pub fn take(&mut self, at: u32, actor: u32, index: u32) -> Option<Step<S>> {
        self.steps.remove(&(at, actor, index))
    }
}
