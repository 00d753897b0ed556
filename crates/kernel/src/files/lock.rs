//! File locks as data: record locks (`fcntl(2)`, of processes and of open descriptions) and `flock(2)` locks.
//!
//! The two families know nothing of each other (`flock(2)`, NOTES).

use crate::Kernel;
use crate::descriptor::File;
use crate::id::{Id, Pid};
use crate::wait::Condition;
use std::collections::{BTreeMap, BTreeSet};

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
    records: Vec<Record>,
    /// `flock(2)` locks, by description.
    whole: BTreeMap<Id, Mode>,
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

    fn conflicts(&self, other: &Self) -> bool {
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

    fn release(&mut self, owner: Owner) {
        self.records.retain(|held| held.owner != owner);
    }

    fn whole_is_free(&self, description: Id, mode: Mode) -> bool {
        let alone = |held: &Mode| mode == Mode::Exclusive || *held == Mode::Exclusive;
        !self.whole.iter().any(|(holder, held)| *holder != description && alone(held))
    }

    fn is_empty(&self) -> bool {
        self.records.is_empty() && self.whole.is_empty()
    }
}

/// What locks on a file are kept under.
#[must_use]
pub fn key(file: File) -> Option<Id> {
    match file {
        File::Inode(id) | File::Text(id) => Some(id),
        File::PipeReader(id) | File::PipeWriter(id) | File::PipeBoth(id) | File::Socket(id) => Some(id),
        File::Device(number) => Some(Id::named("device").child(number.into())),
        File::Console(stream) => Some(Id::named("console").child(stream as u64)),
        _ => None,
    }
}

/// Changes the locks of a file.
pub fn change(kernel: &mut Kernel, file: Id, with: impl FnOnce(&mut Locks)) {
    let mut locks = kernel.files.locks.get(&file).cloned().unwrap_or_default();
    with(&mut locks);
    if locks.is_empty() {
        kernel.files.locks.remove(&file);
    } else {
        kernel.files.locks.insert(file, locks);
    }
}

/// The record lock in the way of another.
#[must_use]
pub fn in_the_way(kernel: &Kernel, file: Id, wanted: &Record) -> Option<Record> {
    kernel.files.locks.get(&file)?.in_the_way(wanted).copied()
}

/// Whether a `flock(2)` lock could be taken.
#[must_use]
pub fn whole_is_free(kernel: &Kernel, file: Id, description: Id, mode: Mode) -> bool {
    kernel.files.locks.get(&file).is_none_or(|locks| locks.whole_is_free(description, mode))
}

/// The `flock(2)` lock that a description holds.
#[must_use]
pub fn whole_of(kernel: &Kernel, file: Id, description: Id) -> Option<Mode> {
    kernel.files.locks.get(&file)?.whole.get(&description).copied()
}

/// Takes, or gives back, a `flock(2)` lock.
pub fn set_whole(kernel: &mut Kernel, file: Id, description: Id, mode: Option<Mode>) {
    change(kernel, file, |locks| {
        match mode {
            Some(mode) => locks.whole.insert(description, mode),
            None => locks.whole.remove(&description),
        };
    });
}

/// Whether a lock could be taken now.
#[must_use]
pub fn may_lock(kernel: &Kernel, request: &LockRequest) -> bool {
    match request {
        LockRequest::Record { file, record } => in_the_way(kernel, *file, record).is_none(),
        LockRequest::Whole { file, description, mode } => whole_is_free(kernel, *file, *description, *mode),
    }
}

/// A process has closed a descriptor of a file: all its record locks there are released (`fcntl(2)`).
pub fn closed_by(kernel: &mut Kernel, pid: Pid, file: Id) {
    if kernel.files.locks.contains_key(&file) {
        change(kernel, file, |locks| locks.release(Owner::Process(pid)));
    }
}

/// A description was closed for good: its own locks are released.
pub fn description_closed(kernel: &mut Kernel, description: Id, file: Id) {
    if kernel.files.locks.contains_key(&file) {
        change(kernel, file, |locks| {
            locks.release(Owner::Description(description));
            locks.whole.remove(&description);
        });
    }
}

/// Whether waiting would close a circle of processes that wait for each other's record locks (`EDEADLK`).
#[must_use]
pub fn would_deadlock(kernel: &Kernel, file: Id, wanted: &Record) -> bool {
    let mut seen = BTreeSet::new();
    let mut frontier = blockers(kernel, file, wanted);
    while let Some(owner) = frontier.pop() {
        if owner == wanted.owner {
            return true;
        }
        if seen.insert(owner) {
            frontier
                .extend(waits_of(kernel, owner).into_iter().flat_map(|(file, record)| blockers(kernel, file, &record)));
        }
    }
    false
}

/// Processes that hold locks in the way of one.
fn blockers(kernel: &Kernel, file: Id, wanted: &Record) -> Vec<Owner> {
    let Some(locks) = kernel.files.locks.get(&file) else { return Vec::new() };
    let in_the_way = locks.records.iter().filter(|held| held.conflicts(wanted));
    in_the_way.map(|held| held.owner).filter(|owner| matches!(owner, Owner::Process(_))).collect()
}

/// Record locks that a process waits for.
fn waits_of(kernel: &Kernel, owner: Owner) -> Vec<(Id, Record)> {
    let conditions = kernel.threads.values().filter_map(|thread| thread.wait.as_ref()).flat_map(|wait| &wait.until);
    let requests = conditions.filter_map(|condition| match condition {
        Condition::Lock(LockRequest::Record { file, record }) if record.owner == owner => Some((*file, *record)),
        _ => None,
    });
    requests.collect()
}

/// All record and whole-file locks, for `/proc/locks`.
pub fn all(kernel: &Kernel) -> impl Iterator<Item = (Id, Option<Record>, Option<Mode>)> {
    kernel.files.locks.iter().flat_map(|(file, locks)| {
        let records = locks.records.iter().map(|record| (*file, Some(*record), None));
        let whole = locks.whole.values().map(|mode| (*file, None, Some(*mode)));
        records.chain(whole).collect::<Vec<_>>()
    })
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
