//! Partial-order reduction by persistent sets, from the footprints of pending steps and of futures.
//!
//! In each state a persistent set T of actors is expanded: no step that an actor outside T may ever take conflicts with the
//! next step of a member. T depends on the state alone, so the reduced state space is the same for
//! every search order and any number of workers.
//!
//! * C0, C1: T has an enabled actor, and is closed under conflicts between a member's next step and an outsider's future.
//! * C2 (properties): no enabled member's next step writes an object that the property reads.
//! * A step that fails fatally ends the run, so it depends on everything: see [`steps`].
//! * C3: no enabled member's next step may close a cycle of its control flow; every cycle of states contains such a
//!   step, so every cycle contains a state that is fully expanded, and no enabled actor is ignored for ever.

use crate::bits::{Bits, CAPACITY};
use crate::system::{Pending, Selection, Step, TransitionSystem};
use std::ops::ControlFlow;

/// Hands out the steps of the selected actors, and those of all others too if one of them fails fatally: such a step depends
/// on all others, so it must not be taken alone.
pub fn steps<S: TransitionSystem>(
    system: &S,
    scratch: &mut S::Scratch,
    state: &S::State,
    selection: Selection,
    visit: &mut impl FnMut(Step<'_, S::State>) -> ControlFlow<()>,
) {
    let Selection::Only(selected) = selection else {
        return system.steps(scratch, state, selection, visit);
    };
    let (mut fatal, mut broken) = (false, false);
    system.steps(scratch, state, selection, &mut |step| {
        fatal |= step.failure.is_some_and(|failure| failure.fatal);
        let flow = visit(step);
        broken |= flow.is_break();
        flow
    });
    if fatal && !broken {
        system.steps(scratch, state, Selection::Only(Bits::ALL.minus(selected)), visit);
    }
}

/// Chooses persistent sets; one for each worker.
#[derive(Debug)]
pub struct Reducer {
    actors: Vec<Pending>,
    visible: Option<Bits>,
    left_out: Option<LeftOut>,
}

/// A condition that is left out (mutation test).
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeftOut {
    /// C2: visible steps may be taken alone.
    Visibility,
    /// C3: an enabled actor may be ignored for ever.
    Cycles,
}

impl Reducer {
    /// Keeps stuck states and failures of steps.
    #[must_use]
    pub fn for_safety() -> Self {
        Self { actors: Vec::new(), visible: None, left_out: None }
    }

    /// Keeps the truth of properties without next-time that read these objects (C2).
    #[must_use]
    pub fn for_property(observed: Bits) -> Self {
        Self { visible: Some(observed), ..Self::for_safety() }
    }

    /// An unsound one.
    #[doc(hidden)]
    #[must_use]
    pub fn broken(left_out: LeftOut) -> Self {
        Self { left_out: Some(left_out), ..Self::for_safety() }
    }

    /// The actors to expand in `state`.
    pub fn select<S: TransitionSystem>(&mut self, system: &S, scratch: &mut S::Scratch, state: &S::State) -> Selection {
        self.actors.clear();
        system.pending(scratch, state, &mut self.actors);
        self.smallest().map_or(Selection::All, Selection::Only)
    }

    /// The usable persistent set with the fewest enabled actors; the first of several.
    fn smallest(&self) -> Option<Bits> {
        let enabled = self.actors.iter().filter(|actor| actor.enabled).count();
        let mut best: Option<(usize, Bits)> = None;
        for start in 0..self.actors.len() {
            // A set with one enabled actor cannot be beaten.
            if best.is_some_and(|(count, _)| count == 1) {
                break;
            }
            let limit = best.map_or(enabled, |(count, _)| count);
            if self.actors[start].enabled
                && let Some(found) = self.close(start, limit)
            {
                best = Some(found);
            }
        }
        best.map(|(_, set)| set)
    }

    /// Closes the set around one actor; `None` if it is unusable or has `limit` enabled actors or more.
    fn close(&self, start: usize, limit: usize) -> Option<(usize, Bits)> {
        let mut members = Bits::one(self.actors[start].actor);
        // Each actor is put on it at most once, and there are no more actors than a set can hold.
        let (mut agenda, mut length) = ([start as u8; CAPACITY as usize], 1);
        let mut enabled = 0;
        while length > 0 {
            length -= 1;
            let index = usize::from(agenda[length]);
            let member = &self.actors[index];
            if member.enabled {
                enabled += 1;
                if enabled >= limit || !self.may_move_alone(member) {
                    return None;
                }
            }
            for (other, outsider) in self.actors.iter().enumerate() {
                if !members.contains(outsider.actor) && member.next.conflicts(&outsider.future) {
                    members.insert(outsider.actor);
                    agenda[length] = other as u8;
                    length += 1;
                }
            }
        }
        Some((enabled, members))
    }

    /// C2 and C3 for an enabled member.
    fn may_move_alone(&self, member: &Pending) -> bool {
        let invisible = self.visible.is_none_or(|observed| !member.next.writes.meets(&observed));
        let goes_on = !member.closes_cycle || self.left_out == Some(LeftOut::Cycles);
        invisible && goes_on
    }
}
