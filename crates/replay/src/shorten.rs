//! Making a counterexample shorter: fewer steps, then fewer context switches.
//!
//! Delta debugging over choices. Whatever is tried is executed; what is returned is what was executed, so a shortened
//! schedule is as true as the one it came from.

use crate::confirm::closes;
use crate::system::{Label, Replayable, Stepped};
use explore::Failure;
use trace::{Choice, Schedule};

/// How much work shortening may do.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Steps that may be executed.
    pub steps: usize,
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
    let Some(units) = units(system, schedule) else { return schedule.clone() };
    let lasso = schedule.cycle_start.is_some();
    let mut search = Search { system, steps_left: budget.steps, lasso, shows };
    let mut best = units;
    loop {
        let before = cost(&best);
        best = search.drop_chunks(best);
        best = search.join_blocks(best);
        if cost(&best) >= before || search.steps_left == 0 {
            return schedule_of(&best, lasso);
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

/// The steps of a schedule; nothing if it cannot be executed.
fn units<R: Replayable>(system: &mut R, schedule: &Schedule) -> Option<Vec<Unit>> {
    let start = schedule.cycle_start.unwrap_or(usize::MAX);
    let mut state = system.initial();
    let mut units = Vec::new();
    for (index, &choice) in schedule.choices.iter().enumerate() {
        let stepped = system.step(&state, choice)?;
        units.push(Unit { choice, label: stepped.label, in_cycle: index >= start });
        state = stepped.state;
    }
    Some(units)
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
    steps_left: usize,
    lasso: bool,
    shows: &'a mut Shows<'b, R>,
}

impl<R: Replayable> Search<'_, '_, R> {
    /// Leaves out chunks, large ones first.
    fn drop_chunks(&mut self, mut best: Vec<Unit>) -> Vec<Unit> {
        let mut size = best.len().div_ceil(2);
        while size > 0 {
            let mut at = 0;
            while at < best.len() && self.steps_left > 0 {
                let end = (at + size).min(best.len());
                let candidate = best.iter().take(at).chain(&best[end..]);
                match self.attempt(candidate.cloned().collect(), cost(&best)) {
                    Some(better) => best = better,
                    None => at = end,
                }
            }
            size /= 2;
        }
        best
    }

    /// Moves a block of one actor's steps next to that actor's following block.
    fn join_blocks(&mut self, mut best: Vec<Unit>) -> Vec<Unit> {
        let mut at = 0;
        while at < best.len() && self.steps_left > 0 {
            let bound = cost(&best);
            let better = joined(&best, at).into_iter().find_map(|candidate| self.attempt(candidate, bound));
            match better {
                Some(better) => best = better,
                None => at = block_end(&best, at),
            }
        }
        best
    }

    /// Executes a candidate; gives what was executed if it shows the failure at a lower cost.
    fn attempt(&mut self, candidate: Vec<Unit>, bound: (usize, usize)) -> Option<Vec<Unit>> {
        let taken = self.execute(candidate)?;
        (cost(&taken) < bound).then_some(taken)
    }

    fn execute(&mut self, candidate: Vec<Unit>) -> Option<Vec<Unit>> {
        let mut states = vec![self.system.initial()];
        let (mut choices, mut taken) = (Vec::new(), Vec::new());
        if self.finite_shows(&states, &choices, None) {
            return Some(taken);
        }
        for wanted in candidate {
            self.steps_left = self.steps_left.checked_sub(1)?;
            let Some((unit, state, failure)) = self.take(&states[states.len() - 1], &wanted) else { continue };
            states.push(state);
            choices.push(unit.choice);
            taken.push(unit);
            if self.finite_shows(&states, &choices, failure.as_ref()) {
                return Some(taken);
            }
            if failure.is_some_and(|failure| failure.fatal) {
                return None;
            }
        }
        self.lasso_shows(&states, &choices, taken)
    }

    fn finite_shows(&mut self, states: &[R::State], choices: &[Choice], failure: Option<&Failure>) -> bool {
        !self.lasso && (self.shows)(self.system, &Candidate { states, choices, failure, cycle_start: None })
    }

    fn lasso_shows(&mut self, states: &[R::State], choices: &[Choice], taken: Vec<Unit>) -> Option<Vec<Unit>> {
        let start = schedule_of(&taken, self.lasso).cycle_start?;
        closes(self.system, states, start).ok()?;
        let lasso = Candidate { states, choices, failure: None, cycle_start: Some(start) };
        (self.shows)(self.system, &lasso).then_some(taken)
    }

    /// Takes the wanted step: under its own number if that still means the same, else under the number it has now.
    fn take(&mut self, state: &R::State, wanted: &Unit) -> Option<(Unit, R::State, Option<Failure>)> {
        let choices = self.system.choices(state, wanted.choice.actor);
        let own = choices.iter().copied().filter(|choice| *choice == wanted.choice);
        let others = choices.iter().copied().filter(|choice| *choice != wanted.choice);
        for choice in own.chain(others) {
            let Stepped { state, failure, label } = self.system.step(state, choice)?;
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
