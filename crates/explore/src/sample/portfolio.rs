//! Strategies in turn: no single one is best.

use super::novelty::Novelties;
use super::profile::Profile;
use super::run::{Done, Ending, Memory, Walker};
use super::shrink::shrink;
use super::strategy::scheduler;
use super::{Estimate, Limits, Options, Report, Strategy, Tally, estimate};
use crate::actor_ids::ActorIds;
use crate::footprint_system::{FootprintSystem, Reached};
use crate::found::{ChoiceCounts, Found, Stopped};
use crate::happens_before::{Races, in_system_numbers};
use crate::random::Random;
use crate::system::Failure;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The turns: strategies that find most according to the literature get most of them.
const TURNS: [Strategy; 20] = {
    use Strategy::{Novelty, Priorities, Steps, Walk, Weights};
    [
        Steps,
        Weights,
        Walk,
        Steps,
        Priorities(3),
        Weights,
        Steps,
        Novelty,
        Priorities(2),
        Steps,
        Weights,
        Steps,
        Walk,
        Priorities(4),
        Steps,
        Weights,
        Novelty,
        Steps,
        Weights,
        Priorities(5),
    ]
};

/// Runs a system under random schedules.
pub fn sample<T: FootprintSystem>(system: &mut T, options: &Options, limits: &mut Limits<'_>) -> Report {
    let initial = system.initial();
    let mut portfolio = Portfolio {
        memory: Memory {
            actors: ActorIds::default(),
            profile: Profile::default(),
            novelties: Novelties::new(),
            states: HashSet::new(),
            states_max: options.states,
            races: Races::new(),
            executed: 0,
            choices: ChoiceCounts::default(),
            too_many_actors: false,
        },
        classes: HashMap::new(),
        ends: BTreeSet::new(),
        tallies: BTreeMap::new(),
        ln_weights: Vec::new(),
        report: Report::default(),
    };
    let stopped = portfolio.run(system, &initial, options, limits);
    portfolio.finish(system, options, stopped)
}

struct Portfolio<S> {
    memory: Memory<S>,
    classes: HashMap<u128, u64>,
    ends: BTreeSet<u128>,
    tallies: BTreeMap<Strategy, (u64, u64)>,
    ln_weights: Vec<f64>,
    report: Report,
}

impl<S: Clone> Portfolio<S> {
    fn run<T: FootprintSystem<State = S>>(
        &mut self,
        system: &mut T,
        initial: &Reached<S>,
        options: &Options,
        limits: &mut Limits<'_>,
    ) -> Option<Stopped> {
        for number in 0..options.runs {
            let strategy = options.strategy.unwrap_or(TURNS[number as usize % TURNS.len()]);
            // Each run has its own seed: a strategy that does not learn repeats it without the runs before it.
            let mut random = Random::new(options.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let from = Some(())
                .filter(|()| strategy == Strategy::Novelty)
                .and_then(|()| self.memory.novelties.pick(&mut random));
            let begins_at_start = from.is_none();
            let (from, schedule) = from.unwrap_or_else(|| (initial.clone(), Vec::new()));
            let scheduler = scheduler(strategy, &self.memory.profile, &mut random);
            let runs = self.report.runs;
            let stop = &mut |executed| (limits.stop)(runs, executed);
            let (memory, depth, prefix) = (&mut self.memory, options.depth, Vec::new());
            let walker = Walker { system, memory, scheduler, random, depth, prefix, stop };
            let done = walker.run(from, schedule);
            self.note(strategy, begins_at_start, done);
            match () {
                () if self.memory.too_many_actors => return Some(Stopped::Actors),
                () if self.report.found.len() >= limits.failures => return Some(Stopped::Failures),
                () if (limits.stop)(self.report.runs, self.memory.executed) => return Some(Stopped::Asked),
                () => {}
            }
        }
        None
    }

    fn note(&mut self, strategy: Strategy, begins_at_start: bool, done: Done) {
        self.report.depth_max = self.report.depth_max.max(done.schedule.len());
        let mut failed = !done.passed.is_empty();
        for (failure, steps, fingerprint) in &done.passed {
            self.fail(failure.clone(), &done.schedule[..*steps], *fingerprint);
        }
        let mut is_complete = true;
        match done.ending {
            // How it would have ended is unknown: no estimate counts it.
            Ending::GivenUp => {
                self.report.gave_up = true;
                return;
            }
            Ending::Cut => {
                self.report.cut += 1;
                is_complete = false;
            }
            Ending::Failed(failure) => {
                failed = true;
                self.fail(failure, &done.schedule, done.fingerprint);
            }
            Ending::End(stuck) => {
                self.ends.insert(done.fingerprint);
                failed |= stuck.is_some();
                stuck.into_iter().for_each(|failure| self.fail(failure, &done.schedule, done.fingerprint));
            }
        }
        self.report.runs += 1;
        if is_complete && begins_at_start {
            *self.classes.entry(done.class).or_default() += 1;
        }
        if is_complete && strategy == Strategy::Walk {
            self.ln_weights.push(done.ln_weight);
        }
        let tally = self.tallies.entry(strategy).or_default();
        *tally = (tally.0 + 1, tally.1 + u64::from(failed));
    }

    fn fail(&mut self, failure: Failure, schedule: &[trace::Choice], fingerprint: u128) {
        if !self.report.found.iter().any(|found| found.is(&failure)) {
            let schedule = schedule.to_vec();
            self.report.found.push(Found { failure, schedule, inevitable_from: None, fingerprint, states: Vec::new() });
        }
    }

    fn finish<T: FootprintSystem<State = S>>(
        mut self,
        system: &mut T,
        options: &Options,
        stopped: Option<Stopped>,
    ) -> Report {
        if options.shrink {
            for found in &mut self.report.found {
                let shrunk = shrink(system, &found.schedule, &found.failure);
                self.memory.executed += shrunk.executed;
                // Nothing if the budget is spent: the schedule stays as it was found.
                if let Some(fingerprint) = shrunk.fingerprint {
                    (found.schedule, found.fingerprint) = (shrunk.schedule, fingerprint);
                }
            }
        }
        let (races, race_schedules) = in_system_numbers(&self.memory.races, &self.memory.actors);
        let tally = |(strategy, (runs, failed)): (&Strategy, &(u64, u64))| Tally {
            strategy: *strategy,
            runs: *runs,
            failed: *failed,
            below: is_independent(*strategy, *failed).then(|| estimate::rule_of_three(*runs)).flatten(),
        };
        // Runs that are cut or abandoned are missing from the mean: it would be too small.
        let is_whole = self.report.cut == 0 && !self.report.gave_up;
        let schedules = Estimate::of(&self.ln_weights, &mut Random::new(options.seed)).filter(|_| is_whole);
        Report {
            races,
            race_schedules,
            executed: self.memory.executed,
            states: self.memory.states.len() as u64,
            ends: self.ends.iter().copied().collect(),
            classes: self.classes.len() as u64,
            unseen: estimate::unseen(&self.classes),
            choices: self.memory.choices,
            schedules,
            tallies: self.tallies.iter().map(tally).collect(),
            stopped,
            ..self.report
        }
    }
}

/// Whether runs of a strategy are independent, and none has failed. The other strategies learn from earlier runs.
fn is_independent(strategy: Strategy, failed: u64) -> bool {
    failed == 0 && matches!(strategy, Strategy::Walk | Strategy::Steps)
}
