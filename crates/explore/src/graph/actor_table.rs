//! The actors of all states. The same record occurs in thousands of states: each is interned.

use super::footprint_table::{FootprintId, LockId};
use crate::bits::Bits;
use rustc_hash::FxHashMap;

/// An actor in a state; actors by their dense numbers.
///
/// Everything about an actor that decides persistent sets; not what it is doing. Equal records are
/// one number, so comparing states' actors is comparing numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ActorRecord {
    /// Its number.
    pub actor: u32,
    /// How many choices it has; 0 if it is blocked.
    pub choices: u32,
    /// The footprint of its next step, or what it waits for.
    ///
    /// For a blocked actor: reads of what it waits for. So a write that would wake it conflicts
    /// with it, and C1' sees the dependence before the actor is enabled.
    pub pending: FootprintId,
    /// The actor that must move first, unless an interrupt comes.
    pub blocked_by: Option<u32>,
    /// Reads of the objects that end its wait whatever `blocked_by` does.
    pub interrupts: FootprintId,
    /// The locks that it holds.
    pub holds: LockId,
    /// Whether it is enabled only at quiescence.
    pub on_quiescence: bool,
    /// The kind of its choices.
    pub choice_kind: u8,
}

/// The actors of a new state.
pub struct NewActors {
    /// All of them.
    pub records: Vec<ActorRecord>,
    /// Those that are as in the predecessor.
    pub unchanged: Bits,
    /// Those with a next step that fails.
    pub failing: Bits,
}

/// The actors of the state in which a step is taken.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The actor that moves.
    pub mover: u32,
    /// Actors that exist, as far as they are computed.
    pub records: &'a [ActorRecord],
    /// Those of them whose pending footprint is not known yet.
    pub unknown: Bits,
}

/// The actors of one state: a range of the table.
#[derive(Clone, Copy)]
pub struct ActorList {
    first: usize,
    count: u32,
}

/// The actors of all states.
///
/// **Invariant:** every number in `list` and in `latest` (unless it is `u32::MAX`) is an index into `interned`.
///
/// O(1) amortised for each actor of a new state; with thousands of states that differ in one actor,
/// the list is four bytes an actor.
#[derive(Default)]
pub struct ActorTable {
    interned: Vec<ActorRecord>,
    ids: FxHashMap<ActorRecord, u32>,
    /// The last record of each actor: most often it is the same in the next state.
    latest: Vec<u32>,
    /// The records of one state after those of another.
    list: Vec<u32>,
}

impl ActorTable {
    /// Adds the actors of a state.
    pub fn add(&mut self, records: &[ActorRecord]) -> ActorList {
        let first = self.list.len();
        for record in records {
            let id = self.intern_latest(*record);
            self.list.push(id);
        }
        ActorList { first, count: u32::try_from(records.len()).expect("fewer than 2^32 actors") }
    }

    fn intern_latest(&mut self, record: ActorRecord) -> u32 {
        let actor = record.actor as usize;
        match self.latest.get(actor) {
            Some(id) if self.interned.get(*id as usize) == Some(&record) => return *id,
            Some(_) => {}
            None => self.latest.resize(actor + 1, u32::MAX),
        }
        self.latest[actor] = self.intern(record);
        self.latest[actor]
    }

    fn intern(&mut self, record: ActorRecord) -> u32 {
        let next = u32::try_from(self.interned.len()).expect("fewer than 2^32 records");
        let id = *self.ids.entry(record).or_insert(next);
        if id == next {
            self.interned.push(record);
        }
        id
    }

    /// The actors of a state.
    pub fn of(&self, list: ActorList) -> impl ExactSizeIterator<Item = &ActorRecord> {
        self.list[list.first..][..list.count as usize].iter().map(|id| &self.interned[*id as usize])
    }

    /// An actor of a state, if it exists there.
    pub fn find(&self, list: ActorList, actor: u32) -> Option<&ActorRecord> {
        self.of(list).find(|record| record.actor == actor)
    }

    /// Replaces the record of an actor in one state.
    pub fn replace(&mut self, list: ActorList, record: ActorRecord) {
        let place = self.of(list).position(|other| other.actor == record.actor).expect("a replaced actor exists");
        self.list[list.first + place] = self.intern(record);
    }

    /// Bytes, roughly.
    pub fn bytes(&self) -> u64 {
        (self.list.len() * size_of::<u32>() + 3 * self.interned.len() * size_of::<ActorRecord>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::footprint_table::UNLOCKED;

    fn record(actor: u32, choices: u32) -> ActorRecord {
        let (pending, interrupts) = (FootprintId(0), FootprintId(0));
        let (blocked_by, holds, on_quiescence, choice_kind) = (None, UNLOCKED, false, 0);
        ActorRecord { actor, choices, pending, blocked_by, interrupts, holds, on_quiescence, choice_kind }
    }

    #[test]
    fn a_record_replaced_in_one_state_stays_in_others() {
        let mut table = ActorTable::default();
        let one = table.add(&[record(1, 1), record(2, 0)]);
        let other = table.add(&[record(2, 0)]);
        table.replace(one, record(2, 1));
        let choices = |list| table.find(list, 2).map(|record| record.choices);
        assert_eq!((choices(one), choices(other)), (Some(1), Some(0)));
        assert_eq!((table.of(one).len(), table.interned.len()), (2, 3));
        assert!(table.find(other, 1).is_none());
    }
}
