//! Who is in a state, and how. The same come in thousands of states: each is kept once.

use super::footprint_table::{FootprintId, LockId};
use rustc_hash::FxHashMap;

/// Somebody in a state; actors by their dense numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Present {
    /// Who.
    pub actor: u32,
    /// How many choices; 0 if it waits.
    pub choices: u32,
    /// What its next step touches, or what it waits for.
    pub pending: FootprintId,
    /// Who must move first, but for alarms.
    pub behind: Option<u32>,
    /// What ends its wait in any case.
    pub alarms: FootprintId,
    /// The locks that it holds.
    pub holds: LockId,
    /// Whether it moves where nobody gets on.
    pub last: bool,
    /// What its choices are about.
    pub sort: u8,
}

/// Everybody in a state: a part of the list.
#[derive(Clone, Copy)]
pub struct Everybody {
    first: usize,
    count: u32,
}

/// Everybody in all states.
#[derive(Default)]
pub struct Presents {
    known: Vec<Present>,
    ids: FxHashMap<Present, u32>,
    /// The last of each actor: most often it is as it was in the state before.
    lately: Vec<u32>,
    /// Those of one state after those of another, by number.
    list: Vec<u32>,
}

impl Presents {
    /// Adds those of a state.
    pub fn add(&mut self, all: &[Present]) -> Everybody {
        let first = self.list.len();
        for present in all {
            let id = self.lately(*present);
            self.list.push(id);
        }
        Everybody { first, count: u32::try_from(all.len()).expect("fewer than 2^32 actors") }
    }

    fn lately(&mut self, present: Present) -> u32 {
        let actor = present.actor as usize;
        match self.lately.get(actor) {
            Some(id) if self.known.get(*id as usize) == Some(&present) => return *id,
            Some(_) => {}
            None => self.lately.resize(actor + 1, u32::MAX),
        }
        self.lately[actor] = self.intern(present);
        self.lately[actor]
    }

    fn intern(&mut self, present: Present) -> u32 {
        let next = u32::try_from(self.known.len()).expect("fewer than 2^32 of them");
        let id = *self.ids.entry(present).or_insert(next);
        if id == next {
            self.known.push(present);
        }
        id
    }

    /// Those of a state.
    pub fn of(&self, all: Everybody) -> impl ExactSizeIterator<Item = &Present> {
        self.list[all.first..][..all.count as usize].iter().map(|id| &self.known[*id as usize])
    }

    /// Somebody of a state, if there.
    pub fn find(&self, all: Everybody, actor: u32) -> Option<&Present> {
        self.of(all).find(|present| present.actor == actor)
    }

    /// Puts somebody in the place of who is the same actor.
    pub fn replace(&mut self, all: Everybody, present: Present) {
        let place = self.of(all).position(|other| other.actor == present.actor).expect("who is replaced is there");
        self.list[all.first + place] = self.intern(present);
    }

    /// Bytes, roughly.
    pub fn bytes(&self) -> u64 {
        (self.list.len() * size_of::<u32>() + 3 * self.known.len() * size_of::<Present>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::footprint_table::UNLOCKED;

    fn present(actor: u32, choices: u32) -> Present {
        let (pending, alarms) = (FootprintId(0), FootprintId(0));
        Present { actor, choices, pending, behind: None, alarms, holds: UNLOCKED, last: false, sort: 0 }
    }

    #[test]
    fn whoever_is_replaced_in_one_state_stays_in_others() {
        let mut presents = Presents::default();
        let one = presents.add(&[present(1, 1), present(2, 0)]);
        let other = presents.add(&[present(2, 0)]);
        presents.replace(one, present(2, 1));
        let choices = |all| presents.find(all, 2).map(|present| present.choices);
        assert_eq!((choices(one), choices(other)), (Some(1), Some(0)));
        assert_eq!((presents.of(one).len(), presents.known.len()), (2, 3));
        assert!(presents.find(other, 1).is_none());
    }
}
