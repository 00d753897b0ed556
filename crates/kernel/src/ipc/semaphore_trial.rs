//! Trying and carrying out operations on semaphores, and undoing them.

use super::semaphore::{SemaphoreRequest, Set, Undo, VALUE_MAX};
use crate::Kernel;
use crate::errno::{EAGAIN, EFBIG, ERANGE, Errno};
use crate::id::Pid;

/// `IPC_NOWAIT` in an operation.
const NO_WAIT: u16 = 0o4000;

/// What becomes of a request.
pub enum Trial {
    /// It can be carried out: the values then.
    Possible(Vec<i32>),
    /// The operation with this index has to wait.
    Blocked(usize),
    /// It fails.
    Wrong(Errno),
}

/// Tries a request against a set: one after the other, all or nothing (`semop(2)`).
pub fn attempt(kernel: &Kernel, set: &Set, request: &SemaphoreRequest) -> Trial {
    let mut values: Vec<i32> = set.semaphores.iter().map(|semaphore| semaphore.value).collect();
    for (index, operation) in request.operations.iter().enumerate() {
        let Some(value) = values.get_mut(usize::from(operation.semaphore)) else {
            return Trial::Wrong(EFBIG);
        };
        let after = *value + i32::from(operation.add);
        let blocked = after < 0 || operation.add == 0 && *value != 0;
        if blocked && operation.flags & NO_WAIT != 0 {
            return Trial::Wrong(EAGAIN);
        }
        if blocked {
            return Trial::Blocked(index);
        }
        if after > VALUE_MAX {
            return Trial::Wrong(ERANGE);
        }
        *value = after;
    }
    if undo_after(kernel, request).values().any(|sum| sum.abs() > VALUE_MAX) {
        return Trial::Wrong(ERANGE);
    }
    Trial::Possible(values)
}

/// What a process will undo once the request is carried out.
fn undo_after(kernel: &Kernel, request: &SemaphoreRequest) -> Undo {
    let mut undo = kernel.ipc.undo.get(&request.pid).cloned().unwrap_or_default();
    for operation in request.operations.iter().filter(|operation| operation.is_undone()) {
        *undo.entry((request.set, operation.semaphore)).or_default() -= i32::from(operation.add);
    }
    undo.retain(|_, sum| *sum != 0);
    undo
}

/// Whether a request could be carried out, or fail, now.
#[must_use]
pub fn may_operate(kernel: &Kernel, request: &SemaphoreRequest) -> bool {
    let set = kernel.ipc.sets.get(&request.set);
    set.is_none_or(|set| !matches!(attempt(kernel, set, request), Trial::Blocked(_)))
}

/// Carries a possible request out.
pub fn carry_out(kernel: &mut Kernel, request: &SemaphoreRequest, values: &[i32]) {
    let undo = undo_after(kernel, request);
    set_undo(kernel, request.pid, undo);
    let now = kernel.clock.real() / 1_000_000_000;
    let Some(set) = kernel.ipc.sets.get_mut(&request.set) else { return };
    for (semaphore, value) in set.semaphores.iter_mut().zip(values) {
        semaphore.value = *value;
    }
    for operation in &request.operations {
        set.semaphores[usize::from(operation.semaphore)].pid = request.pid.0;
    }
    set.times.0 = now;
}

fn set_undo(kernel: &mut Kernel, pid: Pid, undo: Undo) {
    if undo.is_empty() {
        kernel.ipc.undo.remove(&pid);
    } else if kernel.ipc.undo.get(&pid) != Some(&undo) {
        kernel.ipc.undo.insert(pid, undo);
    }
}

/// Undoes what a process that ends has done (`SEM_UNDO`).
pub fn undo(kernel: &mut Kernel, pid: Pid) {
    let Some(undo) = kernel.ipc.undo.remove(&pid) else { return };
    for ((set, semaphore), sum) in undo.iter() {
        let set = kernel.ipc.sets.get_mut(set);
        if let Some(semaphore) = set.and_then(|set| set.semaphores.get_mut(usize::from(*semaphore))) {
            // Linux goes as far as it can and no further (`semop(2)`, bugs).
            semaphore.value = (semaphore.value + sum).clamp(0, VALUE_MAX);
            semaphore.pid = pid.0;
        }
    }
}

/// Forgets what was to be undone: a semaphore was set, or its set removed.
pub fn forget_undo(kernel: &mut Kernel, set: i32, semaphore: Option<u16>) {
    let concerns = |key: &(i32, u16)| key.0 == set && semaphore.is_none_or(|semaphore| semaphore == key.1);
    let pids: Vec<Pid> =
        kernel.ipc.undo.iter().filter(|(_, undo)| undo.keys().any(concerns)).map(|(pid, _)| *pid).collect();
    for pid in pids {
        let mut undo = kernel.ipc.undo.get(&pid).cloned().unwrap_or_default();
        undo.retain(|key, _| !concerns(key));
        set_undo(kernel, pid, undo);
    }
}
