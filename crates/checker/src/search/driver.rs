//! Searches in rounds until no refinement is left: a race makes a word visible, and the search restarts.

use crate::memo::memoized::Memoized;
use crate::search::sampled_refinement::{Sampled, refine_by_samples};
use crate::store_buffer::is_of_one_thread;
use crate::system::programs::Programs;
use explore::graph::{self, Counts, Found, Limits, Mode, Race, Report, Stopped};
use explore::{sample, stateless};
use std::sync::atomic::Ordering;
use trace::{Choice, KnowledgeRef};

/// After so many restarts sampled runs look for the rest of the refinement: where a few suffice, a search finds them sooner.
const RESTARTS: u32 = 3;

/// Steps from which on sampled runs pay: a search that took fewer is restarted sooner than sampled.
const SAMPLED_FROM: u64 = 4_000;

/// How schedules are searched.
#[derive(Clone, Debug)]
pub enum Engine {
    /// The graph of states: each state once.
    Graph {
        /// Which steps are taken.
        mode: Mode,
        /// How many workers take them.
        workers: usize,
        /// Steps that one worker takes alone: most searches end before more workers pay.
        alone: u64,
    },
    /// One execution of each trace class, none longer than so many steps. Visited states are not stored, so states need
    /// not repeat for the search to end.
    Classes {
        /// Steps of one execution.
        depth: usize,
    },
    /// Schedules at random.
    Sample(sample::Options),
}

/// The result of a search of programs.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The last round, which needed no refinement (or was stopped).
    pub report: Report,
    /// The report of the engine that enumerates trace classes.
    pub classes: Option<stateless::Report>,
    /// The report of the engine that samples.
    pub sampled: Option<sample::Report>,
    /// Every race of every round, each word once.
    pub races: Vec<Race>,
    /// Races of the last round, each word once, with a schedule to a state in which both accesses are pending.
    pub ways: Vec<(Race, Vec<Choice>)>,
    /// How many workers took part in the last round.
    pub workers: usize,
    /// How many rounds there were.
    pub rounds: u32,
    /// Steps executed in all of them.
    pub executed: u64,
    /// The refinement at the beginning of the last round.
    refinement: KnowledgeRef,
    /// The last earlier round with a failure. A failure is real under any refinement, whatever later rounds report.
    pub earlier: Option<Earlier>,
}

/// Failures of an earlier round.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// Failures, with their schedules.
    pub found: Vec<Found>,
    /// The refinement at the beginning of that round: it decides where steps begin and end.
    pub refinement: KnowledgeRef,
}

/// Searches all schedules as a graph of states.
pub fn search(programs: &mut Programs, mode: Mode, limits: &mut Limits<'_>) -> Outcome {
    search_by(&Engine::Graph { mode, workers: 1, alone: 0 }, programs, limits)
}

/// Searches all schedules.
///
/// Whenever a step shows that the abstraction was too coarse for earlier ones, the search restarts with the refined
/// one.
pub fn search_by(engine: &Engine, programs: &mut Programs, limits: &mut Limits<'_>) -> Outcome {
    // Spin loops are blocking operations where visited states are not stored: nothing else would end them.
    programs.workload.options.awaits = awaits(engine);
    let mut outcome = Outcome::default();
    let (mut workers, mut restarts, mut sampled) = (Vec::new(), 0, 0);
    loop {
        let refinement = programs.learnt();
        let needs_help = round(engine, (programs, &mut workers), limits, &mut outcome);
        outcome.refinement = refinement;
        programs.learn_from(&mut workers);
        outcome.workers = 1 + workers.len();
        let report = &outcome.report;
        outcome.rounds += 1;
        outcome.executed += report.executed;
        for race in report.races.iter().filter(|race| !is_of_one_thread(race)) {
            if !outcome.races.iter().any(|known| known.object == race.object) {
                outcome.races.push(*race);
            }
        }
        let is_refined = programs.promote(&report.races);
        programs.teach(&mut workers);
        if needs_help {
            outcome.keep_found();
            workers = (1..engine.workers()).map(|_| programs.for_worker()).collect();
            continue;
        }
        let was_stopped = programs.refusal.is_some() || (limits.stop)(report.states, report.executed);
        let is_enough = report.found.len() >= limits.failures || report.states >= limits.states as u64;
        restarts += u32::from(is_refined);
        if !is_refined || was_stopped || is_enough {
            outcome.report.complete &= !is_refined;
            if is_refined {
                // Schedules of this round lead where they did only with its own refinement.
                programs.know(&outcome.refinement);
            }
            outcome.ways = ways(&outcome.report);
            return outcome;
        }
        outcome.keep_found();
        if restarts >= RESTARTS && outcome.executed >= SAMPLED_FROM && !matches!(engine, Engine::Sample(_)) {
            // Half of all steps at most.
            let Sampled { executed, found } =
                refine_by_samples(programs, outcome.executed.saturating_sub(2 * sampled), limits);
            sampled += executed;
            outcome.executed += executed;
            outcome.earlier = found.map(|(found, refinement)| Earlier { found, refinement }).or(outcome.earlier);
            programs.teach(&mut workers);
        }
    }
}

impl Outcome {
    /// Keeps the failures of the last round, before another one begins.
    fn keep_found(&mut self) {
        if !self.report.found.is_empty() {
            let (found, refinement) = (self.report.found.clone(), self.refinement.clone());
            self.earlier = Some(Earlier { found, refinement });
        }
    }
}

/// Whether an engine takes spin loops as blocking operations.
#[must_use]
pub fn awaits(engine: &Engine) -> bool {
    matches!(engine, Engine::Classes { .. } | Engine::Sample(_))
}

impl Engine {
    /// The same without reduction.
    #[must_use]
    pub fn unreduced(&self) -> Self {
        match self {
            Self::Graph { mode: Mode::Reduced, workers, alone } => {
                Self::Graph { mode: Mode::Full, workers: *workers, alone: *alone }
            }
            other => other.clone(),
        }
    }

    /// How many workers it can use.
    fn workers(&self) -> usize {
        match self {
            Self::Graph { mode: Mode::Bounded(_), .. } | Self::Classes { .. } | Self::Sample(_) => 1,
            Self::Graph { workers, .. } => *workers,
        }
    }
}

/// Searches with the present refinement; whether the round was abandoned because more workers pay.
fn round(
    engine: &Engine,
    (programs, workers): (&mut Programs, &mut Vec<Programs>),
    limits: &mut Limits<'_>,
    outcome: &mut Outcome,
) -> bool {
    let is_stale = programs.staleness();
    let stop = &mut *limits.stop;
    let could_help = workers.is_empty() && engine.workers() > 1;
    let alone = if let Engine::Graph { alone, .. } = engine { *alone } else { 0 };
    let mut needs_help = false;
    let mut stop = |states, executed| {
        needs_help = could_help && executed >= alone;
        is_stale.load(Ordering::Relaxed) || stop(states, executed) || needs_help
    };
    let Limits { states, failures, .. } = *limits;
    match engine {
        Engine::Graph { mode, .. } => {
            let keeps_graph = !programs.formulas().is_empty();
            let options = graph::Options { keeps_graph, ..graph::Options::new(*mode) };
            let mut limits = Limits { states, failures, stop: &mut stop };
            let mut workers: Vec<Memoized<'_>> = workers.iter_mut().map(Memoized::new).collect();
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

/// The schedules to races, each word once: races of two plain accesses first.
fn ways(report: &Report) -> Vec<(Race, Vec<Choice>)> {
    let all = report.races.iter().copied().zip(report.race_schedules.iter().cloned());
    let mut all: Vec<(Race, Vec<Choice>)> = all.filter(|(race, _)| !is_of_one_thread(race)).collect();
    all.sort_by_key(|(race, way)| (race.object, !race.plain, way.len()));
    all.dedup_by_key(|(race, _)| race.object);
    all
}
