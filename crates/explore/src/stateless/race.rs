//! Which events a late step can be reordered before, and which steps can begin such a reversed execution.

use super::frame::Frame;
use crate::footprint::{Access, conflict};
use crate::happens_before::{Event, Execution, LateStep};

/// The pending step of an actor that an event ended, or interrupted where it waits: it races with that event although it is
/// not executed behind it.
pub struct Prevented {
    /// The event's place in the execution.
    pub place: usize,
    /// The actor that was ended or interrupted.
    pub actor: u32,
    /// The footprint of its pending step.
    pub accesses: Vec<Access>,
}

impl LateStep<'_> {
    /// Events that the step is to be reordered before. An event is passed over if it happens before a later one that the
    /// step could have been taken before: that race is reversed first. A later event that the step had to wait for (the
    /// release of a lock) hides nothing.
    ///
    /// The third condition for a race in the paper is that no event lies between in happens-before;
    /// "hidden" is that condition, relaxed for events which only enabled the late step.
    pub fn reversible<S>(&self, execution: &Execution, frames: &[Frame<S>]) -> Vec<usize> {
        let unordered: Vec<usize> =
            self.conflicting.iter().copied().filter(|place| self.is_unordered(execution, *place)).collect();
        let direct: Vec<usize> =
            unordered.iter().copied().filter(|place| self.was_enabled(execution, &frames[*place], *place)).collect();
        let hidden = |early: usize| {
            let between = direct.iter().filter(|place| **place > early);
            between.into_iter().any(|place| execution.events[early].is_in(&execution.events[*place].clock))
        };
        unordered.into_iter().filter(|place| !hidden(*place)).collect()
    }

    /// Whether the step itself was enabled just before the event at `place`.
    fn was_enabled<S>(&self, execution: &Execution, frame: &Frame<S>, place: usize) -> bool {
        execution.last_of(self.event.actor).is_none_or(|last| last < place) && frame.choices(self.event.actor) > 0
    }

    /// Whether the step cannot come before an event because its actor is blocked there, and none of the events in
    /// `concurrent` unblocks it.
    pub fn stays_blocked<S>(&self, execution: &Execution, frame: &Frame<S>, concurrent: &[usize]) -> bool {
        let actor = self.event.actor;
        let moves = concurrent.iter().any(|place| execution.events[*place].actor == actor);
        let Some(blocked) = frame.find(actor) else { return false };
        let written = |place: &usize| {
            let mut accesses = execution.events[*place].accesses.iter();
            accesses.any(|access| access.write && blocked.awaits.contains(&access.object))
        };
        !moves && blocked.choices == 0 && !concurrent.iter().any(written)
    }
}

/// The initials of some events: those with none of the others before them.
pub fn initials<'r>(execution: &'r Execution, places: &[usize]) -> Vec<&'r Event> {
    let mut initials = Vec::new();
    for (index, place) in places.iter().enumerate() {
        let event = &execution.events[*place];
        if !places[..index].iter().any(|earlier| execution.events[*earlier].is_in(&event.clock)) {
            initials.push(event);
        }
    }
    initials
}

/// Whether a sleeping step stays asleep when an event is added: it is independent of the event.
///
/// Godefroid's rule: what is dependent on the step that is taken wakes up.
pub fn stays_asleep(asleep: (u32, &[Access]), event: &Event) -> bool {
    asleep.0 != event.actor && !conflict(asleep.1, &event.accesses)
}
