//! `poll(2)` and `ppoll(2)`.

use super::timeout::Timeout;
use super::watched::Watched;
use crate::call::{Call, Stop};
use crate::descriptor::{POLLERR, POLLHUP, POLLNVAL};
use crate::errno::EINVAL;

/// `RLIMIT_NOFILE`: more entries than this are refused.
const LIMIT_FILES: usize = 7;

/// Bytes of a `struct pollfd`.
const ENTRY: u64 = 8;

/// `poll(2)`.
pub fn poll(call: &mut Call<'_>) -> Result<u64, Stop> {
    run(call, Timeout::from_milliseconds(call.int(2)))
}

/// `ppoll(2)`: the rest of the time is written back, as Linux does and its manual only hints at.
pub fn ppoll(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, _, time, mask, size, _] = call.args;
    let timeout = call.timeout_once(|call| call.load_timeout(time))?;
    call.take_mask(mask, size)?;
    let count = run(call, timeout);
    if time != 0 && !matches!(count, Err(Stop::Wait(_))) {
        let left = call.time_left(timeout);
        // Linux ignores that it cannot write the rest of the time back.
        let _ = call.store_timespec(time, left);
    }
    count
}

/// Linux copies the entries in when the call begins, and writes `revents` of all when it ends, `EINTR` included.
fn run(call: &mut Call<'_>, timeout: Timeout) -> Result<u64, Stop> {
    let [entries, count, ..] = call.args;
    let count = u64::from(count as u32);
    if count > call.process().limits[LIMIT_FILES].0 {
        return Err(EINVAL.into());
    }
    let copied = call.copied().map_or_else(|| call.load_bytes(entries, (ENTRY * count) as usize), Ok)?;
    let (returned, watched): (Vec<u16>, Vec<Option<Watched>>) =
        copied.as_chunks::<{ ENTRY as usize }>().0.iter().map(|entry| examine(call, entry)).unzip();
    let ready = returned.iter().filter(|events| **events != 0).count() as u64;
    let watched: Vec<Watched> = watched.into_iter().flatten().collect();
    let result = call.count_or_wait(ready, &watched, timeout, copied);
    if !matches!(result, Err(Stop::Wait(_))) {
        for (entry, events) in (0..).map(|index| entries.wrapping_add(ENTRY * index)).zip(returned) {
            call.store(entry.wrapping_add(6), &events.to_le_bytes())?;
        }
    }
    result
}

/// One entry: the events to return, and what to wait for if there are none.
///
/// Linux looks the descriptor up each time: one that was closed during the wait is `POLLNVAL` then.
fn examine(call: &Call<'_>, entry: &[u8; ENTRY as usize]) -> (u16, Option<Watched>) {
    let [a, b, c, d, low, high, ..] = *entry;
    let (fd, wanted) = (i32::from_le_bytes([a, b, c, d]), u16::from_le_bytes([low, high]) | POLLERR | POLLHUP);
    if fd < 0 {
        return (0, None);
    }
    let Some(description) = call.watchable(fd) else {
        return (POLLNVAL, None);
    };
    let events = super::ready(call.kernel, call.memory, call.tid, description) & wanted;
    (events, Some(Watched { fd, description, events: wanted }))
}
