//! `poll(2)` and `ppoll(2)`.

use super::timeout::Timeout;
use super::watched::Watched;
use crate::call::{Call, Stop};
use crate::descriptor::{POLLERR, POLLHUP, POLLNVAL};
use crate::errno::EINVAL;
use crate::wait::{Interruption, RestForm};

/// `RLIMIT_NOFILE`: more entries than this are refused.
const LIMIT_FILES: usize = 7;

/// Bytes of a `struct pollfd`.
const ENTRY: u64 = 8;

/// `poll(2)`.
pub fn poll(call: &mut Call<'_>) -> Result<u64, Stop> {
    let timeout = Timeout::from_milliseconds(call.int(2));
    run(call, timeout, Interruption::Fail)
}

/// `ppoll(2)`: the rest of the time is written back, as Linux does and its manual only hints at.
pub fn ppoll(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, _, time, mask, size, _] = call.args;
    let timeout = call.load_timeout(time)?;
    call.take_mask(mask, size)?;
    let count = run(call, timeout, Interruption::Remaining { address: time, form: RestForm::Timespec })?;
    if time != 0 {
        let left = call.time_left(timeout);
        // Linux ignores that it cannot write the rest of the time back.
        let _ = call.store_timespec(time, left);
    }
    Ok(count)
}

fn run(call: &mut Call<'_>, timeout: Timeout, interruption: Interruption) -> Result<u64, Stop> {
    let [entries, count, ..] = call.args;
    let count = u64::from(count as u32);
    if count > call.process().limits[LIMIT_FILES].0 {
        return Err(EINVAL.into());
    }
    let (mut ready, mut watched) = (0, Vec::new());
    for entry in (0..count).map(|index| entries.wrapping_add(ENTRY * index)) {
        let (returned, watch) = examine(call, entry)?;
        call.store(entry.wrapping_add(6), &returned.to_le_bytes())?;
        ready += u64::from(returned != 0);
        watched.extend(watch);
    }
    call.count_or_wait(ready, &watched, timeout, interruption)
}

/// One entry: the events to return, and what to wait for if there are none.
///
/// Linux looks the descriptor up each time: one that was closed during the wait is `POLLNVAL` then.
fn examine(call: &mut Call<'_>, entry: u64) -> Result<(u16, Option<Watched>), Stop> {
    let fd = call.load_u32(entry)? as i32;
    let wanted = u16::from_le_bytes(call.load(entry.wrapping_add(4))?) | POLLERR | POLLHUP;
    if fd < 0 {
        return Ok((0, None));
    }
    let Some(description) = call.watchable(fd) else {
        return Ok((POLLNVAL, None));
    };
    let events = super::ready(call.kernel, call.memory, call.tid, description) & wanted;
    Ok((events, Some(Watched { fd, description, events: wanted })))
}
