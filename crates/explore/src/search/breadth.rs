//! Breadth-first search, level by level, with any number of workers.

use super::frontier::{Counts, Frontier, Sighting};
use super::options::AfterViolation;
use super::outcome::{Incomplete, Outcome, Violation};
use super::probe;
use super::retrace::retrace;
use super::shared::Shared;
use super::workers::Workers;
use crate::journal::{Broken, Reader, Writer};
use crate::store::{LeftOut, Visited};
use crate::system::TransitionSystem;
use std::sync::atomic::Ordering::Relaxed;
use trace::FailureKind;

/// Searches level by level, from the beginning or from where a journal has left off.
pub fn search<S: TransitionSystem, V: Visited>(
    shared: &Shared<'_, S, V>,
    kept: Option<&mut Reader>,
) -> Result<Outcome, Broken> {
    std::thread::scope(|scope| {
        let mut workers = Workers::spawn(scope, shared);
        let (mut run, mut level) = begin(shared, &mut workers, kept)?;
        let journal = shared.journal();
        while level.len() > 0 {
            let goes_on = run.goes_on(shared, &level);
            let counts = journal.map_or_else(Counts::default, |_| Counts::sum(workers.counts()));
            let keep = |level: &Frontier<S::State>, left_out: &LeftOut| {
                let mut write = |to: &mut Writer<'_>| shared.write_level(to, (&run, level), counts, left_out);
                journal.into_iter().for_each(|journal| journal.keep(&mut write));
            };
            if journal.is_some_and(|journal| if goes_on { journal.is_due() } else { shared.watch.may_go_on() }) {
                keep(&level, &LeftOut::Nothing);
            }
            if !goes_on {
                break;
            }
            let last = shared.options.bounds.depth == Some(run.depth);
            let (result, expanded) = workers.expand(level, last);
            if journal.is_some() && shared.watch.may_go_on() {
                keep(&expanded, &shared.behind(&expanded.ids));
            }
            drop(expanded);
            level = result.found;
            run.cut |= result.cut;
            run.depth_max += u32::from(level.len() > 0);
            if run.collect(shared, result.sightings) || level.len() > 0 && run.is_enough(shared) {
                break;
            }
            run.probe(shared);
            run.depth += u32::from(!last);
        }
        if run.cut {
            shared.watch.note(Incomplete::DepthBound);
        }
        let (depth_max, frontier_max, bytes_max) = (run.depth_max, run.frontier_max, run.frontier_bytes_max);
        let violations = run.violations(shared);
        let mut outcome = shared.outcome(workers.counts(), bytes_max);
        outcome.stats.depth_max = depth_max;
        outcome.stats.frontier_max = frontier_max;
        outcome.violations = violations;
        Ok(outcome)
    })
}

/// The first level, or the one that a journal has left off at.
fn begin<S: TransitionSystem, V: Visited>(
    shared: &Shared<'_, S, V>,
    workers: &mut Workers<'_, S, V>,
    kept: Option<&mut Reader>,
) -> Result<(Run, Frontier<S::State>), Broken> {
    let Some(from) = kept else { return Ok((Run::default(), workers.start())) };
    let (mut run, level, counts) = shared.read_level(from)?;
    workers.go_on_from(counts);
    // Only where the search was stopped while it probed.
    run.probe(shared);
    Ok((run, level))
}

/// The levels so far.
#[derive(Default)]
pub struct Run {
    /// Depth of the level being expanded.
    pub depth: u32,
    /// Depth of the deepest level with a state.
    pub depth_max: u32,
    /// States of the largest level.
    pub frontier_max: u64,
    /// Memory that it took, with what came next.
    pub frontier_bytes_max: u64,
    /// Sizes of the levels, for the estimate.
    pub sizes: Vec<u64>,
    /// Whether a state at the depth bound had a step.
    pub cut: bool,
    /// Failures, each with the length of its schedule; the first of each kind and message in each part.
    pub sightings: Vec<(u32, Sighting)>,
    /// States when the first failure was known.
    pub states_at_failure: u64,
    /// Violations that probes found; nothing before them.
    pub probed: Option<Vec<Violation>>,
    /// Whether probes were stopped before they were done.
    pub is_probe_cut: bool,
    /// Whether it goes on from a journal.
    pub is_resumed: bool,
}

impl Run {
    /// Prepares for a level; whether to expand it.
    fn goes_on<S: TransitionSystem, V: Visited>(
        &mut self,
        shared: &Shared<'_, S, V>,
        level: &Frontier<S::State>,
    ) -> bool {
        let size = level.len() as u64;
        let bytes = size * shared.entry_bytes::<S::State>();
        self.sizes.push(size);
        self.frontier_max = self.frontier_max.max(size);
        shared.watch.frontier.store(size, Relaxed);
        shared.watch.depth.store(self.depth, Relaxed);
        shared.watch.bytes_frontier.store(bytes, Relaxed);
        let states = shared.watch.states.load(Relaxed);
        shared.watch.estimate.store(estimate(&self.sizes, states).unwrap_or(0), Relaxed);
        shared.poll()
    }

    /// Gathers the failures of a level; whether the search is to end.
    fn collect<S: TransitionSystem, V: Visited>(
        &mut self,
        shared: &Shared<'_, S, V>,
        sightings: Vec<Sighting>,
    ) -> bool {
        self.frontier_bytes_max = self.frontier_bytes_max.max(shared.watch.bytes_frontier.load(Relaxed));
        let first = self.sightings.is_empty();
        for sighting in sightings {
            self.note(sighting);
        }
        if self.sightings.is_empty() {
            return shared.watch.is_stopped();
        }
        match shared.options.after_violation {
            AfterViolation::Stop => {
                shared.watch.stop(Incomplete::StoppedAtViolation);
                self.sightings.sort_by(|a, b| order(a).cmp(&order(b)));
                self.sightings.truncate(1);
            }
            AfterViolation::Continue { .. } | AfterViolation::EachPart => {}
        }
        if first && self.states_at_failure == 0 {
            self.states_at_failure = shared.watch.states.load(Relaxed);
        }
        shared.watch.is_stopped()
    }

    /// Ends the search once it has gone on long enough after a violation. Asked between levels, so that the outcome does not
    /// depend on the number of workers.
    fn is_enough<S: TransitionSystem, V: Visited>(&self, shared: &Shared<'_, S, V>) -> bool {
        let AfterViolation::Continue { states: Some(more) } = shared.options.after_violation else { return false };
        let since = shared.watch.states.load(Relaxed) - self.states_at_failure;
        let enough = self.has_found() && since >= more;
        if enough {
            shared.watch.stop(Incomplete::StoppedAtViolation);
        }
        enough
    }

    fn has_found(&self) -> bool {
        !self.sightings.is_empty() || self.probed.as_ref().is_some_and(|probed| !probed.is_empty())
    }

    /// Probes the depth, once, when the search has become a long one and has found nothing.
    fn probe<S: TransitionSystem, V: Visited>(&mut self, shared: &Shared<'_, S, V>) {
        let states = shared.watch.states.load(Relaxed);
        let parts = shared.options.after_violation == AfterViolation::EachPart;
        if !shared.options.probes || parts || self.probed.is_some() || states < probe::STATES_BEFORE || self.has_found()
        {
            return;
        }
        let probed = self.probed.insert(probe::probe(shared));
        self.is_probe_cut = shared.watch.may_go_on();
        if probed.is_empty() {
            return;
        }
        self.states_at_failure = states;
        if shared.options.after_violation == AfterViolation::Stop {
            probed.truncate(1);
            shared.watch.stop(Incomplete::StoppedAtViolation);
        }
    }

    /// Keeps a sighting unless the same failure is known with a schedule as short.
    fn note(&mut self, sighting: Sighting) {
        let length = self.depth + u32::from(sighting.choice.is_some());
        let same = |(_, known): &&mut (u32, Sighting)| known.failure == sighting.failure && known.part == sighting.part;
        match self.sightings.iter_mut().find(same) {
            Some(known) if known.0 <= length => {}
            Some(known) => *known = (length, sighting),
            None => self.sightings.push((length, sighting)),
        }
    }

    fn violations<S: TransitionSystem, V: Visited>(mut self, shared: &Shared<'_, S, V>) -> Vec<Violation> {
        self.sightings.sort_by(|a, b| order(a).cmp(&order(b)));
        let mut found = Vec::new();
        for (_, sighting) in self.sightings {
            match retrace(shared, sighting) {
                Some(violation) => found.push(violation),
                None if self.is_resumed => shared.watch.note(Incomplete::Journal),
                None => unreachable!("a state is reached again from its parent: steps depend on the state alone"),
            }
        }
        for probed in self.probed.into_iter().flatten() {
            if !found.iter().any(|known| known.failure == probed.failure) {
                found.push(probed);
            }
        }
        found
    }
}

/// Shortest first; among equals an order that does not depend on the workers.
fn order(sighting: &(u32, Sighting)) -> (u32, FailureKind, &str, u128) {
    (sighting.0, sighting.1.failure.kind, &sighting.1.failure.message, sighting.1.part)
}

/// Total number of states, once the levels have been shrinking steadily: the last levels taken as a geometric series.
fn estimate(sizes: &[u64], states: u64) -> Option<u64> {
    const LEVELS: usize = 4;
    let recent = sizes.last_chunk::<LEVELS>()?;
    if !recent.windows(2).all(|pair| pair[1] < pair[0]) {
        return None;
    }
    let ratio = (recent[LEVELS - 1] as f64 / recent[0] as f64).powf(1.0 / (LEVELS - 1) as f64);
    (ratio < 0.95).then(|| states + (recent[LEVELS - 1] as f64 * ratio / (1.0 - ratio)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_estimate_is_given_while_levels_grow() {
        assert_eq!(estimate(&[1, 2, 4, 8], 15), None);
        assert_eq!(estimate(&[100, 99, 98, 97], 394), None);
        assert_eq!(estimate(&[800, 400, 200, 100], 3000), Some(3100));
    }
}
