//! Actors that steps of other actors end, disable, or interrupt where they wait. Their pending steps are never executed right
//! after such a step, so no event races with it: at the end of the execution they are examined as if they had been executed
//! there.

use super::race::Prevented;
use super::search::Search;
use crate::bits::Bits;
use crate::footprint::{Access, awaited};
use crate::footprint_system::{Actor, FootprintSystem, Reached};
use crate::happens_before::LateStep;

impl<T: FootprintSystem> Search<'_, T> {
    /// Notes the actors that a step ends which is about to be added to the execution; adds those that are enabled as
    /// backtrack points.
    ///
    /// Decision 14, "life": an actor that a step ends has nothing pending behind it. Without this,
    /// one class of three is lost in `T0: kill T2 | T1: x = 0; kill T0 | T2: end`.
    pub(super) fn note_ended(&mut self, mover: u32, reached: &Reached<T::State>) {
        let frame = self.frames.last_mut().expect("a step leaves a state");
        let lives_on = |number: u32| reached.actors.iter().any(|actor| actor.number == number);
        let is_ended = |(dense, actor): &&(u32, Actor)| *dense != mover && !lives_on(actor.number);
        let ended: Bits = frame.actors.iter().filter(is_ended).map(|(dense, _)| *dense).collect();
        if ended.is_empty() {
            return;
        }
        frame.backtrack = frame.backtrack.union(ended.intersection(frame.enabled()));
        self.reverse_blocked(|dense| ended.contains(dense));
        self.note_prevented(ended);
    }

    /// Adds enabled actors as backtrack points that the step about to be added disables, and that move at quiescence only.
    ///
    /// Time passes where nobody else can move. What comes to an end by itself (a paused program goes on, a delayed datagram
    /// arrives) can happen there, too, and lets others move: time, which waits for nothing that could be written, would race
    /// with no event. Without this, `alarm(1)` never ends a program that is paused.
    pub(super) fn note_disabled(&mut self, mover: u32, reached: &Reached<T::State>) {
        let frame = self.frames.last_mut().expect("a step leaves a state");
        let waits = |number: u32| {
            let mut after = reached.actors.iter().filter(|actor| actor.number == number);
            after.any(|actor| actor.choices == 0 && actor.on_quiescence)
        };
        let is_disabled = |(dense, actor): &&(u32, Actor)| *dense != mover && actor.choices > 0 && waits(actor.number);
        let disabled: Bits = frame.actors.iter().filter(is_disabled).map(|(dense, _)| *dense).collect();
        frame.backtrack = frame.backtrack.union(disabled);
    }

    /// Notes the pending steps of actors that the step prevents which is about to be added to the execution.
    pub(super) fn note_prevented(&mut self, actors: Bits) {
        for actor in actors.iter() {
            let (place, accesses) = (self.execution.events.len(), self.pending(actor));
            self.prevented.push(Prevented { place, actor, accesses });
        }
    }

    /// The pending footprint of an actor in the last state.
    fn pending(&mut self, actor: u32) -> Vec<Access> {
        let last = self.frames.len() - 1;
        match self.frames[last].find(actor).filter(|actor| actor.choices == 0) {
            Some(blocked) => awaited(&blocked.awaits),
            None => self.footprint_at(last, actor).to_vec(),
        }
    }

    /// Reverses the races of ended and interrupted actors with the events that ended and interrupted them.
    pub(super) fn reverse_prevented(&mut self) {
        let prevented = std::mem::take(&mut self.prevented);
        for Prevented { place, actor, accesses } in &prevented {
            let conflicting = self.execution.conflicting(*actor, accesses);
            let event = self.execution.event(*actor, 0, accesses.clone(), &conflicting);
            self.add_backtrack_point(&LateStep::new(&self.execution, &event, &conflicting), *place);
        }
        self.prevented = prevented;
    }

    /// The last event was taken back: forgets the steps that it prevented.
    pub(super) fn forget_prevented(&mut self) {
        let left = self.execution.events.len();
        self.prevented.retain(|prevented| prevented.place < left);
    }
}
