//! `select(2)` and `pselect6(2)`.

use super::timeout::Timeout;
use super::watched::Watched;
use crate::call::{Call, Stop};
use crate::descriptor::{Fd, POLLERR, POLLHUP, POLLIN, POLLOUT, POLLPRI, POLLRDNORM, POLLWRNORM};
use crate::errno::{EBADF, EINVAL};

/// `EPOLLRDBAND`.
const POLLRDBAND: u16 = 0x080;
/// `EPOLLWRBAND`.
const POLLWRBAND: u16 = 0x200;

/// Which `poll(2)` events put a descriptor into the three sets (`select(2)`, "Correspondence between select() and
/// poll() notifications").
const SETS: [u16; 3] =
    [POLLRDNORM | POLLRDBAND | POLLIN | POLLHUP | POLLERR, POLLWRBAND | POLLWRNORM | POLLOUT | POLLERR, POLLPRI];

/// `select(2)`.
pub fn select(call: &mut Call<'_>) -> Result<u64, Stop> {
    let time = call.args[4];
    let timeout = call.timeout_once(|call| call.load_timeval(time))?;
    let count = run(call, timeout);
    if time != 0 && !matches!(count, Err(Stop::Wait(_))) {
        let left = call.time_left(timeout);
        // Linux ignores that it cannot write the rest of the time back.
        let _ = store_timeval(call, time, left);
    }
    count
}

/// `pselect6(2)`; the sixth argument points to the mask's address and size.
pub fn pselect6(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [.., time, argument] = call.args;
    let timeout = call.timeout_once(|call| call.load_timeout(time))?;
    if argument != 0 && call.resumed.is_none() {
        let mask = call.load_u64(argument)?;
        let size = call.load_u64(argument.wrapping_add(8))?;
        call.take_mask(mask, size)?;
    }
    let count = run(call, timeout);
    if time != 0 && !matches!(count, Err(Stop::Wait(_))) {
        let left = call.time_left(timeout);
        let _ = call.store_timespec(time, left);
    }
    count
}

fn store_timeval(call: &mut Call<'_>, address: u64, nanoseconds: u64) -> Result<(), Stop> {
    call.store_u64(address, nanoseconds / 1_000_000_000)?;
    call.store_u64(address.wrapping_add(8), nanoseconds % 1_000_000_000 / 1000)
}

/// Linux copies the sets in when the call begins, and writes them when it ends, unless with an error.
fn run(call: &mut Call<'_>, timeout: Timeout) -> Result<u64, Stop> {
    let number = call.int(0);
    if number < 0 {
        return Err(EINVAL.into());
    }
    // Numbers that no process can have are not looked at, as in Linux.
    let number = number.min(1 << 16);
    let addresses = [call.args[1], call.args[2], call.args[3]];
    let copied = call.copied().map_or_else(|| load_sets(call, addresses, number), Ok)?;
    let sets: Vec<&[u8]> = (0..3).map(|which| &copied[which * set_bytes(number)..][..set_bytes(number)]).collect();
    let (watched, closed) = watched(call, &sets, number)?;
    let (count, results) = results(call, &sets, &watched, &closed);
    let count = call.count_or_wait(count, &watched, timeout, copied)?;
    for (address, result) in addresses.into_iter().zip(results) {
        if address != 0 {
            call.store(address, &result)?;
        }
    }
    Ok(count)
}

/// Bytes of a set for that many descriptors: whole 64-bit words.
fn set_bytes(number: Fd) -> usize {
    (number as usize).div_ceil(64) * 8
}

/// The three sets, one behind the other; one that is not given is empty.
fn load_sets(call: &mut Call<'_>, addresses: [u64; 3], number: Fd) -> Result<Vec<u8>, Stop> {
    let mut sets = Vec::new();
    for address in addresses {
        match address {
            0 => sets.resize(sets.len() + set_bytes(number), 0),
            address => sets.extend(call.load_bytes(address, set_bytes(number))?),
        }
    }
    Ok(sets)
}

fn has(set: &[u8], fd: Fd) -> bool {
    set[fd as usize / 8] >> (fd % 8) & 1 == 1
}

/// What to wait for, one for each descriptor that is in some set, and descriptors that were closed during the wait.
fn watched(call: &Call<'_>, sets: &[&[u8]], number: Fd) -> Result<(Vec<Watched>, Vec<Fd>), Stop> {
    let (mut watched, mut closed) = (Vec::new(), Vec::new());
    for fd in 0..number {
        let events = sets.iter().zip(SETS).filter(|(set, _)| has(set, fd)).fold(0, |all, (_, events)| all | events);
        match call.watchable(fd) {
            _ if events == 0 => {}
            Some(description) => watched.push(Watched { fd, description, events }),
            None if call.resumed.is_some() => closed.push(fd),
            None => return Err(EBADF.into()),
        }
    }
    Ok((watched, closed))
}

/// How many bits are set in the results, and the results. One that was closed is in every set that asks for it.
fn results(call: &Call<'_>, sets: &[&[u8]], watched: &[Watched], closed: &[Fd]) -> (u64, Vec<Vec<u8>>) {
    let mut results: Vec<Vec<u8>> = sets.iter().map(|set| vec![0; set.len()]).collect();
    let mut count = 0;
    let ready = |watch: &Watched| (watch.fd, super::ready(call.kernel, call.memory, call.tid, watch.description));
    for (fd, events) in watched.iter().map(ready).chain(closed.iter().map(|fd| (*fd, u16::MAX))) {
        for ((set, result), accepted) in sets.iter().zip(&mut results).zip(SETS) {
            if has(set, fd) && events & accepted != 0 {
                result[fd as usize / 8] |= 1 << (fd % 8);
                count += 1;
            }
        }
    }
    (count, results)
}
