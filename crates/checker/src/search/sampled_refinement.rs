//! Sampled runs that look for racing words before a search goes on, since a search restarts for each that it meets.
//!
//! A run shows most of what threads do to each other, whatever its schedule: two accesses race if nothing orders them. So
//! a few runs, carried on although the abstraction is too coarse for them by now, find in one round what a search finds
//! in dozens. What they show is part of real executions, so the refinement stays sound; a search that needs more still
//! restarts.

use crate::memo::memoized::Memoized;
use crate::system::programs::Programs;
use explore::graph::{Found, Limits};
use explore::sample;
use trace::KnowledgeRef;

/// Runs of a round.
const RUNS: u64 = 4;

/// What sampled runs came to, beside the refinement.
#[derive(Default)]
pub(super) struct Sampled {
    pub executed: u64,
    /// Failures, with the refinement that they were found with.
    pub found: Option<(Vec<Found>, KnowledgeRef)>,
}

/// Refines the abstraction by sampled runs until they show nothing new, or have taken so many steps.
pub(super) fn refine_by_samples(programs: &mut Programs, steps: u64, limits: &mut Limits<'_>) -> Sampled {
    let mut sampled = Sampled::default();
    let mut round = 0;
    while sampled.executed < steps {
        let (refinement, left) = (programs.learnt(), steps - sampled.executed);
        round += 1;
        let options = sample::Options {
            seed: round,
            runs: RUNS,
            depth: left as usize,
            states: 0,
            shrink: false,
            ..sample::Options::default()
        };
        let mut is_stopped = false;
        let mut stop = |runs, executed| {
            is_stopped |= executed >= left || (limits.stop)(runs, executed);
            is_stopped
        };
        let mut own = sample::Limits { failures: usize::MAX, stop: &mut stop };
        let report = sample::sample(&mut Memoized::new(programs), &options, &mut own);
        sampled.executed += report.executed;
        let is_refined = programs.promote(&report.races);
        if !is_refined && !report.found.is_empty() {
            sampled.found = Some((report.found, refinement));
        }
        if !is_refined || is_stopped || programs.refusal.is_some() {
            break;
        }
    }
    sampled
}
