//! Taking and releasing file locks, and who is in whose way.

use super::lock::{LockRequest, Locks, Mode, Owner, Record};
use crate::Kernel;
use crate::descriptor::File;
use crate::id::{Id, Pid};
use crate::wait::Condition;
use std::collections::BTreeSet;

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
