//! Search until nothing more is learnt: a race makes a word visible, and then everything is looked at again.

use crate::memo::memoized::Memoized;
use crate::system::programs::Programs;
use explore::graph::{self, Counts, Found, Limits, Mode, Race, Report, Stopped};
use explore::{sample, stateless};
use std::sync::atomic::Ordering;
use trace::{Choice, KnowledgeRef};

/// How schedules are searched.
#[derive(Clone, Debug)]
pub enum Engine {
    /// The graph of states: each state once.
    Graph {
        /// Which steps are taken.
        mode: Mode,
        /// How many take them.
        workers: usize,
        /// Steps that one of them takes alone: most searches end before others would be worth while.
        alone: u64,
    },
    /// One execution of each class of schedules that differ only in the order of steps that do not conflict; none longer
    /// than so many steps. Nothing is remembered, so that states need not repeat.
    Classes {
        /// Steps of one execution.
        depth: usize,
    },
    /// Schedules at random.
    Sample(sample::Options),
}

/// What a search of programs came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The last search, in which nothing new was learnt (or which was stopped).
    pub report: Report,
    /// The same as an engine of classes tells it.
    pub classes: Option<stateless::Report>,
    /// The same as samples tell it.
    pub sampled: Option<sample::Report>,
    /// Every race of every search, each word once.
    pub races: Vec<Race>,
    /// Races of the last search, each word once, with a way to a state in which both accesses come next.
    pub ways: Vec<(Race, Vec<Choice>)>,
    /// Who took part in the last of them.
    pub workers: usize,
    /// How often the search began.
    pub rounds: u32,
    /// Steps executed in all of them.
    pub executed: u64,
    /// What was known at the beginning of the last round.
    refinement: KnowledgeRef,
    /// The last round but one that found something: what it found is real whatever later rounds come to.
    pub earlier: Option<Earlier>,
}

/// What an earlier round found.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// Failures, with their schedules.
    pub found: Vec<Found>,
    /// What was known at the beginning of that round: it decides where steps begin and end.
    pub refinement: KnowledgeRef,
}

/// Searches all schedules as a graph of states.
pub fn search(programs: &mut Programs, mode: Mode, limits: &mut Limits<'_>) -> Outcome {
    search_by(&Engine::Graph { mode, workers: 1, alone: 0 }, programs, limits)
}

/// Searches all schedules.
///
/// Whenever a step shows that earlier ones were seen too coarsely, the search begins anew with what is known now.
pub fn search_by(engine: &Engine, programs: &mut Programs, limits: &mut Limits<'_>) -> Outcome {
    // A loop that only waits for a word to change is one operation: without states, nothing else would end it.
    programs.workload.options.awaits = awaits(engine);
    let mut outcome = Outcome::default();
    let mut crew = Vec::new();
    loop {
        outcome.keep_found();
        let refinement = programs.learnt();
        let needs_help = round(engine, (programs, &mut crew), limits, &mut outcome);
        outcome.refinement = refinement;
        programs.learn_from(&mut crew);
        outcome.workers = 1 + crew.len();
        let report = &outcome.report;
        outcome.rounds += 1;
        outcome.executed += report.executed;
        for race in &report.races {
            if !outcome.races.iter().any(|known| known.object == race.object) {
                outcome.races.push(*race);
            }
        }
        let has_learnt = programs.promote(&report.races);
        programs.teach(&mut crew);
        if needs_help {
            crew = (1..engine.workers()).map(|_| programs.for_worker()).collect();
            continue;
        }
        let was_stopped = programs.refusal.is_some() || (limits.stop)(report.states, report.executed);
        let is_enough = report.found.len() >= limits.failures || report.states >= limits.states as u64;
        if !has_learnt || was_stopped || is_enough {
            outcome.report.complete &= !has_learnt;
            outcome.ways = ways(&outcome.report);
            return outcome;
        }
    }
}

impl Outcome {
    /// Keeps what the last round found, before another one begins.
    fn keep_found(&mut self) {
        if !self.report.found.is_empty() {
            let (found, refinement) = (self.report.found.clone(), self.refinement.clone());
            self.earlier = Some(Earlier { found, refinement });
        }
    }
}

/// Whether an engine takes a loop that only looks as an operation that waits.
#[must_use]
pub fn awaits(engine: &Engine) -> bool {
    matches!(engine, Engine::Classes { .. } | Engine::Sample(_))
}

impl Engine {
    /// Who can share the work.
    fn workers(&self) -> usize {
        match self {
            Self::Graph { mode: Mode::Bounded(_), .. } | Self::Classes { .. } | Self::Sample(_) => 1,
            Self::Graph { workers, .. } => *workers,
        }
    }
}

/// Searches with what is known; whether that was given up because it is worth while to let others help.
fn round(
    engine: &Engine,
    (programs, crew): (&mut Programs, &mut Vec<Programs>),
    limits: &mut Limits<'_>,
    outcome: &mut Outcome,
) -> bool {
    let is_stale = programs.staleness();
    let stop = &mut *limits.stop;
    let could_help = crew.is_empty() && engine.workers() > 1;
    let alone = if let Engine::Graph { alone, .. } = engine { *alone } else { 0 };
    let mut needs_help = false;
    let mut stop = |states, executed| {
        needs_help = could_help && executed >= alone;
        is_stale.load(Ordering::Relaxed) || stop(states, executed) || needs_help
    };
    let Limits { states, failures, .. } = *limits;
    match engine {
        Engine::Graph { mode, .. } => {
            let (options, mut limits) = (graph::Options::new(*mode), Limits { states, failures, stop: &mut stop });
            let mut workers: Vec<Memoized<'_>> = crew.iter_mut().map(Memoized::new).collect();
            let mut owner = Memoized::new(programs);
            outcome.report = match workers.is_empty() {
                true => graph::search_with(&mut owner, options, &mut limits),
                false => graph::search_with_many(&mut owner, &mut workers, options, &mut limits),
            };
        }
        Engine::Classes { depth } => {
            let mut own = stateless::Limits { depth: *depth, executions: u64::MAX, failures, stop: &mut stop };
            let report = stateless::search(&mut Memoized::new(programs), &mut own);
            outcome.report = of_classes(&report);
            outcome.classes = Some(report);
        }
        Engine::Sample(options) => {
            let report = sample::sample(
                &mut Memoized::new(programs),
                options,
                &mut sample::Limits { failures, stop: &mut stop },
            );
            outcome.report = of_sample(&report);
            outcome.sampled = Some(report);
        }
    }
    needs_help
}

fn of_classes(report: &stateless::Report) -> Report {
    Report {
        found: report.found.clone(),
        races: report.races.clone(),
        race_schedules: report.race_schedules.clone(),
        steps: report.executed,
        executed: report.executed,
        depth_max: report.depth_max as u32,
        complete: report.complete,
        stopped: report.stopped,
        ends: report.ends.clone(),
        counts: Counts { choices: report.choices, ..Counts::default() },
        ..Report::default()
    }
}

/// Samples are never complete.
fn of_sample(report: &sample::Report) -> Report {
    Report {
        found: report.found.clone(),
        races: report.races.clone(),
        race_schedules: report.race_schedules.clone(),
        states: report.states,
        steps: report.executed,
        executed: report.executed,
        depth_max: report.depth_max as u32,
        complete: false,
        stopped: report.stopped.or(Some(Stopped::Asked)),
        ends: report.ends.clone(),
        counts: Counts { choices: report.choices, ..Counts::default() },
        ..Report::default()
    }
}

/// The ways to races, each word once: those of two plain accesses first.
fn ways(report: &Report) -> Vec<(Race, Vec<Choice>)> {
    let mut all: Vec<(Race, Vec<Choice>)> =
        report.races.iter().copied().zip(report.race_schedules.iter().cloned()).collect();
    all.sort_by_key(|(race, way)| (race.object, !race.plain, way.len()));
    all.dedup_by_key(|(race, _)| race.object);
    all
}
