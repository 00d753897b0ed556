//! Every counterexample is replayed before it is shown.

use crate::run::{Mismatch, Run, run};
use crate::system::Replayable;
use explore::Failure;
use trace::{Choice, Counterexample, FailureKind, Schedule, Trace};

/// Judges what the system itself cannot see: whether these states, with the cycle starting at the given one, refute a
/// formula or match a claim. Says why not.
pub type Witness<'w, R> = dyn FnMut(&mut R, &[<R as Replayable>::State], Option<usize>) -> Result<(), String> + 'w;

/// Executes a counterexample and checks that it shows what it says.
///
/// A lasso must close, be weakly fair if it says so, and be judged by a witness; a finite one must end in the failure of
/// the same kind and with the same message, unless a witness judges it.
///
/// # Errors
/// If it shows something else.
pub fn confirm<R: Replayable>(
    system: &mut R,
    counterexample: &Counterexample,
    witness: Option<&mut Witness<'_, R>>,
) -> Result<Trace, Mismatch> {
    let schedule = &counterexample.schedule;
    let run = run(system, schedule)?;
    let end = |why: String| Mismatch { step: schedule.choices.len() + 1, why };
    if let Some(start) = schedule.cycle_start {
        closes(system, &run.states, start).map_err(end)?;
        if counterexample.fairness && !is_weakly_fair(system, &run.states, &schedule.choices, start) {
            return Err(end("the cycle is not weakly fair".to_owned()));
        }
    }
    match witness {
        Some(witness) => witness(system, &run.states, schedule.cycle_start).map_err(end)?,
        None if schedule.cycle_start.is_some() => {
            return Err(end(format!("a cycle is no proof of {}", counterexample.property.kind)));
        }
        None => {
            let found = failures_at_end(system, &run);
            among(&found, counterexample.property.kind, &counterexample.message).map_err(end)?;
        }
    }
    Ok(run.trace)
}

/// Executes a finite schedule and checks that it ends in the given failure.
///
/// # Errors
/// If it shows something else.
pub fn confirm_finite<R: Replayable>(
    system: &mut R,
    schedule: &Schedule,
    failure: &Failure,
) -> Result<Trace, Mismatch> {
    let run = run(system, schedule)?;
    let found = failures_at_end(system, &run);
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
fn failures_at_end<R: Replayable>(system: &mut R, run: &Run<R::State>) -> Vec<Failure> {
    let over = run.failure.as_ref().is_some_and(|failure| failure.fatal);
    let last = run.states.last().filter(|_| !over).and_then(|state| system.stuck(state));
    run.failure.iter().cloned().chain(last).collect()
}

/// Whether the states from `start` on form a cycle. An empty cycle is a run that has ended: only time goes on.
pub(crate) fn closes<R: Replayable>(system: &mut R, states: &[R::State], start: usize) -> Result<(), String> {
    let (Some(first), Some(last)) = (states.get(start), states.last()) else {
        return Err("the cycle starts after the last step".to_owned());
    };
    if start + 1 == states.len() {
        let ended = system.enabled(last).is_empty();
        return if ended { Ok(()) } else { Err("the run could go on, but the cycle is empty".to_owned()) };
    }
    match system.is_same(first, last) {
        true => Ok(()),
        false => Err(format!("the cycle does not close: the state differs from that after step {start}")),
    }
}

/// Whether every actor that is enabled throughout the cycle moves on it.
#[must_use]
pub fn is_weakly_fair<R: Replayable>(system: &mut R, states: &[R::State], choices: &[Choice], start: usize) -> bool {
    let mut always: Option<Vec<u32>> = None;
    let mut moved = Vec::new();
    for (state, &choice) in states.iter().zip(choices).skip(start) {
        let enabled = system.enabled(state);
        always = Some(match always {
            None => enabled,
            Some(always) => always.into_iter().filter(|actor| enabled.contains(actor)).collect(),
        });
        moved.extend(system.moved(state, choice));
    }
    always.is_none_or(|always| always.iter().all(|actor| moved.contains(actor)))
}
