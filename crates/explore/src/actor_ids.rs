//! Dense numbers of actors, so that a set of actors is a [`crate::Bits`].

use crate::bits::CAPACITY;
use rustc_hash::FxHashMap;

/// Dense numbers, assigned in the order in which actors first occur.
///
/// **Invariant:** a dense number is below [`CAPACITY`], and stays with its actor for the whole search.
#[derive(Default)]
pub struct ActorIds {
    numbers: Vec<u32>,
    dense: FxHashMap<u32, u32>,
}

impl ActorIds {
    /// The dense number of an actor; nothing when there are more actors than a set can hold.
    pub fn dense(&mut self, number: u32) -> Option<u32> {
        if let Some(dense) = self.dense.get(&number) {
            return Some(*dense);
        }
        let next = self.numbers.len() as u32;
        if next >= CAPACITY {
            return None;
        }
        self.dense.insert(number, next);
        self.numbers.push(number);
        Some(next)
    }

    /// The system's own number of an actor.
    pub fn number(&self, dense: u32) -> u32 {
        self.numbers[dense as usize]
    }
}
