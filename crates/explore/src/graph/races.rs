//! Data races of the explored states: two pending steps that conflict, one of them plain, without a common lock.

use super::actor_table::ActorRecord;
use super::footprint_table::{FootprintId, FootprintTable};
use crate::bits::Bits;
use crate::race::{Race, races_between};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Races so far.
///
/// Pairs of footprints are compared once in the whole search: the same two pending steps meet in
/// thousands of states.
#[derive(Default)]
pub struct Races {
    /// Each race with a state in which it can happen.
    pub found: BTreeMap<Race, u32>,
    compared: FxHashSet<(FootprintId, FootprintId)>,
}

impl Races {
    /// Compares the pending steps of a state in pairs: those of two enabled actors can happen in either order, and a blocked
    /// actor reads what it waits for all the time. Two unchanged actors were compared in the state before.
    pub fn compare_all(&mut self, at: u32, records: &[ActorRecord], unchanged: Bits, footprints: &FootprintTable) {
        for (index, one) in records.iter().enumerate() {
            let is_unchanged = unchanged.contains(one.actor);
            for other in &records[index + 1..] {
                let is_enabled = one.choices > 0 || other.choices > 0;
                let is_new = !(is_unchanged && unchanged.contains(other.actor));
                if is_new && is_enabled && self.compared.insert((one.pending, other.pending)) {
                    self.compare(at, one, other, footprints);
                }
            }
        }
    }

    fn compare(&mut self, at: u32, one: &ActorRecord, other: &ActorRecord, footprints: &FootprintTable) {
        if footprints.share_lock(footprints.locks_of(one.pending), footprints.locks_of(other.pending)) {
            return;
        }
        let (one, other) = ((one.actor, one.pending), (other.actor, other.pending));
        for race in races_between((one.0, footprints.of(one.1)), (other.0, footprints.of(other.1))) {
            self.found.entry(race).or_insert(at);
        }
    }
}
