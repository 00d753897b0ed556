//! Swarms: many depth-first searches in different random orders, each in a small bitstate store of its own.
#![allow(clippy::disallowed_methods, reason = "limits are of the host's time")]

use super::options::{AfterViolation, Bounds, Control, Options, Order};
use super::outcome::{Incomplete, Outcome};
use super::search;
use super::walk::Sampling;
use crate::store::StoreKind;
use crate::system::TransitionSystem;
use crate::threads;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Bytes of all stores of a swarm if no memory bound is given.
const SWARM_BYTES: u64 = 1 << 28;

/// Searches with a swarm. Never complete; `sampling.depth` bounds each search, memory and time bound all together.
///
/// Counts of states are those of the largest search, since two searches may visit the same state.
pub fn swarm<S: TransitionSystem>(system: &S, sampling: Sampling, options: &Options, control: Control<'_>) -> Outcome {
    let (started, control) = (Instant::now(), Control { journal: None, ..control });
    let (next, end) = (AtomicU64::new(0), AtomicU64::new(sampling.runs));
    let outcomes = Mutex::new(Vec::new());
    let work = || {
        loop {
            let run = next.fetch_add(1, Relaxed);
            let time = options.bounds.time.map(|time| time.saturating_sub(started.elapsed()));
            if run >= end.load(Relaxed) || time.is_some_and(|time| time.is_zero()) {
                return;
            }
            let bounds = Bounds { depth: Some(sampling.depth), time, bytes: Some(share(options)), ..options.bounds };
            let outcome = search(system, &Options { bounds, ..member(run, sampling, options) }, control);
            let ends = outcome.incomplete.contains(&Incomplete::Interrupted)
                || !outcome.violations.is_empty() && options.after_violation == AfterViolation::Stop;
            if ends {
                end.fetch_min(run, Relaxed);
            }
            outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((run, outcome));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.workers {
            threads::help(scope, work);
        }
        work();
    });
    let outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut outcome = gather(outcomes, options);
    outcome.stats.seconds = started.elapsed().as_secs_f64();
    outcome.stats.workers = options.workers.max(1);
    outcome
}

/// Memory of one search: as many run at a time as there are workers.
fn share(options: &Options) -> u64 {
    options.bounds.bytes.unwrap_or(SWARM_BYTES) / options.workers.max(1) as u64
}

/// How one member of the swarm searches: its own order and its own hash functions.
fn member(run: u64, sampling: Sampling, options: &Options) -> Options {
    let seed = sampling.seed.wrapping_add(run.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let hashes = 1 + (run % 3) as u32;
    Options {
        order: Order::Depth { seed: Some(seed) },
        store: StoreKind::Bitstate { hashes },
        workers: 1,
        ..options.clone()
    }
}

/// All outcomes as one.
fn gather(mut outcomes: Vec<(u64, Outcome)>, options: &Options) -> Outcome {
    outcomes.sort_by_key(|(run, _)| *run);
    let mut all = Outcome { incomplete: vec![Incomplete::Sampled], ..Outcome::default() };
    for (_, outcome) in outcomes {
        all.incomplete.extend(outcome.incomplete);
        for violation in outcome.violations {
            if all.violations.iter().all(|known| known.failure != violation.failure) {
                all.violations.push(violation);
            }
        }
        let (stats, more) = (&mut all.stats, outcome.stats);
        stats.steps += more.steps;
        stats.matched += more.matched;
        stats.reduced += more.reduced;
        stats.depth_max = stats.depth_max.max(more.depth_max);
        if more.states > stats.states {
            (stats.states, stats.fill) = (more.states, more.fill);
            stats.bytes_store = more.bytes_store;
            stats.bytes_total = more.bytes_total;
            stats.bytes_per_state = more.bytes_per_state;
            stats.collision_probability = more.collision_probability;
            stats.frontier_max = more.frontier_max;
        }
    }
    if options.after_violation == AfterViolation::Stop {
        all.violations.truncate(1);
    }
    all.incomplete.sort();
    all.incomplete.dedup();
    all
}
