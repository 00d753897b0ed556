//! Actors that steps of others end. What they were about to do is never executed behind such a step, so no event races with
//! it: it has to be looked at as if it had been executed at the end.

use super::race::Late;
use super::run::normalise;
use super::search::Search;
use crate::bits::Bits;
use crate::graph::{Access, Actor, FootprintSystem, Reached};

/// A step that an event keeps an actor from taking, because it ends the actor.
pub struct Prevented {
    /// The event's place in the execution.
    place: usize,
    actor: u32,
    accesses: Vec<Access>,
}

impl<T: FootprintSystem> Search<'_, T> {
    /// Notes whom a step ends that is about to be added to the execution. They may go first.
    pub(super) fn note_ended(&mut self, mover: u32, reached: &Reached<T::State>) {
        let frame = self.frames.last_mut().expect("it is taken somewhere");
        let lives_on = |number: u32| reached.actors.iter().any(|actor| actor.number == number);
        let is_ended = |(dense, actor): &&(u32, Actor)| *dense != mover && !lives_on(actor.number);
        let ended: Bits = frame.actors.iter().filter(is_ended).map(|(dense, _)| *dense).collect();
        if ended.is_empty() {
            return;
        }
        frame.backtrack = frame.backtrack.union(ended.intersection(frame.able()));
        self.look_at_waiting(|dense| ended.contains(dense));
        for actor in ended.iter() {
            let (place, accesses) = (self.run.events.len(), self.pending(actor));
            self.prevented.push(Prevented { place, actor, accesses });
        }
    }

    /// What the next step of an actor touches in the last state, or what it waits for.
    fn pending(&mut self, actor: u32) -> Vec<Access> {
        let last = self.frames.len() - 1;
        let waiting = self.frames[last].find(actor).filter(|actor| actor.choices == 0);
        let Some(waiting) = waiting else { return self.accesses_at(last, actor).to_vec() };
        let read = |object: &u64| Access { object: *object, write: false, plain: false };
        let mut accesses: Vec<Access> = waiting.awaits.iter().map(read).collect();
        normalise(&mut accesses);
        accesses
    }

    /// Lets those who were ended come before the events that ended them, also behind what happened besides.
    pub(super) fn look_at_ended(&mut self) {
        let prevented = std::mem::take(&mut self.prevented);
        for Prevented { place, actor, accesses } in &prevented {
            let conflicting = self.run.conflicting(*actor, accesses);
            let event = self.run.event(*actor, 0, accesses.clone(), &conflicting);
            self.ask(&Late::new(&self.run, &event, &conflicting), *place);
        }
        self.prevented = prevented;
    }

    /// The last event was taken back, with what it prevented.
    pub(super) fn forget_prevented(&mut self) {
        let left = self.run.events.len();
        self.prevented.retain(|prevented| prevented.place < left);
    }
}
