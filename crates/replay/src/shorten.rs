//! Making a counterexample shorter: fewer steps, then fewer context switches.
//!
//! Delta debugging over choices. Whatever is tried is executed; what is returned is what was executed, so a shortened
//! schedule is as true as the one it came from.

use crate::confirm::closes;
use crate::system::{Label, Replayable, Stepped};
use explore::Failure;
use trace::{Choice, Schedule};

/// How much work shortening may do.
///
/// Counted, not timed: the same schedule is shortened to the same on any machine.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The sum of [`Stepped::work`] that may be spent: steps of a model, instructions of programs.
    pub work: u64,
}

/// Something that was executed in search of a shorter counterexample.
#[derive(Debug)]
pub struct Candidate<'a, S> {
    /// Its states, the initial one first.
    pub states: &'a [S],
    /// Its choices, one fewer than there are states.
    pub choices: &'a [Choice],
    /// What went wrong on the last step, if anything.
    pub failure: Option<&'a Failure>,
    /// For a lasso, which is known to close: how many choices form the stem.
    pub cycle_start: Option<usize>,
}

/// Whether a candidate still shows what its original showed.
pub type Shows<'a, R> = dyn FnMut(&mut R, &Candidate<'_, <R as Replayable>::State>) -> bool + 'a;

/// Looks for a shorter schedule that still shows the failure.
///
/// `shows` is asked about executed candidates: once about a lasso, after every step about a finite schedule, which ends
/// where the answer is first yes. If the schedule cannot be executed it is returned as it is; if the budget is spent, the
/// best found so far.
pub fn shorten<R: Replayable>(
    system: &mut R,
    schedule: &Schedule,
    budget: Budget,
    shows: &mut Shows<'_, R>,
) -> Schedule {
    let lasso = schedule.cycle_start.is_some();
    let mut search = Search { system, work_left: budget.work, lasso, shows };
    let Some(mut best) = search.original(schedule) else { return schedule.clone() };
    loop {
        let before = cost(&best.units);
        best = search.drop_chunks(best);
        best = search.join_blocks(best);
        if cost(&best.units) >= before || search.work_left == 0 {
            return schedule_of(&best.units, lasso);
        }
    }
}

/// A choice with what identifies it when its number has changed because other steps were left out.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Unit {
    choice: Choice,
    label: Option<Label>,
    in_cycle: bool,
}

/// Steps that were executed, with the states between them, the initial one first: a candidate that begins alike is executed
/// from where it differs.
struct Executed<S> {
    units: Vec<Unit>,
    /// The choices of the units.
    choices: Vec<Choice>,
    states: Vec<S>,
}

impl<S: Clone> Executed<S> {
    fn beginning(state: S) -> Self {
        Self { units: Vec::new(), choices: Vec::new(), states: vec![state] }
    }

    /// The same up to a step.
    fn up_to(&self, steps: usize) -> Self {
        let (units, choices) = (self.units[..steps].to_vec(), self.choices[..steps].to_vec());
        Self { units, choices, states: self.states[..=steps].to_vec() }
    }

    fn push(&mut self, unit: Unit, state: S) {
        self.choices.push(unit.choice);
        self.units.push(unit);
        self.states.push(state);
    }
}

/// The failure that a finite counterexample must keep on showing.
pub fn fails_with<'a, R: Replayable>(
    failure: &'a Failure,
) -> impl FnMut(&mut R, &Candidate<'_, R::State>) -> bool + 'a {
    move |system, candidate| {
        let same = |found: &Failure| found.kind == failure.kind && found.message == failure.message;
        let is_over = candidate.failure.is_some_and(|failure| failure.fatal);
        let end = candidate.states.last().filter(|_| !is_over).and_then(|state| system.stuck(state));
        candidate.failure.is_some_and(same) || end.as_ref().is_some_and(same)
    }
}

/// Steps first, then context switches.
fn cost(units: &[Unit]) -> (usize, usize) {
    let switches = units.windows(2).filter(|pair| pair[0].choice.actor != pair[1].choice.actor).count();
    (units.len(), switches)
}

fn schedule_of(units: &[Unit], lasso: bool) -> Schedule {
    let stem = units.iter().take_while(|unit| !unit.in_cycle).count();
    Schedule { choices: units.iter().map(|unit| unit.choice).collect(), cycle_start: lasso.then_some(stem) }
}

struct Search<'a, 'b, R: Replayable> {
    system: &'a mut R,
    work_left: u64,
    lasso: bool,
    shows: &'a mut Shows<'b, R>,
}

impl<R: Replayable> Search<'_, '_, R> {
    /// Executes the schedule up to where it first shows the failure; nothing if it cannot be executed.
    ///
    /// It takes nothing off the budget: without it there is nothing to shorten.
    fn original(&mut self, schedule: &Schedule) -> Option<Executed<R::State>> {
        let start = schedule.cycle_start.unwrap_or(usize::MAX);
        let mut done = Executed::beginning(self.system.initial());
        for (index, &choice) in schedule.choices.iter().enumerate() {
            let Stepped { state, failure, label, .. } = self.system.step(&done.states[index], choice)?;
            done.push(Unit { choice, label, in_cycle: index >= start }, state);
            if self.finite_shows(&done, failure.as_ref()) {
                break;
            }
        }
        Some(done)
    }

    /// Leaves out chunks, large ones first.
    fn drop_chunks(&mut self, mut best: Executed<R::State>) -> Executed<R::State> {
        let mut size = best.units.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < best.units.len() && self.work_left > 0 {
                let end = (at + size).min(best.units.len());
                let candidate = best.units.iter().take(at).chain(&best.units[end..]);
                match self.attempt(candidate.cloned().collect(), &best) {
                    Some(better) => best = better,
                    None => at = end,
                }
            }
            size /= 2;
        }
        best
    }

    /// Moves a block of one actor's steps next to that actor's following block.
    fn join_blocks(&mut self, mut best: Executed<R::State>) -> Executed<R::State> {
        let mut at = 0;
        while at < best.units.len() && self.work_left > 0 {
            let better = joined(&best.units, at).into_iter().find_map(|candidate| self.attempt(candidate, &best));
            match better {
                Some(better) => best = better,
                None => at = block_end(&best.units, at),
            }
        }
        best
    }

    /// Executes a candidate; gives what was executed if it shows the failure at a lower cost.
    fn attempt(&mut self, candidate: Vec<Unit>, best: &Executed<R::State>) -> Option<Executed<R::State>> {
        let done = self.execute(candidate, best)?;
        (cost(&done.units) < cost(&best.units)).then_some(done)
    }

    /// Executes a candidate from where it differs from the best one so far, which shows nothing before its end.
    fn execute(&mut self, candidate: Vec<Unit>, best: &Executed<R::State>) -> Option<Executed<R::State>> {
        let common = candidate.iter().zip(&best.units).take_while(|(one, other)| one == other).count();
        let mut done = best.up_to(common);
        if self.finite_shows(&done, None) {
            return Some(done);
        }
        for wanted in candidate.into_iter().skip(common) {
            if self.work_left == 0 {
                return None;
            }
            let Some((unit, state, failure)) = self.take(&done.states[done.units.len()], &wanted) else { continue };
            done.push(unit, state);
            if self.finite_shows(&done, failure.as_ref()) {
                return Some(done);
            }
            if failure.is_some_and(|failure| failure.fatal) {
                return None;
            }
        }
        self.lasso_shows(done)
    }

    fn finite_shows(&mut self, done: &Executed<R::State>, failure: Option<&Failure>) -> bool {
        let candidate = Candidate { states: &done.states, choices: &done.choices, failure, cycle_start: None };
        !self.lasso && (self.shows)(self.system, &candidate)
    }

    fn lasso_shows(&mut self, done: Executed<R::State>) -> Option<Executed<R::State>> {
        let start = schedule_of(&done.units, self.lasso).cycle_start?;
        closes(self.system, &done.states, start).ok()?;
        let (states, choices) = (&done.states, &done.choices);
        let lasso = Candidate { states, choices, failure: None, cycle_start: Some(start) };
        (self.shows)(self.system, &lasso).then_some(done)
    }

    /// Takes the wanted step: under its own number if that still means the same, else under the number it has now.
    fn take(&mut self, state: &R::State, wanted: &Unit) -> Option<(Unit, R::State, Option<Failure>)> {
        let choices = self.system.choices(state, wanted.choice.actor);
        let own = choices.iter().copied().filter(|choice| *choice == wanted.choice);
        let others = choices.iter().copied().filter(|choice| *choice != wanted.choice);
        for choice in own.chain(others) {
            let Stepped { state, failure, label, work } = self.system.step(state, choice)?;
            self.work_left = self.work_left.saturating_sub(work);
            if label == wanted.label && (label.is_some() || choice == wanted.choice) {
                return Some((Unit { choice, label, in_cycle: wanted.in_cycle }, state, failure));
            }
        }
        None
    }
}

/// Where the block of one actor's steps that starts at `at` ends.
fn block_end(units: &[Unit], at: usize) -> usize {
    let actor = units[at].choice.actor;
    at + units[at..].iter().take_while(|unit| unit.choice.actor == actor).count()
}

/// The two ways of joining the block that starts at `at` with the next one of the same actor: this one waits, or that one
/// hurries. None if the two lie in different parts of the lasso.
fn joined(units: &[Unit], at: usize) -> Vec<Vec<Unit>> {
    let (end, first) = (block_end(units, at), &units[at]);
    let same = |unit: &Unit| unit.choice.actor == first.choice.actor;
    let Some(next) = units[end..].iter().position(same).map(|offset| end + offset) else { return Vec::new() };
    if units[next].in_cycle != first.in_cycle {
        return Vec::new();
    }
    let (mut waits, mut hurries) = (units.to_vec(), units.to_vec());
    waits[at..next].rotate_left(end - at);
    hurries[end..block_end(units, next)].rotate_left(next - end);
    vec![waits, hurries]
}
