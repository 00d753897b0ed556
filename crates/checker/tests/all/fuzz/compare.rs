//! What searches of one program have seen, as far as no reduction may change it.

use checker::{Engine, Programs, search_by};
use explore::graph::{Found, Limits, Mode, Race};
use explore::stateless;
use std::collections::BTreeSet;
use world::Cause;

/// Programs with more states are left out.
pub const STATES_MAX: usize = 2_000;
/// So are those that take more steps, or have more schedules that differ.
const STEPS_MAX: u64 = 20_000;
const SCHEDULES_MAX: u64 = 1_000;

/// What no reduction may change.
#[derive(PartialEq, Eq, Debug)]
pub struct Seen {
    /// Kinds and messages.
    pub failures: BTreeSet<String>,
    /// Words, by address.
    pub raced: BTreeSet<u64>,
    /// Fingerprints of ends.
    pub ends: Vec<u128>,
}

impl Seen {
    /// Whether something was used as it may not be: what follows is not defined.
    pub fn is_misused(&self) -> bool {
        self.failures.iter().any(|failure| failure.starts_with("misuse"))
    }

    /// What went wrong, without what only those know who know the library: in which functions threads wait, which
    /// assertion has failed.
    pub fn wrong(&self) -> BTreeSet<String> {
        let place = |waiting: &str| waiting.split(" waits in ").next().unwrap_or_default().to_owned();
        let tell = |failure: &String| match failure.starts_with("assert") {
            true => "assert".into(),
            false => failure.split("; ").map(place).collect(),
        };
        self.failures.iter().map(tell).collect()
    }
}

fn seen(programs: &Programs, found: &[Found], races: &[Race], ends: &[u128]) -> Seen {
    let failures = found.iter().map(|found| format!("{}: {}", found.failure.kind, found.failure.message)).collect();
    let places = races.iter().filter_map(|race| programs.words().get(&race.object)).flatten();
    Seen { failures, raced: places.map(|(_, address)| address & !3).collect(), ends: ends.to_vec() }
}

/// What a search of the graph sees; nothing if there are too many states.
pub fn graph(programs: &mut Programs, mode: Mode) -> Option<Seen> {
    by(&Engine::Graph { mode, workers: 1, alone: 0 }, programs)
}

/// What two workers see together.
pub fn together(programs: &mut Programs) -> Option<Seen> {
    by(&Engine::Graph { mode: Mode::Reduced, workers: 2, alone: 0 }, programs)
}

fn by(engine: &Engine, programs: &mut Programs) -> Option<Seen> {
    let answer = answer(engine, programs);
    assert!(!matches!(answer, Err(Missing::Refused(_))), "what programs of this test do is modelled: {answer:?}");
    answer.ok()
}

/// Why there is nothing to compare.
#[derive(Debug)]
pub enum Missing {
    /// Too many states or schedules.
    Large,
    /// Something is not modelled.
    Refused(String),
}

/// What an engine sees.
pub fn answer(engine: &Engine, programs: &mut Programs) -> Result<Seen, Missing> {
    let counts_schedules = matches!(engine, Engine::Classes { .. });
    let mut stop = |count: u64, steps: u64| steps > STEPS_MAX || counts_schedules && count > SCHEDULES_MAX;
    let states = if counts_schedules { usize::MAX } else { STATES_MAX };
    let mut limits = Limits { states, failures: usize::MAX, stop: &mut stop };
    let outcome = search_by(engine, programs, &mut limits);
    if let Some(refusal) = &programs.refusal {
        assert_ne!(refusal.cause, Cause::Differs, "{refusal}");
        return Err(Missing::Refused(refusal.to_string()));
    }
    let report = &outcome.report;
    let seen = report.complete.then(|| seen(programs, &report.found, &report.races, &report.ends));
    seen.ok_or(Missing::Large)
}

/// What a search of classes sees in which loops that wait do so; nothing if there are too many.
pub fn classes(programs: &mut Programs) -> Option<Seen> {
    let mut stop = |executions: u64, _: u64| executions > SCHEDULES_MAX;
    let mut limits = Limits { states: usize::MAX, failures: usize::MAX, stop: &mut stop };
    let report = search_by(&Engine::Classes { depth: 300 }, programs, &mut limits).report;
    report.complete.then(|| seen(programs, &report.found, &report.races, &report.ends))
}

/// What a search without memory sees; nothing if there are too many schedules.
pub fn without_memory(programs: &mut Programs) -> Option<Seen> {
    loop {
        let mut stop = |_: u64, _: u64| false;
        let mut limits =
            stateless::Limits { depth: 300, executions: SCHEDULES_MAX, failures: usize::MAX, stop: &mut stop };
        let report = stateless::search(programs, &mut limits);
        if !report.complete {
            return None;
        }
        if !programs.promote(&report.races) {
            return Some(seen(programs, &report.found, &report.races, &report.ends));
        }
    }
}
