//! Telling epoll sets that something happened to a file they watch.
//!
//! Every kind of file calls [`wake`] where Linux wakes the file's wait queue, with the same events. That is what makes an
//! edge: new data on a socket that was readable already is one more edge, although `poll(2)` shows no difference.

use super::epoll::{EPOLLEXCLUSIVE, Watcher};
use crate::Kernel;
use crate::descriptor::{File, POLLIN, POLLRDNORM};
use crate::id::Id;
use crate::wait::Condition;

/// Something happened to a file: these events may hold now that did not, or hold once more; 0 for anything.
pub fn wake(kernel: &mut Kernel, file: File, events: u16) {
    let Some(watchers) = kernel.events.watchers.get(&file) else { return };
    let (one_of, all): (Vec<Watcher>, Vec<Watcher>) =
        watchers.iter().copied().partition(|watcher| is_exclusive(kernel, *watcher));
    for watcher in all {
        notify(kernel, watcher, events);
    }
    // Of the exclusive watchers, those without a waiting thread are told and passed over (`EPOLLEXCLUSIVE`).
    for watcher in one_of {
        if notify(kernel, watcher, events) && has_waiter(kernel, File::Epoll(watcher.epoll)) {
            break;
        }
    }
}

fn is_exclusive(kernel: &Kernel, watcher: Watcher) -> bool {
    let item = kernel.events.epolls.get(&watcher.epoll).and_then(|epoll| epoll.items.get(&watcher.key));
    item.is_some_and(|item| item.events & EPOLLEXCLUSIVE != 0)
}

/// Tells one watcher; whether it cares.
fn notify(kernel: &mut Kernel, watcher: Watcher, events: u16) -> bool {
    let Some(epoll) = kernel.events.epolls.get(&watcher.epoll) else { return false };
    if !epoll.cares(watcher.key, events) {
        return false;
    }
    if !epoll.is_listed(watcher.key) {
        kernel.events.epolls.get_mut(&watcher.epoll).expect("it was just found").list(watcher.key);
    }
    // Sets that watch this set hear of every event, listed or not.
    wake(kernel, File::Epoll(watcher.epoll), POLLIN | POLLRDNORM);
    true
}

/// Whether a thread waits for events of a file.
#[must_use]
pub fn has_waiter(kernel: &Kernel, file: File) -> bool {
    let waits = kernel.threads.values().filter_map(|thread| thread.wait.as_ref());
    waits.flat_map(|wait| &wait.until).any(|condition| match condition {
        Condition::Poll(description, _) => kernel.descriptions.get(description).is_some_and(|open| open.file == file),
        _ => false,
    })
}

/// A description is closed: epoll sets stop watching it (`epoll(7)`, question 6).
pub fn description_closed(kernel: &mut Kernel, description: Id) {
    let Some(file) = kernel.descriptions.get(&description).map(|open| open.file) else { return };
    let Some(watchers) = kernel.events.watchers.get(&file) else { return };
    let gone: Vec<Watcher> =
        watchers.iter().copied().filter(|watcher| watcher.key.description == description).collect();
    for watcher in gone {
        unwatch(kernel, watcher);
    }
}

/// Takes an item out of its set.
pub fn unwatch(kernel: &mut Kernel, watcher: Watcher) {
    if let Some(epoll) = kernel.events.epolls.get_mut(&watcher.epoll) {
        epoll.items.remove(&watcher.key);
        epoll.listed.retain(|key| *key != watcher.key);
    }
    forget(kernel, watcher);
}

/// Takes a watcher out of its file's list.
pub(super) fn forget(kernel: &mut Kernel, watcher: Watcher) {
    let Some(file) = kernel.descriptions.get(&watcher.key.description).map(|open| open.file) else { return };
    let Some(watchers) = kernel.events.watchers.get_mut(&file) else { return };
    watchers.retain(|other| *other != watcher);
    if watchers.is_empty() {
        kernel.events.watchers.remove(&file);
    }
}

/// A signal was sent: signal descriptors that show it have a new event.
pub fn signal_sent(kernel: &mut Kernel, number: u8) {
    let shows = |set: u64| set >> (number - 1) & 1 == 1;
    let shown: Vec<Id> = kernel.events.signals.iter().filter(|(_, set)| shows(**set)).map(|(id, _)| *id).collect();
    for id in shown {
        wake(kernel, File::Signal(id), POLLIN);
    }
}
