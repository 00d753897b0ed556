//! Every counterexample is replayed before it is shown.

use crate::run::{Mismatch, Run, run};
use explore::{Bits, Failure, Selection, Step, TransitionSystem};
use std::ops::ControlFlow;
use trace::{Choice, Counterexample, FailureKind, Schedule, Trace};

/// Judges what the system itself cannot see: whether these states, with the cycle starting at the given one, refute a
/// formula or match a claim. Says why not.
pub type Witness<'w, S> = dyn FnMut(&mut <S as TransitionSystem>::Scratch, &[<S as TransitionSystem>::State], Option<usize>) -> Result<(), String>
    + 'w;

/// Executes a counterexample and checks that it shows what it says.
///
/// A lasso must close, be weakly fair if it says so, and be judged by a witness; a finite one must end in the failure of
/// the same kind and with the same message, unless a witness judges it.
///
/// # Errors
/// If it shows something else.
pub fn confirm<S: TransitionSystem>(
    system: &S,
    counterexample: &Counterexample,
    witness: Option<&mut Witness<'_, S>>,
) -> Result<Trace, Mismatch> {
    let schedule = &counterexample.schedule;
    let run = run(system, schedule)?;
    let end = |why: String| Mismatch { step: schedule.choices.len() + 1, why };
    let mut scratch = system.scratch();
    if let Some(start) = schedule.cycle_start {
        closes(system, &mut scratch, &run.states, start).map_err(end)?;
        if counterexample.fairness && !is_weakly_fair(system, &run.states, &schedule.choices, start) {
            return Err(end("the cycle is not weakly fair".to_owned()));
        }
    }
    match witness {
        Some(witness) => witness(&mut scratch, &run.states, schedule.cycle_start).map_err(end)?,
        None if schedule.cycle_start.is_some() => {
            return Err(end(format!("a cycle is no proof of {}", counterexample.property.kind)));
        }
        None => {
            let found = failures_at_end(system, &mut scratch, &run);
            among(&found, counterexample.property.kind, &counterexample.message).map_err(end)?;
        }
    }
    Ok(run.trace)
}

/// Executes a finite schedule and checks that it ends in the given failure.
///
/// # Errors
/// If it shows something else.
pub fn confirm_finite<S: TransitionSystem>(
    system: &S,
    schedule: &Schedule,
    failure: &Failure,
) -> Result<Trace, Mismatch> {
    let run = run(system, schedule)?;
    let found = failures_at_end(system, &mut system.scratch(), &run);
    among(&found, failure.kind, &failure.message).map_err(|why| Mismatch { step: schedule.choices.len() + 1, why })?;
    Ok(run.trace)
}

fn among(found: &[Failure], kind: FailureKind, message: &str) -> Result<(), String> {
    if found.iter().any(|failure| failure.kind == kind && failure.message == message) {
        return Ok(());
    }
    match found.first() {
        None => Err(format!("expected {kind} ({message}), but nothing is wrong here")),
        Some(found) => Err(format!("expected {kind} ({message}), found {} ({})", found.kind, found.message)),
    }
}

/// What the last step does wrong, and what is wrong with the state after it: an assertion may fail right before a deadlock.
fn failures_at_end<S: TransitionSystem>(system: &S, scratch: &mut S::Scratch, run: &Run<S>) -> Vec<Failure> {
    let over = run.failure.as_ref().is_some_and(|failure| failure.fatal);
    let last = run.states.last().filter(|_| !over).and_then(|state| stuck(system, scratch, state));
    run.failure.iter().cloned().chain(last).collect()
}

/// What is wrong with a state because nothing can move in it.
pub(crate) fn stuck<S: TransitionSystem>(system: &S, scratch: &mut S::Scratch, state: &S::State) -> Option<Failure> {
    let moves = !system.enabled(scratch, state).is_empty();
    if moves { None } else { system.stuck(scratch, state) }
}

/// Whether the states from `start` on form a cycle. An empty cycle is a run that has ended: only time goes on.
pub(crate) fn closes<S: TransitionSystem>(
    system: &S,
    scratch: &mut S::Scratch,
    states: &[S::State],
    start: usize,
) -> Result<(), String> {
    let (Some(first), Some(last)) = (states.get(start), states.last()) else {
        return Err("the cycle starts after the last step".to_owned());
    };
    if start + 1 == states.len() {
        let ended = system.enabled(scratch, last).is_empty();
        return if ended { Ok(()) } else { Err("the run could go on, but the cycle is empty".to_owned()) };
    }
    if system.key(first) == system.key(last) {
        Ok(())
    } else {
        Err(format!("the cycle does not close: the state differs from that after step {start}"))
    }
}

/// Whether everyone who can always move on the cycle does move on it.
#[must_use]
pub fn is_weakly_fair<S: TransitionSystem>(system: &S, states: &[S::State], choices: &[Choice], start: usize) -> bool {
    let mut scratch = system.scratch();
    let (mut always, mut moved) = (Bits::ALL, Bits::EMPTY);
    for (state, &choice) in states.iter().zip(choices).skip(start) {
        always = always.intersection(system.enabled(&mut scratch, state));
        moved = moved.union(movers(system, &mut scratch, state, choice));
    }
    start == choices.len() || always.minus(moved).is_empty()
}

fn movers<S: TransitionSystem>(system: &S, scratch: &mut S::Scratch, state: &S::State, choice: Choice) -> Bits {
    let mut movers = Bits::EMPTY;
    let only = Selection::Only(Bits::one(choice.actor));
    system.steps(scratch, state, only, &mut |step: Step<'_, S::State>| {
        if step.choice != choice {
            return ControlFlow::Continue(());
        }
        movers = step.moved;
        ControlFlow::Break(())
    });
    movers
}
