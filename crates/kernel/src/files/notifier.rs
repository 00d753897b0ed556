//! An `inotify(7)` instance: what it watches, and what it has to tell.

use crate::id::Id;
use std::collections::BTreeMap;

pub(super) const IN_ACCESS: u32 = 0x1;
pub(super) const IN_MODIFY: u32 = 0x2;
pub(super) const IN_ATTRIB: u32 = 0x4;
pub(super) const IN_CLOSE_WRITE: u32 = 0x8;
pub(super) const IN_CLOSE_NOWRITE: u32 = 0x10;
pub(super) const IN_OPEN: u32 = 0x20;
pub(super) const IN_MOVED_FROM: u32 = 0x40;
pub(super) const IN_MOVED_TO: u32 = 0x80;
pub(super) const IN_CREATE: u32 = 0x100;
pub(super) const IN_DELETE: u32 = 0x200;
pub(super) const IN_DELETE_SELF: u32 = 0x400;
pub(super) const IN_MOVE_SELF: u32 = 0x800;
pub(super) const IN_ALL_EVENTS: u32 = 0xfff;
pub(super) const IN_Q_OVERFLOW: u32 = 0x4000;
pub(super) const IN_IGNORED: u32 = 0x8000;
pub(super) const IN_ISDIR: u32 = 0x4000_0000;
pub(super) const IN_ONESHOT: u32 = 0x8000_0000;
/// `/proc/sys/fs/inotify/max_queued_events`.
const QUEUE_MAX: usize = 16384;

/// An `inotify(7)` instance.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Notifier {
    /// Inode and mask, by watch descriptor.
    pub(super) watches: BTreeMap<i32, (Id, u32)>,
    /// How many watches there were.
    pub(super) born: i32,
    /// Events not yet read, oldest first.
    pub(super) queue: Vec<Event>,
}

/// One event.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Event {
    pub(super) watch: i32,
    pub(super) mask: u32,
    pub(super) cookie: u32,
    pub(super) name: Vec<u8>,
}

impl Event {
    /// `struct inotify_event`, its name padded to a multiple of its size.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let padded = if self.name.is_empty() { 0 } else { (self.name.len() + 1).next_multiple_of(16) };
        let mut bytes = Vec::with_capacity(16 + padded);
        for field in [self.watch as u32, self.mask, self.cookie, padded as u32] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(&self.name);
        bytes.resize(16 + padded, 0);
        bytes
    }
}

impl Notifier {
    fn queue(&mut self, event: Event) {
        // inotify(7): an event like the last one in the queue is not queued again.
        if self.queue.last() == Some(&event) || self.queue.len() > QUEUE_MAX {
            return;
        }
        let overflow = Event { watch: -1, mask: IN_Q_OVERFLOW, cookie: 0, name: Vec::new() };
        self.queue.push(if self.queue.len() == QUEUE_MAX { overflow } else { event });
    }

    /// Tells those of its watches that are on an inode and want to know.
    pub(super) fn tell(&mut self, inode: Id, mask: u32, cookie: u32, name: &[u8]) {
        let wants = |entry: &(i32, (Id, u32))| entry.1.0 == inode && entry.1.1 & mask & IN_ALL_EVENTS != 0;
        let watches: Vec<_> = self.watches.iter().map(|(watch, on)| (*watch, *on)).filter(wants).collect();
        for (watch, (_, wanted)) in watches {
            self.queue(Event { watch, mask, cookie, name: name.to_vec() });
            if wanted & IN_ONESHOT != 0 {
                self.drop_watch(watch);
            }
        }
    }

    pub(super) fn drop_watch(&mut self, watch: i32) {
        if self.watches.remove(&watch).is_some() {
            self.queue(Event { watch, mask: IN_IGNORED, cookie: 0, name: Vec::new() });
        }
    }
}
