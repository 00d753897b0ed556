//! Search until nothing more is learnt: a race makes a word visible, and then everything is looked at again.

use super::programs::Programs;
use explore::graph::{self, Limits, Mode, Race, Report};
use explore::stateless;
use trace::Choice;

/// What a search of programs came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The last search, in which nothing new was learnt (or which was stopped).
    pub report: Report,
    /// Every race of every search, each word once.
    pub races: Vec<Race>,
    /// Races of the last search, each word once, with a way to a state in which both accesses come next.
    pub ways: Vec<(Race, Vec<Choice>)>,
    /// How often the search began.
    pub rounds: u32,
    /// Steps executed in all of them.
    pub executed: u64,
}

/// Searches all schedules.
///
/// Whenever a step shows that earlier ones were seen too coarsely, the search begins anew with what is known now.
pub fn search(programs: &mut Programs, mode: Mode, limits: &mut Limits<'_>) -> Outcome {
    let mut outcome = Outcome::default();
    loop {
        let report = round(programs, mode, limits);
        outcome.rounds += 1;
        outcome.executed += report.executed;
        for race in &report.races {
            if !outcome.races.iter().any(|known| known.object == race.object) {
                outcome.races.push(*race);
            }
        }
        let has_learnt = programs.promote(&report.races);
        let was_stopped = programs.refusal.is_some() || (limits.stop)(report.states, report.executed);
        let is_enough = report.found.len() >= limits.failures || report.states >= limits.states as u64;
        outcome.report = report;
        if !has_learnt || was_stopped || is_enough {
            outcome.report.complete &= !has_learnt;
            outcome.ways = ways(&outcome.report);
            return outcome;
        }
    }
}

fn round(programs: &mut Programs, mode: Mode, limits: &mut Limits<'_>) -> Report {
    let is_stale = programs.staleness();
    let stop = &mut *limits.stop;
    let mut stop = |states, executed| is_stale.get() || stop(states, executed);
    let mut limits = Limits { states: limits.states, failures: limits.failures, stop: &mut stop };
    graph::search(programs, mode, &mut limits)
}

/// Executes one schedule of each class of schedules that differ only in the order of steps that do not conflict.
///
/// Where words race is found out beforehand, by [`search`]; so the number of executions is that of the classes at the
/// granularity of operations and racing words. A loop that only waits for a word to change is one operation.
pub fn count(
    programs: &mut Programs,
    limits: &mut Limits<'_>,
    bounds: &mut stateless::Limits<'_>,
) -> (Outcome, stateless::Report) {
    let outcome = search(programs, Mode::Reduced, limits);
    programs.options.awaits = true;
    loop {
        let is_stale = programs.staleness();
        let stop = &mut *bounds.stop;
        let mut stop = |executions, executed| is_stale.get() || stop(executions, executed);
        let stateless::Limits { depth, executions, failures, .. } = *bounds;
        let mut own = stateless::Limits { depth, executions, failures, stop: &mut stop };
        let report = stateless::search(programs, &mut own);
        if !programs.promote(&[]) {
            return (outcome, report);
        }
    }
}

/// The ways to races, each word once: those of two plain accesses first.
fn ways(report: &Report) -> Vec<(Race, Vec<Choice>)> {
    let mut all: Vec<(Race, Vec<Choice>)> =
        report.races.iter().copied().zip(report.race_ways.iter().cloned()).collect();
    all.sort_by_key(|(race, way)| (race.object, !race.plain, way.len()));
    all.dedup_by_key(|(race, _)| race.object);
    all
}
