//! Actions and masks: `sigaction(2)`, `sigprocmask(2)`, `sigpending(2)`.

use super::number::{UNCATCHABLE, bit};
use super::send::{discard, is_ignored};
use crate::call::{Call, Stop};
use crate::errno::EINVAL;
use crate::process::Action;

/// Flags that Linux keeps; it clears the others, so that programs can probe for new ones (`sigaction(2)`).
const KNOWN: u64 = 0xdc00_0807;

/// The only size of `sigset_t` that the kernel takes.
pub const SET_SIZE: u64 = 8;

/// A valid signal number of an argument.
pub fn number(value: u64) -> Result<u8, Stop> {
    match value as i32 {
        number @ 1..=64 => Ok(number as u8),
        _ => Err(EINVAL.into()),
    }
}

/// Refuses any other size of `sigset_t`.
pub fn check_size(size: u64) -> Result<(), Stop> {
    if size == SET_SIZE { Ok(()) } else { Err(EINVAL.into()) }
}

/// `sigaction(2)`.
///
/// The old action is read before the new one is set, but written last: a bad `old` address is
/// `EFAULT` with the action changed, as on Linux.
pub fn rt_sigaction(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [signal, new, old, size, ..] = call.args;
    check_size(size)?;
    let number = number(signal)?;
    let index = usize::from(number);
    let action = if new == 0 { None } else { Some(load(call, new)?) };
    if action.is_some() && UNCATCHABLE & bit(number) != 0 {
        return Err(EINVAL.into());
    }
    let previous = call.process().signals.actions[index];
    if let Some(action) = action {
        call.process_mut().signals.actions[index] = action;
        // POSIX 3.3.1.3: what is ignored from now on is not pending any more.
        if is_ignored(call.process(), number) {
            discard(call.kernel, call.pid, bit(number));
        }
    }
    if old != 0 {
        store(call, old, previous)?;
    }
    Ok(0)
}

fn load(call: &mut Call<'_>, address: u64) -> Result<Action, Stop> {
    let handler = call.load_u64(address)?;
    let flags = call.load_u64(address.wrapping_add(8))? & KNOWN;
    let restorer = call.load_u64(address.wrapping_add(16))?;
    let mask = call.load_u64(address.wrapping_add(24))? & !UNCATCHABLE;
    Ok(Action { handler, flags, restorer, mask })
}

fn store(call: &mut Call<'_>, address: u64, action: Action) -> Result<(), Stop> {
    for (index, value) in [action.handler, action.flags, action.restorer, action.mask].into_iter().enumerate() {
        call.store_u64(address.wrapping_add(8 * index as u64), value)?;
    }
    Ok(())
}

/// `sigprocmask(2)`.
///
/// `SIGKILL` and `SIGSTOP` are dropped silently (`sigprocmask(2)`, notes). Whether this is a
/// visible operation depends on whether anybody sends the thread a signal: decision 14, "signals".
pub fn rt_sigprocmask(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [how, new, old, size, ..] = call.args;
    check_size(size)?;
    let previous = call.thread().blocked;
    if new != 0 {
        let set = call.load_u64(new)? & !UNCATCHABLE;
        call.thread_mut().blocked = match how as i32 {
            0 => previous | set,
            1 => previous & !set,
            2 => set,
            _ => return Err(EINVAL.into()),
        };
    }
    if old != 0 {
        call.store_u64(old, previous)?;
    }
    Ok(0)
}

/// `sigpending(2)`: what is pending and blocked.
pub fn rt_sigpending(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [address, size, ..] = call.args;
    // Unlike its kin it takes shorter sets.
    if size > SET_SIZE {
        return Err(EINVAL.into());
    }
    let set = super::pending(call.kernel, call.tid) & call.thread().blocked;
    call.store(address, &set.to_le_bytes()[..size as usize])?;
    Ok(0)
}
