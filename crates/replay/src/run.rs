//! Taking a whole schedule and telling what happened.

use crate::system::Replayable;
use crate::timeline::{Timeline, Told};
use explore::Failure;
use std::fmt;
use trace::{ActorName, Event, Schedule, Trace, TraceStep};

/// A schedule that was executed.
#[derive(Debug)]
pub struct Run<S> {
    /// What happened.
    pub trace: Trace,
    /// Every state, the initial one first: one more than there are steps.
    pub states: Vec<S>,
    /// What went wrong on the last step, if anything.
    pub failure: Option<Failure>,
}

/// Where and why an execution does not follow what it should show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// The step, counted from 1; one more than there are steps if the end is wrong.
    pub step: usize,
    /// Why.
    pub why: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step {}: {}", self.step, self.why)
    }
}

impl std::error::Error for Mismatch {}

/// Takes every choice of a schedule.
///
/// # Errors
/// If a choice does not exist, or a step before the last one ends the world.
pub fn run<R: Replayable>(system: &mut R, schedule: &Schedule) -> Result<Run<R::State>, Mismatch> {
    let mut timeline = Timeline::new(system, schedule.choices.clone());
    let mut states = vec![timeline.state().clone()];
    let mut trace = Trace { cycle_start: schedule.cycle_start, ..Trace::default() };
    let mut failure = None;
    while let Some(told) = timeline.forward()? {
        let after = timeline.state().clone();
        introduce(timeline.at_mark().0, &mut trace.actors, &told.step, &states[states.len() - 1], &after);
        states.push(after);
        failure = goes_on(&told, timeline.mark() < timeline.len(), timeline.mark())?;
        trace.steps.push(told.step);
    }
    Ok(Run { trace, states, failure })
}

fn goes_on(told: &Told, more: bool, step: usize) -> Result<Option<Failure>, Mismatch> {
    match &told.failure {
        Some(failure) if failure.fatal && more => {
            Err(Mismatch { step, why: format!("the run ends here: {}", failure.message) })
        }
        other => Ok(other.clone()),
    }
}

/// Names everyone who takes part in a step. A process number may be used again, so a new name is recorded beside the old.
pub fn introduce<R: Replayable>(
    system: &mut R,
    actors: &mut Vec<ActorName>,
    step: &TraceStep,
    before: &R::State,
    after: &R::State,
) {
    let partners = |event: &Event| event.message.as_ref().and_then(|message| message.partner);
    let movers = step.events.iter().flat_map(|event| [Some(event.actor), partners(event)]).flatten();
    let movers = std::iter::once(step.choice.actor).chain(movers);
    let created = step.events.iter().filter_map(|event| event.created);
    let named = movers.map(|actor| (actor, before)).chain(created.map(|actor| (actor, after)));
    for (actor, state) in named {
        let name = system.actor_name(state, actor);
        let known = actors.iter().rev().find(|known| known.actor == actor);
        if known.is_none_or(|known| known.name != name) {
            actors.push(ActorName { actor, name });
        }
    }
}
