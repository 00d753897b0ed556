//! Which events of a file hold, as a thread sees them.

use super::epoll::{Item, Key, PRIVATE, unlisted};
use super::signals;
use crate::Kernel;
use crate::descriptor::{File, POLLIN, POLLNVAL, POLLRDNORM};
use crate::id::{Id, Tid};
use memory::Memory;

impl Item {
    /// The events that hold of those asked for.
    #[must_use]
    pub fn returned(&self, kernel: &Kernel, memory: &Memory, tid: Tid, key: Key) -> u32 {
        match self.events & !PRIVATE {
            0 => 0,
            asked => u32::from(ready(kernel, memory, tid, key.description)) & asked,
        }
    }
}

/// Whether a set has something to report, as a thread sees it.
#[must_use]
pub fn set_ready(kernel: &Kernel, memory: &Memory, tid: Tid, id: Id) -> u16 {
    let Some(epoll) = kernel.events.epolls.get(&id) else { return 0 };
    let holds = |key: &Key| epoll.items.get(key).is_some_and(|item| item.returned(kernel, memory, tid, *key) != 0);
    let some = epoll.listed.iter().any(holds) || unlisted(epoll).iter().any(holds);
    if some { POLLIN | POLLRDNORM } else { 0 }
}

/// The `poll(2)` events of a description as a thread sees them: signals are those of the thread that asks.
#[must_use]
pub fn ready(kernel: &Kernel, memory: &Memory, tid: Tid, description: Id) -> u16 {
    let Some(open) = kernel.descriptions.get(&description) else {
        return POLLNVAL;
    };
    match open.file {
        File::Signal(id) => signals::ready(kernel, tid, id),
        File::Epoll(id) => set_ready(kernel, memory, tid, id),
        file => (file.operations().poll)(kernel, memory, description),
    }
}
