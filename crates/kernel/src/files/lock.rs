//! File locks as data: record locks (`fcntl(2)`, of processes and of open descriptions) and `flock(2)` locks.
//!
//! The two families know nothing of each other (`flock(2)`, NOTES).
//!
//! **Invariant:** `records` is sorted and merged after every change, so the locks are a function of
//! what is locked and not of the calls that led there: equal states are equal data. Waiters are not
//! here; they are threads with a [`LockRequest`] as their condition, and whoever moves first takes
//! the lock, so that every order of granting is searched.

use crate::id::{Id, Pid};
use std::collections::BTreeMap;

/// Whether others may hold it, too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Mode {
    /// With other readers.
    Shared,
    /// Alone.
    Exclusive,
}

/// Who holds a record lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Owner {
    /// A process (`F_SETLK`).
    Process(Pid),
    /// An open description (`F_OFD_SETLK`).
    Description(Id),
}

/// A lock on a range of bytes, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Record {
    /// First byte.
    pub start: u64,
    /// Last byte.
    pub end: u64,
    /// Who holds it.
    pub owner: Owner,
    /// How.
    pub mode: Mode,
}

/// The locks on one file.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Locks {
    /// Record locks, sorted; those of one owner do not overlap, and equal ones do not touch.
    pub(super) records: Vec<Record>,
    /// `flock(2)` locks, by description.
    pub(super) whole: BTreeMap<Id, Mode>,
}

/// A lock that a thread waits for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LockRequest {
    /// `F_SETLKW`.
    Record {
        /// The file.
        file: Id,
        /// The lock.
        record: Record,
    },
    /// `flock(2)`.
    Whole {
        /// The file.
        file: Id,
        /// Who asks.
        description: Id,
        /// How.
        mode: Mode,
    },
}

impl Record {
    fn overlaps(&self, other: &Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    pub(super) fn conflicts(&self, other: &Self) -> bool {
        let either_alone = self.mode == Mode::Exclusive || other.mode == Mode::Exclusive;
        self.owner != other.owner && either_alone && self.overlaps(other)
    }

    /// What is left of a lock when another range is taken out of it.
    fn without(self, range: &Self) -> impl Iterator<Item = Self> {
        let before = (self.start < range.start).then(|| Self { end: range.start.saturating_sub(1), ..self });
        let after = (self.end > range.end).then(|| Self { start: range.end + 1, ..self });
        [before, after].into_iter().flatten()
    }
}

impl Locks {
    /// The first lock in the way of another, by position.
    ///
    /// Linear in the locks of one file.
    #[must_use]
    pub fn in_the_way(&self, wanted: &Record) -> Option<&Record> {
        self.records.iter().find(|held| held.conflicts(wanted))
    }

    /// Takes a range out of what an owner holds.
    pub fn unlock(&mut self, range: &Record) {
        let cut = |held: Record| {
            let touched = held.owner == range.owner && held.overlaps(range);
            let (whole, parts) = if touched { (None, Some(held.without(range))) } else { (Some(held), None) };
            whole.into_iter().chain(parts.into_iter().flatten())
        };
        self.records = std::mem::take(&mut self.records).into_iter().flat_map(cut).collect();
        self.records.sort_unstable();
    }

    /// Takes a lock that nothing is in the way of; what the owner held there is replaced.
    pub fn lock(&mut self, record: Record) {
        self.unlock(&record);
        self.records.push(record);
        self.records.sort_unstable();
        self.merge(record.owner);
    }

    /// Joins locks of an owner that touch and are alike.
    fn merge(&mut self, owner: Owner) {
        let (own, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.records).into_iter().partition(|held| held.owner == owner);
        let mut merged: Vec<Record> = Vec::new();
        for next in own {
            match merged.last_mut() {
                Some(last) if last.mode == next.mode && last.end.checked_add(1) == Some(next.start) => {
                    last.end = next.end;
                }
                _ => merged.push(next),
            }
        }
        merged.extend(others);
        merged.sort_unstable();
        self.records = merged;
    }

    pub(super) fn release(&mut self, owner: Owner) {
        self.records.retain(|held| held.owner != owner);
    }

    pub(super) fn whole_is_free(&self, description: Id, mode: Mode) -> bool {
        let alone = |held: &Mode| mode == Mode::Exclusive || *held == Mode::Exclusive;
        !self.whole.iter().any(|(holder, held)| *holder != description && alone(held))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.whole.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(pid: u32, start: u64, end: u64, mode: Mode) -> Record {
        Record { start, end, owner: Owner::Process(Pid(pid)), mode }
    }

    #[test]
    fn unlocking_the_middle_splits_a_lock() {
        let mut locks = Locks::default();
        locks.lock(record(1, 0, 99, Mode::Exclusive));
        locks.unlock(&record(1, 40, 59, Mode::Exclusive));
        assert_eq!(locks.records, [record(1, 0, 39, Mode::Exclusive), record(1, 60, 99, Mode::Exclusive)]);
    }

    #[test]
    fn locks_that_touch_and_are_alike_become_one() {
        let mut locks = Locks::default();
        locks.lock(record(1, 0, 9, Mode::Shared));
        locks.lock(record(1, 20, 29, Mode::Shared));
        locks.lock(record(2, 5, 40, Mode::Shared));
        locks.lock(record(1, 10, 19, Mode::Shared));
        assert_eq!(locks.records, [record(1, 0, 29, Mode::Shared), record(2, 5, 40, Mode::Shared)]);
    }

    #[test]
    fn a_lock_of_another_kind_replaces_the_part_it_covers() {
        let mut locks = Locks::default();
        locks.lock(record(1, 0, 99, Mode::Shared));
        locks.lock(record(1, 10, 19, Mode::Exclusive));
        let expected =
            [record(1, 0, 9, Mode::Shared), record(1, 10, 19, Mode::Exclusive), record(1, 20, 99, Mode::Shared)];
        assert_eq!(locks.records, expected);
    }

    #[test]
    fn only_locks_of_others_that_overlap_are_in_the_way() {
        let mut locks = Locks::default();
        locks.lock(record(1, 10, 19, Mode::Shared));
        assert_eq!(locks.in_the_way(&record(2, 0, 9, Mode::Exclusive)), None);
        assert_eq!(locks.in_the_way(&record(2, 19, 30, Mode::Shared)), None);
        assert_eq!(locks.in_the_way(&record(1, 10, 30, Mode::Exclusive)), None);
        assert!(locks.in_the_way(&record(2, 19, 30, Mode::Exclusive)).is_some());
    }

    #[test]
    fn whole_locks_know_nothing_of_record_locks() {
        let mut locks = Locks::default();
        locks.lock(record(1, 0, u64::MAX, Mode::Exclusive));
        assert!(locks.whole_is_free(Id(1), Mode::Exclusive));
        locks.whole.insert(Id(1), Mode::Shared);
        assert!(locks.whole_is_free(Id(2), Mode::Shared));
        assert!(!locks.whole_is_free(Id(2), Mode::Exclusive));
        assert!(locks.whole_is_free(Id(1), Mode::Exclusive));
    }
}
