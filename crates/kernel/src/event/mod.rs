//! Waiting for several things: poll, select, epoll, and event, timer and signal descriptors.

pub mod counter;
pub mod epoll;
mod epoll_wait;
mod poll;
mod select;
pub mod signals;
mod timeout;
pub mod timer;
mod wake;

use crate::call::{Call, Stop};
use crate::descriptor::{File, POLLNVAL};
use crate::id::{Id, Tid};
use crate::map::Map;
use crate::table::footprint::FootprintRule::{Everything, MakesDescriptors, Polls};
use crate::table::narration::ResultWords;
use crate::table::syscall::Argument::{Fd, Hex, Int, Size, Time};
use crate::table::syscall::Row;
use crate::{Kernel, net};
use memory::Memory;

pub use timeout::Timeout;
pub use wake::{description_closed, has_waiter, wake};

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(7, "poll", poll::poll, &[Hex, Size, Int], Polls).returns(ResultWords::Ready),
    Row::full(23, "select", select::select, &[Int, Hex, Hex, Hex, Hex], Polls).returns(ResultWords::Ready),
    Row::full(213, "epoll_create", epoll::create, &[Int], MakesDescriptors),
    Row::full(232, "epoll_wait", epoll_wait::wait, &[Fd, Hex, Int, Int], Polls).returns(ResultWords::Ready),
    Row::full(233, "epoll_ctl", epoll::control, &[Fd, Int, Fd, Hex], Everything),
    Row::full(270, "pselect6", select::pselect6, &[Int, Hex, Hex, Hex, Time, Hex], Polls).returns(ResultWords::Ready),
    Row::full(271, "ppoll", poll::ppoll, &[Hex, Size, Time, Hex, Size], Polls).returns(ResultWords::Ready),
    Row::full(281, "epoll_pwait", epoll_wait::pwait, &[Fd, Hex, Int, Int, Hex, Size], Polls),
    Row::full(282, "signalfd", signals::signalfd, &[Fd, Hex, Size], Everything),
    Row::full(283, "timerfd_create", timer::create, &[Int, Hex], MakesDescriptors),
    Row::full(284, "eventfd", counter::eventfd, &[Int], MakesDescriptors),
    Row::full(286, "timerfd_settime", timer::set_time, &[Fd, Hex, Hex, Hex], Everything),
    Row::full(287, "timerfd_gettime", timer::get_time, &[Fd, Hex], Everything),
    Row::full(289, "signalfd4", signals::signalfd4, &[Fd, Hex, Size, Hex], Everything),
    Row::full(290, "eventfd2", counter::eventfd2, &[Int, Hex], MakesDescriptors).returns(ResultWords::Descriptor),
    Row::full(291, "epoll_create1", epoll::create1, &[Hex], MakesDescriptors),
    Row::full(441, "epoll_pwait2", epoll_wait::pwait2, &[Fd, Hex, Int, Time, Hex, Size], Everything),
];

/// Event counters, epoll sets and their kin.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Events {
    /// `eventfd(2)`.
    pub counters: Map<Id, counter::Counter>,
    /// `timerfd_create(2)`.
    pub timers: Map<Id, timer::Timer>,
    /// `signalfd(2)`: the sets of signals, bit `n - 1` for signal `n`.
    pub signals: Map<Id, u64>,
    /// `epoll(7)`.
    pub epolls: Map<Id, epoll::Epoll>,
    /// Which epoll sets watch a file, in the order in which they began to.
    pub watchers: Map<File, Vec<epoll::Watcher>>,
}

/// The `poll(2)` events of a description as a thread sees them: signals are those of the thread that asks.
#[must_use]
pub fn ready(kernel: &Kernel, memory: &Memory, tid: Tid, description: Id) -> u16 {
    let Some(open) = kernel.descriptions.get(&description) else {
        return POLLNVAL;
    };
    match open.file {
        File::Signal(id) => signals::ready(kernel, tid, id),
        File::Epoll(id) => epoll::ready(kernel, memory, tid, id),
        file => (file.operations().poll)(kernel, memory, description),
    }
}

/// `lseek(2)` on these descriptors does nothing and says so (Linux's `noop_llseek`).
fn seek(_: &mut Call<'_>, _: Id, _: i64, _: u32) -> Result<u64, Stop> {
    Ok(0)
}

/// The earliest moment at which a timer descriptor, or a connection that finds no room, has something to do by itself.
#[must_use]
pub fn next_deadline(kernel: &Kernel) -> Option<u64> {
    let timers = kernel.events.timers.values().filter_map(|timer| timer.deadline(&kernel.clock));
    timers.chain(net::next_deadline(kernel)).min()
}

/// Carries out what is due at the present time.
pub fn expire(kernel: &mut Kernel) {
    timer::expire(kernel);
    net::expire(kernel);
}
