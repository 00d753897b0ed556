//! Robust futexes: what a thread held when it ended is marked, and one waiter is woken (`get_robust_list(2)`).

use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::errno::{EINVAL, EPERM, ESRCH};
use crate::id::{Pid, Tid};
use crate::{Kernel, futex};
use memory::{Memory, SpaceId};

/// Size of `struct robust_list_head`.
const HEAD_SIZE: u64 = 24;

/// A list may be a circle; the kernel looks at so many entries only.
const ENTRIES_MAX: usize = 2048;

/// `set_robust_list(2)`.
pub fn set_robust_list(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [head, length, ..] = call.args;
    if length != HEAD_SIZE {
        return Err(EINVAL.into());
    }
    call.thread_mut().robust_list = (head, length);
    Ok(0)
}

/// `get_robust_list(2)`.
pub fn get_robust_list(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [tid, head, length, ..] = call.args;
    let tid = if tid == 0 { call.tid } else { Tid(tid as u32) };
    let Some(thread) = call.kernel.threads.get(&tid) else { return Err(ESRCH.into()) };
    let (list, pid) = (thread.robust_list.0, thread.pid);
    if pid != call.pid && !call.can(Capability::Trace) {
        return Err(EPERM.into());
    }
    call.store_u64(length, HEAD_SIZE)?;
    call.store_u64(head, list)?;
    Ok(0)
}

/// Marks everything that the thread's list names and that it still holds.
pub fn release(kernel: &mut Kernel, memory: &mut Memory, tid: Tid) {
    let Some(thread) = kernel.threads.get_mut(&tid) else { return };
    let (head, _) = std::mem::take(&mut thread.robust_list);
    let pid = thread.pid;
    if head != 0 {
        // A broken list ends the walk, as any fault in it does in Linux.
        let _ = walk(kernel, memory, pid, tid, head);
    }
}

/// The next entry is read before this one is marked: marking wakes the next owner, who may free the
/// list's memory in user space (`exit_robust_list` in Linux).
fn walk(kernel: &mut Kernel, memory: &mut Memory, pid: Pid, tid: Tid, head: u64) -> Result<(), memory::Fault> {
    let space = kernel.processes.get(&pid).expect("a thread has a process").space;
    let mut entry = memory.read_u64(space, head)?;
    let offset = memory.read_u64(space, head.wrapping_add(8))?;
    let pending = memory.read_u64(space, head.wrapping_add(16))?;
    for _ in 0..ENTRIES_MAX {
        if entry & !1 == head {
            break;
        }
        let next = memory.read_u64(space, entry & !1);
        if entry != pending {
            mark(kernel, memory, Held { space, tid, entry, offset, is_pending: false })?;
        }
        entry = next?;
    }
    if pending != 0 {
        mark(kernel, memory, Held { space, tid, entry: pending, offset, is_pending: true })?;
    }
    Ok(())
}

/// A lock that a list names.
struct Held {
    space: SpaceId,
    tid: Tid,
    /// The list's entry; its lowest bit says that the lock inherits priority.
    entry: u64,
    offset: u64,
    /// It was about to be taken or released.
    is_pending: bool,
}

fn mark(kernel: &mut Kernel, memory: &mut Memory, held: Held) -> Result<(), memory::Fault> {
    let address = (held.entry & !1).wrapping_add(held.offset);
    let inherits = held.entry & 1 != 0;
    if !address.is_multiple_of(4) {
        return Ok(());
    }
    let value = memory.read_u32(held.space, address)?;
    if held.is_pending && !inherits && value == 0 {
        // It was released, but the thread ended before it could wake the next one.
        futex::wake_shared(kernel, memory, held.space, address, 1);
        return Ok(());
    }
    if value & futex::TID_MASK != held.tid.0 {
        return Ok(());
    }
    if inherits {
        return futex::hand_over(kernel, memory, held.space, address, futex::OWNER_DIED);
    }
    memory.write_u32(held.space, address, value & futex::WAITERS | futex::OWNER_DIED)?;
    if value & futex::WAITERS != 0 {
        futex::wake_shared(kernel, memory, held.space, address, 1);
    }
    Ok(())
}
