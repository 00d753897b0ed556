//! The horizon: how far virtual time passes.
//!
//! Programs that do something each second for ever have no last state. Their runs are searched up to the horizon, and what
//! holds, holds within that time.

use crate::system::workload::Workload;
use std::collections::BTreeSet;

/// Runs that the horizon has ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Cut {
    /// Whether there was one.
    pub happened: bool,
    /// Programs that were waiting for others then, though they must end.
    pub waiting: BTreeSet<String>,
}

impl Cut {
    pub(crate) fn add(&mut self, waiting: Vec<String>) {
        self.happened = true;
        self.waiting.extend(waiting);
    }
}

impl Workload {
    /// The last moment to which time passes.
    pub(crate) fn horizon(&self) -> u64 {
        kernel::clock::Clock::default().now().saturating_add(self.options.horizon)
    }
}
