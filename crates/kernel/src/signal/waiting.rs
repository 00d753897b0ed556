//! Waiting for signals: `pause(2)`, `sigsuspend(2)`, `sigtimedwait(2)`, and masks that hold only during a call.

use super::action::check_size;
use super::number::{Set, UNCATCHABLE};
use super::take::take_of;
use crate::call::{Call, Stop};
use crate::errno::EAGAIN;
use crate::wait::{Condition, Interruption, Wait};
use crate::{Kernel, Tid};

/// Another mask for the length of one call (`ppoll(2)`, `pselect(2)`, `epoll_pwait(2)`, `sigsuspend(2)`).
///
/// The old one comes back when the call returns; if a handler interrupts the call, when the handler returns. Calling this
/// again when the call is redone changes nothing.
///
/// The swap and the wait are one step, which is the reason why these calls exist (`select(2)`, "The
/// reason that pselect() is needed").
pub fn swap_mask(call: &mut Call<'_>, mask: Set) {
    let thread = call.thread_mut();
    if thread.saved_mask.is_none() {
        thread.saved_mask = Some(thread.blocked);
    }
    thread.blocked = mask & !UNCATCHABLE;
}

/// The mask before [`swap_mask`], once the call has returned.
pub fn restore_mask(kernel: &mut Kernel, tid: Tid) {
    let is_swapped = kernel.threads.get(&tid).is_some_and(|thread| thread.saved_mask.is_some());
    if is_swapped {
        let thread = kernel.threads.get_mut(&tid).expect("looked at above");
        thread.blocked = thread.saved_mask.take().expect("looked at above");
    }
}

/// `pause(2)`.
pub fn pause(_: &mut Call<'_>) -> Result<u64, Stop> {
    Err(Wait::any(Vec::new()).interruption(Interruption::Fail).into())
}

/// `sigsuspend(2)`.
pub fn rt_sigsuspend(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [address, size, ..] = call.args;
    check_size(size)?;
    let mask = call.load_u64(address)?;
    swap_mask(call, mask);
    pause(call)
}

/// `sigtimedwait(2)`.
pub fn rt_sigtimedwait(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [address, info_address, timeout, size, ..] = call.args;
    check_size(size)?;
    // Read when the call begins; the wait has it from then on.
    let set = match call.resumed.as_ref().and_then(|wait| wait.until.first()) {
        Some(Condition::Signal(set)) => *set,
        _ => call.load_u64(address)? & !UNCATCHABLE,
    };
    let timeout = call.timeout_once(|call| call.load_timeout(timeout))?;
    let deadline = call.deadline(timeout);
    if let Some(info) = take_of(call.kernel, call.tid, set) {
        if info_address != 0 {
            call.store(info_address, &info.to_bytes())?;
        }
        return Ok(u64::from(info.number));
    }
    if deadline.is_some_and(|deadline| call.kernel.clock.now() >= deadline) {
        return Err(EAGAIN.into());
    }
    Err(Wait::until(Condition::Signal(set)).deadline(deadline).interruption(Interruption::Fail).into())
}
