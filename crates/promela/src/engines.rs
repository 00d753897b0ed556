//! The engines of `explore` for models: compiled here, once for all who search models.
//!
//! They are generic over systems and stores, so each crate that names another type of system compiles all of them again: that was
//! more than half of what the binary and its tests took.

use crate::run::ModelSystem;
use explore::{Control, Failure, Fairness, Monitor, Options, Outcome, Sampling, Watched};

/// [`explore::search()`]: failed steps and stuck states.
#[must_use]
pub fn search(system: &ModelSystem, options: &Options, control: Control<'_>) -> Outcome {
    explore::search(system, options, control)
}

/// [`explore::walk()`]: random walks.
#[must_use]
pub fn walk(system: &ModelSystem, sampling: Sampling, options: &Options, control: Control<'_>) -> Outcome {
    explore::walk(system, sampling, options, control)
}

/// [`explore::swarm()`]: many small searches in random orders.
#[must_use]
pub fn swarm(system: &ModelSystem, sampling: Sampling, options: &Options, control: Control<'_>) -> Outcome {
    explore::swarm(system, sampling, options, control)
}

/// [`explore::search_monitored()`]: finite runs that violate a property of runs.
#[must_use]
pub fn search_monitored(
    system: &ModelSystem,
    monitor: &Monitor,
    observer: usize,
    failure: Failure,
    options: &Options,
    control: Control<'_>,
) -> Watched {
    explore::search_monitored(system, monitor, observer, failure, options, control)
}

/// [`explore::find_cycle()`]: runs of whatever length that violate a property of runs.
#[must_use]
pub fn find_cycle(
    system: &ModelSystem,
    monitor: &Monitor,
    observer: usize,
    failure: Failure,
    fairness: Fairness,
    options: &Options,
    control: Control<'_>,
) -> Watched {
    explore::find_cycle(system, monitor, observer, failure, fairness, options, control)
}
