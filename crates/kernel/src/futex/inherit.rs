//! Locks that inherit priority: the word holds the owner's number, and the kernel hands the lock on (`futex(2)`).
//!
//! Unlike other futexes these have an owner that the kernel knows, so that `FUTEX_UNLOCK_PI` hands
//! the lock to a waiter directly: nobody can come in between, and the waiter does not look again.
//! Priorities themselves are not modelled: order of arrival decides, which is what Linux does among
//! equal priorities.

use super::{Key, TID_MASK, WAITERS, Waiting, enqueue, key, leave, load_deadline, rouse};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::errno::{EAGAIN, EDEADLOCK, EPERM, ESRCH, ETIMEDOUT};
use crate::id::Tid;
use crate::wait::Interruption;
use memory::{Fault, Memory, SpaceId};

/// `FUTEX_LOCK_PI`, `FUTEX_LOCK_PI2`.
pub fn lock(call: &mut Call<'_>, waiting: Waiting) -> Result<u64, Stop> {
    if let Some(wait) = &call.resumed {
        if wait.woken {
            // Whoever had the lock has made us its owner.
            return Ok(0);
        }
        leave(call.kernel, call.tid);
        return Err(ETIMEDOUT.into());
    }
    let deadline = load_deadline(call, &waiting)?;
    let key = key(call, waiting.address, waiting.is_private)?;
    if take(call, waiting.address)? {
        return Ok(0);
    }
    if deadline.is_some_and(|deadline| call.kernel.clock.now() >= deadline) {
        return Err(ETIMEDOUT.into());
    }
    let word = call.load_u32(waiting.address)?;
    call.store_u32(waiting.address, word | WAITERS)?;
    // Linux restarts it whatever the handler says, with the same absolute time.
    Err(enqueue(call, key, &waiting).deadline(deadline).interruption(Interruption::Again).into())
}

/// `FUTEX_TRYLOCK_PI`.
pub fn try_lock(call: &mut Call<'_>, address: u64, is_private: bool) -> Result<u64, Stop> {
    key(call, address, is_private)?;
    if take(call, address)? { Ok(0) } else { Err(EAGAIN.into()) }
}

/// Takes the lock if nobody living has it; the mark of a dead owner stays.
///
/// `ESRCH` for an owner that does not exist: the word is garbage, or its owner died without a
/// robust list.
fn take(call: &mut Call<'_>, address: u64) -> Result<bool, Stop> {
    let word = call.load_u32(address)?;
    let owner = word & TID_MASK;
    if owner == call.tid.0 {
        return Err(EDEADLOCK.into());
    }
    if owner == 0 {
        call.store_u32(address, word & !TID_MASK | call.tid.0)?;
        return Ok(true);
    }
    if call.kernel.threads.contains_key(&Tid(owner)) { Ok(false) } else { Err(ESRCH.into()) }
}

/// `FUTEX_UNLOCK_PI`.
pub fn unlock(call: &mut Call<'_>, address: u64, is_private: bool) -> Result<u64, Stop> {
    let key = key(call, address, is_private)?;
    if call.load_u32(address)? & TID_MASK != call.tid.0 {
        return Err(EPERM.into());
    }
    let space = call.space();
    give(call.kernel, call.memory, space, address, key, 0).map_err(|_| crate::errno::EFAULT)?;
    Ok(0)
}

/// A thread that owns a lock has ended: the next one gets it, with the mark of the dead.
pub fn hand_over(
    kernel: &mut Kernel,
    memory: &mut Memory,
    space: SpaceId,
    address: u64,
    mark: u32,
) -> Result<(), Fault> {
    let keys = [Some(Key::Private(space, address)), super::shared_key(memory, space, address)];
    let is_waited_for = |key: &Key| kernel.futexes.queues.contains_key(key);
    let key = keys.into_iter().flatten().find(is_waited_for).unwrap_or(Key::Private(space, address));
    give(kernel, memory, space, address, key, mark)
}

/// Makes the first waiter the owner, or nobody.
///
/// The word is written before the waiter is roused, both in one step: no other thread sees a lock
/// without owner here.
fn give(
    kernel: &mut Kernel,
    memory: &mut Memory,
    space: SpaceId,
    address: u64,
    key: Key,
    mark: u32,
) -> Result<(), Fault> {
    let queue = kernel.futexes.queues.get(&key).map_or(&[][..], Vec::as_slice);
    let (next, more) = (queue.first().map(|waiter| waiter.tid), queue.len() > 1);
    let owner = next.map_or(0, |tid| tid.0);
    memory.write_u32(space, address, owner | mark | if more { WAITERS } else { 0 })?;
    if let Some(tid) = next {
        leave(kernel, tid);
        rouse(kernel, tid);
    }
    Ok(())
}
