//! Interned footprints. An object that only one actor has accessed is not *shared*: it takes part in no conflict.
//!
//! Two indices: by footprint (what does this step touch), and by object (who else touches it).
//! Objects are 64-bit numbers that the system chooses; only those that become shared get a dense
//! number, which keeps futures small: private memory, the bulk of all accesses, never enters them.

use super::components::Components;
use crate::footprint::{Access, normalise};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::sync::Arc;

/// Footprints that are found without being normalised.
const RECENT_MAX: usize = 1 << 14;

/// The footprint of one step of one actor, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FootprintId(pub u32);

/// A set of locks, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LockId(u32);

/// No lock.
pub const UNLOCKED: LockId = LockId(0);

/// An access to a shared object.
///
/// Locks are part of the access: the same read with and without a lock are two, because the lock
/// filter treats them differently.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SharedAccess {
    /// Its actor.
    pub actor: u32,
    /// The number of the object among shared ones.
    pub object: u32,
    /// Whether it writes.
    pub write: bool,
    /// Locks that its step holds or acquires: it is disabled while another actor holds one of them.
    pub locks: LockId,
}

/// The footprint of one step.
struct Set {
    actor: u32,
    locks: LockId,
    /// Normalised.
    accesses: Arc<[Access]>,
    /// Numbers of the accesses to shared objects.
    shared: Vec<u32>,
}

/// The actors that have accessed an object.
enum Owner {
    /// One actor; its footprints with the object.
    One(u32, Vec<FootprintId>),
    /// Several; the number of the object among shared ones.
    Shared(u32),
}

/// The footprints of all steps.
///
/// **Invariant:** two footprints of different actors with a common object both list it in `shared`, so that
/// [`FootprintTable::conflict`] and [`FootprintTable::rivals`] miss no conflict.
#[derive(Default)]
pub struct FootprintTable {
    sets: Vec<Set>,
    ids: FxHashMap<(u32, LockId, u128), FootprintId>,
    /// Numbers by hash of the footprint as reported: a step reports its accesses in the same order each time.
    recent: FxHashMap<u64, (Box<[Access]>, FootprintId)>,
    owners: FxHashMap<u64, Owner>,
    shared_accesses: Vec<SharedAccess>,
    shared_ids: FxHashMap<SharedAccess, u32>,
    /// Accesses to each shared object: writes, reads.
    by_object: Vec<[Vec<u32>; 2]>,
    /// Sets of locks; the first is empty.
    locks: Vec<Vec<u64>>,
    lock_ids: FxHashMap<Vec<u64>, LockId>,
    /// Actors that conflict with each other.
    components: Components,
    /// Whether footprints have got shared accesses since [`FootprintTable::take_grown`].
    grown: bool,
}

impl FootprintTable {
    /// The number of a footprint, which need not be normalised.
    ///
    /// Fast path by hash of the footprint as reported, compared in full; the slow path sorts and
    /// merges.
    pub fn intern(&mut self, actor: u32, locks: LockId, accesses: &[Access]) -> FootprintId {
        let hash = FxBuildHasher.hash_one((actor, locks, accesses));
        if let Some((known, id)) = self.recent.get(&hash) {
            let set = &self.sets[id.0 as usize];
            if (set.actor, set.locks, &**known) == (actor, locks, accesses) {
                return *id;
            }
        }
        let id = self.intern_normalised(actor, locks, accesses.to_vec());
        if self.recent.len() >= RECENT_MAX {
            self.recent.clear();
        }
        self.recent.insert(hash, (accesses.into(), id));
        id
    }

    fn intern_normalised(&mut self, actor: u32, locks: LockId, mut accesses: Vec<Access>) -> FootprintId {
        normalise(&mut accesses);
        let key = (actor, locks, fingerprint(&accesses));
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let id = FootprintId(u32::try_from(self.sets.len()).expect("fewer than 2^32 sets"));
        self.ids.insert(key, id);
        let accesses: Arc<[Access]> = accesses.into();
        self.sets.push(Set { actor, locks, accesses: Arc::clone(&accesses), shared: Vec::new() });
        accesses.iter().for_each(|access| self.add(id, actor, access));
        id
    }

    /// The number of a set of locks.
    pub fn locks(&mut self, locks: impl Iterator<Item = u64> + Clone) -> LockId {
        if self.locks.is_empty() {
            self.locks.push(Vec::new());
        }
        if locks.clone().next().is_none() {
            return UNLOCKED;
        }
        let mut locks: Vec<u64> = locks.collect();
        locks.sort_unstable();
        locks.dedup();
        if let Some(id) = self.lock_ids.get(&locks) {
            return *id;
        }
        let id = LockId(u32::try_from(self.locks.len()).expect("fewer than 2^32 sets"));
        self.locks.push(locks.clone());
        self.lock_ids.insert(locks, id);
        id
    }

    /// Whether two sets of locks have one in common.
    pub fn share_lock(&self, one: LockId, other: LockId) -> bool {
        if one == UNLOCKED || other == UNLOCKED {
            return false;
        }
        let other = &self.locks[other.0 as usize];
        self.locks[one.0 as usize].iter().any(|lock| other.binary_search(lock).is_ok())
    }

    /// Whether a step writes one of these locks.
    pub fn writes(&self, set: FootprintId, locks: LockId) -> bool {
        let is_written = |lock: &u64| self.find(set, *lock).is_some_and(|access| access.write);
        locks != UNLOCKED && self.locks[locks.0 as usize].iter().any(is_written)
    }

    /// The locks that a step holds or acquires.
    pub fn locks_of(&self, set: FootprintId) -> LockId {
        self.sets[set.0 as usize].locks
    }

    /// Adds an access to the index; the second actor of an object makes it shared, in earlier footprints too.
    ///
    /// An object changes from "one owner" to "shared" at most once, and then all footprints with it
    /// are amended: this is the only way in which old footprints grow.
    fn add(&mut self, id: FootprintId, actor: u32, access: &Access) {
        match self.owners.entry(access.object).or_insert_with(|| Owner::One(actor, Vec::new())) {
            Owner::One(owner, sets) if *owner == actor => sets.push(id),
            Owner::Shared(object) => {
                let object = *object;
                self.share(id, object, access.write);
            }
            Owner::One(_, sets) => {
                let object = u32::try_from(self.by_object.len()).expect("fewer than 2^32 objects");
                let earlier = std::mem::take(sets);
                self.by_object.push([Vec::new(), Vec::new()]);
                self.owners.insert(access.object, Owner::Shared(object));
                for set in earlier {
                    let write = self.find(set, access.object).is_some_and(|access| access.write);
                    self.share(set, object, write);
                }
                self.share(id, object, access.write);
                self.grown = true;
            }
        }
    }

    fn share(&mut self, set: FootprintId, object: u32, write: bool) {
        let Set { actor, locks, .. } = self.sets[set.0 as usize];
        let shared = self.shared_id(SharedAccess { actor, object, write, locks });
        self.sets[set.0 as usize].shared.push(shared);
    }

    fn shared_id(&mut self, shared: SharedAccess) -> u32 {
        let next = u32::try_from(self.shared_accesses.len()).expect("fewer than 2^32 accesses");
        let id = *self.shared_ids.entry(shared).or_insert(next);
        if id == next {
            self.shared_accesses.push(shared);
            self.by_object[shared.object as usize][usize::from(!shared.write)].push(next);
            let rivals: Vec<u32> = self.rivals(next).map(|(_, rival)| rival.actor).collect();
            rivals.into_iter().for_each(|rival| self.components.join(shared.actor, rival));
        }
        id
    }

    /// An actor creates another: what that will do is likely to concern it.
    pub fn relate(&mut self, actor: u32, creator: u32) {
        self.components.join(actor, creator);
    }

    /// The component of the conflict relation that an actor is in, by number.
    pub fn component(&self, actor: u32) -> u32 {
        self.components.of(actor)
    }

    /// The accesses of a footprint.
    pub fn of(&self, set: FootprintId) -> &[Access] {
        &self.sets[set.0 as usize].accesses
    }

    fn find(&self, set: FootprintId, object: u64) -> Option<&Access> {
        let accesses = &self.sets[set.0 as usize].accesses;
        accesses.binary_search_by_key(&object, |access| access.object).ok().map(|index| &accesses[index])
    }

    /// Numbers of the accesses of a footprint to shared objects.
    pub fn shared(&self, set: FootprintId) -> &[u32] {
        &self.sets[set.0 as usize].shared
    }

    /// The accesses of a footprint, to be shared with workers.
    pub fn arc(&self, set: FootprintId) -> &Arc<[Access]> {
        &self.sets[set.0 as usize].accesses
    }

    /// Whether footprints have got shared accesses since the last call.
    pub fn take_grown(&mut self) -> bool {
        std::mem::take(&mut self.grown)
    }

    /// Whether two steps are dependent.
    ///
    /// O(n * m) over shared accesses, which are a handful.
    pub fn conflict(&self, one: FootprintId, other: FootprintId) -> bool {
        let (one, other) = (&self.sets[one.0 as usize], &self.sets[other.0 as usize]);
        let conflicts = |a: u32| {
            let a = self.shared_accesses[a as usize];
            other.shared.iter().any(|b| {
                let b = self.shared_accesses[*b as usize];
                a.object == b.object && (a.write || b.write)
            })
        };
        one.actor != other.actor && one.shared.iter().any(|a| conflicts(*a))
    }

    /// Accesses of other actors that conflict with a shared access.
    pub fn rivals(&self, shared: u32) -> impl Iterator<Item = (u32, SharedAccess)> + '_ {
        let own = self.shared_accesses[shared as usize];
        let [writes, reads] = &self.by_object[own.object as usize];
        let reads: &[u32] = if own.write { reads } else { &[] };
        let all = writes.iter().chain(reads).map(|id| (*id, self.shared_accesses[*id as usize]));
        all.filter(move |(_, other)| other.actor != own.actor)
    }

    /// Bytes, roughly.
    pub fn bytes(&self) -> u64 {
        self.sets.iter().map(|set| 200 + 40 * set.accesses.len() as u64).sum::<u64>()
            + 64 * self.shared_accesses.len() as u64
    }
}

/// Fingerprint of a normalised footprint.
///
/// 128 bits decide equality of footprints. A collision would merge two footprints, with the same
/// odds as one of states.
fn fingerprint(accesses: &[Access]) -> u128 {
    let packed = |access: &Access| {
        let mut bytes = [0; PACKED];
        bytes[..8].copy_from_slice(&access.object.to_le_bytes());
        bytes[8] = u8::from(access.write) | u8::from(access.plain) << 1;
        bytes
    };
    // Most footprints are small: no allocation.
    let mut few = [[0; PACKED]; 32];
    match few.get_mut(..accesses.len()) {
        Some(few) => {
            few.iter_mut().zip(accesses).for_each(|(bytes, access)| *bytes = packed(access));
            twox_hash::XxHash3_128::oneshot(few.as_flattened())
        }
        None => twox_hash::XxHash3_128::oneshot(accesses.iter().map(packed).collect::<Vec<_>>().as_flattened()),
    }
}

/// Bytes of an access that decide its fingerprint.
const PACKED: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    fn access(object: u64, write: bool) -> Access {
        Access { object, write, plain: false }
    }

    #[test]
    fn an_object_is_shared_from_its_second_actor_on() {
        let mut table = FootprintTable::default();
        let one = table.intern(0, UNLOCKED, &[access(7, true), access(8, true)]);
        assert!(table.shared(one).is_empty());
        let other = table.intern(1, UNLOCKED, &[access(7, false)]);
        assert!(table.take_grown());
        assert_eq!((table.shared(one).len(), table.shared(other).len()), (1, 1));
        assert!(table.conflict(one, other));
    }

    #[test]
    fn two_readers_do_not_conflict() {
        let mut table = FootprintTable::default();
        let one = table.intern(0, UNLOCKED, &[access(7, false)]);
        let other = table.intern(1, UNLOCKED, &[access(7, false)]);
        assert!(!table.conflict(one, other));
    }
}
