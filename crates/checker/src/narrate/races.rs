//! A race, shown again: both accesses come next in one state, and each is made.

use super::place::is_in_atomic;
use crate::store_buffer::drained_thread;
use crate::system::programs::Programs;
use crate::system::state::Snapshot;
use debuginfo::{DebugInfo, Variable};
use explore::graph::{FootprintSystem, Race, Reached};
use kernel::Tid;
use memory::SpaceId;
use trace::Choice;

/// A race that was shown again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// What is at the word, if anybody knows.
    pub variable: Option<Variable>,
    /// The word is made for use by several threads at once, or both accesses are made by functions that are.
    pub is_atomic: bool,
    /// The two choices that make the accesses.
    pub choices: [Choice; 2],
    /// One place where it is mapped.
    pub place: (SpaceId, u64),
}

impl Programs {
    /// Shows a race again; nothing if it does not happen.
    pub fn show_race(&mut self, race: &Race, way: &[Choice]) -> Option<Shown> {
        let mut reached = self.initial();
        for choice in way {
            reached = self.step(&reached.state, *choice)?.reached;
        }
        let one = self.makes(&reached, race.one, race.object)?;
        let other = self.makes(&reached, race.other, race.object)?;
        self.load(&reached.state);
        let place = *self.executor.words.get(&race.object)?.first()?;
        let mut info = self.debug_info();
        let variable = info.variable_at(&self.state.world, place.0, place.1);
        let is_of_atomic = variable.as_ref().is_some_and(|variable| variable.is_atomic);
        let is_atomic = is_of_atomic || [one, other].iter().all(|choice| self.is_made_in_atomic(&mut info, *choice));
        self.info = Some(info);
        Some(Shown { variable, is_atomic, choices: [one, other], place })
    }

    /// Whether an access is made in a function of atomics: that of a drain was made when the thread stored.
    fn is_made_in_atomic(&mut self, info: &mut DebugInfo, choice: Choice) -> bool {
        let Some(tid) = drained_thread(choice.actor) else {
            return is_in_atomic(info, &self.state.world, Tid(choice.actor));
        };
        let rip = self.state.buffered(tid).first().map(|store| store.rip);
        rip.is_some_and(|rip| self.state.at_instruction(tid, rip, |world| is_in_atomic(info, world, tid)))
    }

    /// The choice of somebody that touches an object as it should, if there is one.
    fn makes(&mut self, at: &Reached<Snapshot>, (actor, write): (u32, bool), object: u64) -> Option<Choice> {
        let choices = at.actors.iter().find(|known| known.number == actor).map_or(0, |actor| actor.choices);
        let choice = |index| Choice { actor, index };
        (0..choices).map(choice).find(|choice| {
            let taken = self.step(&at.state, *choice);
            let accesses = taken.map(|taken| taken.accesses).unwrap_or_default();
            accesses.iter().any(|access| access.object == object && access.plain && (access.write || !write))
        })
    }
}
