//! Probes of the depth in the middle of a long breadth-first search: it may never reach a deep failure, and a depth-first
//! search or a random walk may do so at once.

use super::options::{AfterViolation, Bounds, Control, Options, Order};
use super::outcome::{Incomplete, Violation};
use super::search;
use super::shared::Shared;
use super::walk::{Sampling, walk};
use crate::store::{StoreKind, Visited};
use crate::system::TransitionSystem;

/// States that a breadth-first search visits before it probes: small models never do.
pub const STATES_BEFORE: u64 = 500_000;
/// States of the depth-first search.
const STATES: u64 = 100_000;
/// Its depth bound: beyond, a counter is more likely than a failure.
const DEPTH: u32 = 10_000;
/// The random walks.
const WALKS: Sampling = Sampling { runs: 100, depth: 1_000, seed: 1 };

/// Violations that a depth-first search and some random walks find, on one worker, so that they are the same for any number.
/// Only reasons that end the whole search are passed to its watch.
pub fn probe<S: TransitionSystem, V: Visited>(shared: &Shared<'_, S, V>) -> Vec<Violation> {
    let options = |states| Options {
        order: Order::Depth { seed: None },
        workers: 1,
        bounds: Bounds { depth: Some(DEPTH), states, time: shared.watch.time_left(), ..shared.options.bounds },
        store: StoreKind::Fingerprint128,
        after_violation: AfterViolation::Continue { states: None },
        probes: false,
        ..shared.options.clone()
    };
    // The search around them is what is kept.
    let control = Control { journal: None, ..shared.watch.control() };
    let mut violations = Vec::new();
    for outcome in
        [search(shared.system, &options(Some(STATES)), control), walk(shared.system, WALKS, &options(None), control)]
    {
        for reason in outcome.incomplete {
            if matches!(reason, Incomplete::Time | Incomplete::Interrupted) {
                shared.watch.stop(reason);
            }
        }
        let known = |found: &Violation, all: &[Violation]| all.iter().any(|known| known.failure == found.failure);
        for violation in outcome.violations {
            if !known(&violation, &violations) {
                violations.push(violation);
            }
        }
    }
    violations
}
