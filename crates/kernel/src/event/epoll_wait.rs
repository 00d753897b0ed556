//! `epoll_wait(2)` and its kin.

use super::epoll::{EPOLLET, EPOLLONESHOT, Epoll, Item, Key};
use super::timeout::Timeout;
use super::watched::Watched;
use crate::call::{Call, Stop};
use crate::descriptor::{File, POLLIN};
use crate::errno::EINVAL;
use crate::id::Id;

/// Bytes of a `struct epoll_event`, which is packed.
const EVENT: u64 = 12;

/// `EP_MAX_EVENTS`.
const EVENTS_MAX: i32 = i32::MAX / 12;

/// The bits that stay when a one-shot item has been reported.
const PRIVATE: u32 = 0xf << 28;

/// `epoll_wait(2)`.
pub fn wait(call: &mut Call<'_>) -> Result<u64, Stop> {
    let timeout = Timeout::from_milliseconds(call.int(3));
    run(call, timeout)
}

/// `epoll_pwait(2)`.
pub fn pwait(call: &mut Call<'_>) -> Result<u64, Stop> {
    call.take_mask(call.args[4], call.args[5])?;
    wait(call)
}

/// `epoll_pwait2(2)`.
pub fn pwait2(call: &mut Call<'_>) -> Result<u64, Stop> {
    let timeout = call.timeout_once(|call| call.load_timeout(call.args[3]))?;
    call.take_mask(call.args[4], call.args[5])?;
    run(call, timeout)
}

fn run(call: &mut Call<'_>, timeout: Timeout) -> Result<u64, Stop> {
    let max = call.int(2);
    if max <= 0 || max > EVENTS_MAX {
        return Err(EINVAL.into());
    }
    let description = call.description_of(call.int(0))?;
    let File::Epoll(id) = call.description(description).file else {
        return Err(EINVAL.into());
    };
    let events = collect(call, id, max as usize);
    for (index, (events, data)) in events.iter().enumerate() {
        let address = call.args[1].wrapping_add(EVENT * index as u64);
        call.store_u32(address, *events)?;
        call.store_u64(address.wrapping_add(4), *data)?;
    }
    let watched = Watched { fd: call.int(0), description, events: POLLIN };
    call.count_or_wait(events.len() as u64, &[watched], timeout, Vec::new())
}

/// Takes up to `max` events from the front of the list; level-triggered items go to its end, so that all get their turn.
///
/// Level-triggered items go to the end of the list as long as they are ready, which is the round
/// robin that `epoll_wait(2)` describes ("round-robin through the set of ready file descriptors").
/// An item that is listed but not ready any more drops out here.
fn collect(call: &mut Call<'_>, id: Id, max: usize) -> Vec<(u32, u64)> {
    let Some(epoll) = call.kernel.events.epolls.get(&id) else { return Vec::new() };
    let candidates = [epoll.listed.clone(), super::epoll::unlisted(epoll)].concat();
    let (mut events, mut left, mut again, mut spent) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for key in candidates {
        let Some(item) = epoll.items.get(&key).copied() else { continue };
        if events.len() == max {
            if epoll.is_listed(key) {
                left.push(key);
            }
            continue;
        }
        let returned = item.returned(call.kernel, call.memory, call.tid, key);
        if returned == 0 {
            continue;
        }
        events.push((returned, item.data));
        match item {
            Item { events, .. } if events & EPOLLONESHOT != 0 => spent.push(key),
            Item { events, .. } if events & EPOLLET == 0 => again.push(key),
            _ => {}
        }
    }
    let listed = [left, again].concat();
    if listed != epoll.listed || !spent.is_empty() {
        settle(call.kernel.events.epolls.get_mut(&id).expect("it was just found"), listed, &spent);
    }
    events
}

fn settle(epoll: &mut Epoll, listed: Vec<Key>, spent: &[Key]) {
    epoll.listed = listed;
    for key in spent {
        if let Some(item) = epoll.items.get_mut(key) {
            item.events &= PRIVATE;
        }
    }
}
