//! What steps touch, kept once for all states: objects that only one actor ever touches cannot matter.

use super::Touch;
use crate::bits::CAPACITY;
use crate::stateless::normalise;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::sync::Arc;

/// Sets that are found without being put in order.
const LATELY_MAX: usize = 1 << 14;

/// The touches of one step of one actor, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SetId(pub u32);

/// A set of locks, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LockId(u32);

/// No lock.
pub const UNLOCKED: LockId = LockId(0);

/// An access that may matter: actor, object, whether it writes, under which locks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// Who.
    pub actor: u32,
    /// What, by its number among shared objects.
    pub object: u32,
    /// Whether it writes.
    pub write: bool,
    /// The locks that are held then: its step cannot happen while another holds one of them.
    pub locks: LockId,
}

/// The touches of one step.
struct Set {
    actor: u32,
    locks: LockId,
    /// Sorted by object; one entry for each.
    touches: Arc<[Touch]>,
    /// Numbers of the accesses to shared objects.
    shared: Vec<u32>,
}

/// Who touched an object so far.
enum Owner {
    /// One actor; the sets in which it did.
    One(u32, Vec<SetId>),
    /// Several: its number among shared objects.
    Shared(u32),
}

/// All touches of all steps.
#[derive(Default)]
pub struct Touches {
    sets: Vec<Set>,
    ids: FxHashMap<(u32, LockId, u128), SetId>,
    /// The same by what was asked for lately, which is in no order: steps tell their touches in the same one each time.
    lately: FxHashMap<u64, (Box<[Touch]>, SetId)>,
    owners: FxHashMap<u64, Owner>,
    accesses: Vec<Access>,
    access_ids: FxHashMap<Access, u32>,
    /// Accesses to each shared object: those that write, those that read.
    by_object: Vec<[Vec<u32>; 2]>,
    /// Sets of locks; the first is empty.
    locks: Vec<Vec<u64>>,
    lock_ids: FxHashMap<Vec<u64>, LockId>,
    /// Sets whose shared accesses grew since the last look.
    grown: bool,
}

impl Touches {
    /// The number of a step's touches, which need not be in order.
    pub fn intern(&mut self, actor: u32, locks: LockId, touches: &[Touch]) -> SetId {
        let hash = FxBuildHasher.hash_one((actor, locks, touches));
        if let Some((known, id)) = self.lately.get(&hash) {
            let set = &self.sets[id.0 as usize];
            if (set.actor, set.locks, &**known) == (actor, locks, touches) {
                return *id;
            }
        }
        let id = self.intern_ordered(actor, locks, touches.to_vec());
        if self.lately.len() >= LATELY_MAX {
            self.lately.clear();
        }
        self.lately.insert(hash, (touches.into(), id));
        id
    }

    fn intern_ordered(&mut self, actor: u32, locks: LockId, mut touches: Vec<Touch>) -> SetId {
        normalise(&mut touches);
        let key = (actor, locks, fingerprint(&touches));
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let id = SetId(u32::try_from(self.sets.len()).expect("fewer than 2^32 sets"));
        self.ids.insert(key, id);
        let touches: Arc<[Touch]> = touches.into();
        self.sets.push(Set { actor, locks, touches: Arc::clone(&touches), shared: Vec::new() });
        touches.iter().for_each(|touch| self.touch(id, actor, touch));
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
    pub fn have_common(&self, one: LockId, other: LockId) -> bool {
        if one == UNLOCKED || other == UNLOCKED {
            return false;
        }
        let other = &self.locks[other.0 as usize];
        self.locks[one.0 as usize].iter().any(|lock| other.binary_search(lock).is_ok())
    }

    /// Whether a step may change one of these locks.
    pub fn writes(&self, set: SetId, locks: LockId) -> bool {
        let is_written = |lock: &u64| self.find(set, *lock).is_some_and(|touch| touch.write);
        locks != UNLOCKED && self.locks[locks.0 as usize].iter().any(is_written)
    }

    /// The locks under which a step happens.
    pub fn locks_of(&self, set: SetId) -> LockId {
        self.sets[set.0 as usize].locks
    }

    fn touch(&mut self, id: SetId, actor: u32, touch: &Touch) {
        match self.owners.entry(touch.object).or_insert_with(|| Owner::One(actor, Vec::new())) {
            Owner::One(owner, sets) if *owner == actor => sets.push(id),
            Owner::Shared(object) => {
                let object = *object;
                self.share(id, object, touch.write);
            }
            Owner::One(_, sets) => {
                let object = u32::try_from(self.by_object.len()).expect("fewer than 2^32 objects");
                let earlier = std::mem::take(sets);
                self.by_object.push([Vec::new(), Vec::new()]);
                self.owners.insert(touch.object, Owner::Shared(object));
                for set in earlier {
                    let write = self.find(set, touch.object).is_some_and(|touch| touch.write);
                    self.share(set, object, write);
                }
                self.share(id, object, touch.write);
                self.grown = true;
            }
        }
    }

    fn share(&mut self, set: SetId, object: u32, write: bool) {
        let Set { actor, locks, .. } = self.sets[set.0 as usize];
        let access = self.access_id(Access { actor, object, write, locks });
        self.sets[set.0 as usize].shared.push(access);
    }

    fn access_id(&mut self, access: Access) -> u32 {
        let next = u32::try_from(self.accesses.len()).expect("fewer than 2^32 accesses");
        *self.access_ids.entry(access).or_insert_with(|| {
            self.accesses.push(access);
            self.by_object[access.object as usize][usize::from(!access.write)].push(next);
            next
        })
    }

    /// The touches of a set.
    pub fn of(&self, set: SetId) -> &[Touch] {
        &self.sets[set.0 as usize].touches
    }

    fn find(&self, set: SetId, object: u64) -> Option<&Touch> {
        let touches = &self.sets[set.0 as usize].touches;
        touches.binary_search_by_key(&object, |touch| touch.object).ok().map(|index| &touches[index])
    }

    /// Numbers of the accesses of a set to shared objects.
    pub fn shared(&self, set: SetId) -> &[u32] {
        &self.sets[set.0 as usize].shared
    }

    /// Everything in a set.
    pub fn all(&self, set: SetId) -> &Arc<[Touch]> {
        &self.sets[set.0 as usize].touches
    }

    /// Whether sets grew since the last time this was asked.
    pub fn take_grown(&mut self) -> bool {
        std::mem::take(&mut self.grown)
    }

    /// Whether the order of two steps may matter.
    pub fn conflict(&self, one: SetId, other: SetId) -> bool {
        let (one, other) = (&self.sets[one.0 as usize], &self.sets[other.0 as usize]);
        let meets = |a: u32| {
            let a = self.accesses[a as usize];
            other.shared.iter().any(|b| {
                let b = self.accesses[*b as usize];
                a.object == b.object && (a.write || b.write)
            })
        };
        one.actor != other.actor && one.shared.iter().any(|a| meets(*a))
    }

    /// Accesses of others that conflict with this one.
    pub fn rivals(&self, access: u32) -> impl Iterator<Item = (u32, Access)> + '_ {
        let own = self.accesses[access as usize];
        let [writes, reads] = &self.by_object[own.object as usize];
        let reads: &[u32] = if own.write { reads } else { &[] };
        let all = writes.iter().chain(reads).map(|id| (*id, self.accesses[*id as usize]));
        all.filter(move |(_, other)| other.actor != own.actor)
    }

    /// Bytes, roughly.
    pub fn bytes(&self) -> u64 {
        self.sets.iter().map(|set| 200 + 40 * set.touches.len() as u64).sum::<u64>() + 64 * self.accesses.len() as u64
    }
}

/// What stands for sorted touches.
fn fingerprint(touches: &[Touch]) -> u128 {
    let packed = |touch: &Touch| {
        let mut bytes = [0; PACKED];
        bytes[..8].copy_from_slice(&touch.object.to_le_bytes());
        bytes[8] = u8::from(touch.write) | u8::from(touch.plain) << 1;
        bytes
    };
    // Most steps touch few things: no need to ask for memory.
    let mut few = [[0; PACKED]; 32];
    match few.get_mut(..touches.len()) {
        Some(few) => {
            few.iter_mut().zip(touches).for_each(|(bytes, touch)| *bytes = packed(touch));
            twox_hash::XxHash3_128::oneshot(few.as_flattened())
        }
        None => twox_hash::XxHash3_128::oneshot(touches.iter().map(packed).collect::<Vec<_>>().as_flattened()),
    }
}

/// Bytes of a touch that stand for it.
const PACKED: usize = 9;

/// Dense numbers of actors.
#[derive(Default)]
pub struct Actors {
    numbers: Vec<u32>,
    dense: FxHashMap<u32, u32>,
}

impl Actors {
    /// The dense number of an actor; nothing when there are too many.
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

    /// The number that the system gave.
    pub fn number(&self, dense: u32) -> u32 {
        self.numbers[dense as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(object: u64, write: bool) -> Touch {
        Touch { object, write, plain: false }
    }

    #[test]
    fn an_object_counts_from_the_second_actor_on() {
        let mut touches = Touches::default();
        let one = touches.intern(0, UNLOCKED, &[touch(7, true), touch(8, true)]);
        assert!(touches.shared(one).is_empty());
        let other = touches.intern(1, UNLOCKED, &[touch(7, false)]);
        assert!(touches.take_grown());
        assert_eq!((touches.shared(one).len(), touches.shared(other).len()), (1, 1));
        assert!(touches.conflict(one, other));
    }

    #[test]
    fn two_readers_do_not_conflict() {
        let mut touches = Touches::default();
        let one = touches.intern(0, UNLOCKED, &[touch(7, false)]);
        let other = touches.intern(1, UNLOCKED, &[touch(7, false)]);
        assert!(!touches.conflict(one, other));
    }
}
