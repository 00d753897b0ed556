//! Waiting for several things: poll, select, epoll, and event, timer and signal descriptors.

pub mod counter;
pub(crate) mod counter_calls;
mod deadline;
pub mod epoll;
pub(crate) mod epoll_calls;
mod epoll_wait;
mod poll;
mod ready;
mod select;
pub mod signals;
pub(crate) mod state;
mod timeout;
pub mod timer;
pub(crate) mod timer_calls;
mod wake;
mod watched;

use crate::table::footprint::FootprintRule::{Everything, MakesDescriptors, Polls};
use crate::table::narration::ResultWords;
use crate::table::syscall::Argument::{Fd, Hex, Int, Size, Time};
use crate::table::syscall::Row;

pub use counter_calls::has_room;
pub use deadline::{expire, next_deadline};
pub use ready::ready;
pub use state::Events;
pub use timeout::Timeout;
pub use wake::{description_closed, has_waiter, signal_sent, wake};

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(7, "poll", poll::poll, &[Hex, Size, Int], Polls).returns(ResultWords::Ready),
    Row::full(23, "select", select::select, &[Int, Hex, Hex, Hex, Hex], Polls).returns(ResultWords::Ready),
    Row::full(213, "epoll_create", epoll_calls::create, &[Int], MakesDescriptors),
    Row::full(232, "epoll_wait", epoll_wait::wait, &[Fd, Hex, Int, Int], Polls).returns(ResultWords::Ready),
    Row::full(233, "epoll_ctl", epoll_calls::control, &[Fd, Int, Fd, Hex], Everything),
    Row::full(270, "pselect6", select::pselect6, &[Int, Hex, Hex, Hex, Time, Hex], Polls).returns(ResultWords::Ready),
    Row::full(271, "ppoll", poll::ppoll, &[Hex, Size, Time, Hex, Size], Polls).returns(ResultWords::Ready),
    Row::full(281, "epoll_pwait", epoll_wait::pwait, &[Fd, Hex, Int, Int, Hex, Size], Polls),
    Row::full(282, "signalfd", signals::signalfd, &[Fd, Hex, Size], Everything),
    Row::full(283, "timerfd_create", timer_calls::create, &[Int, Hex], MakesDescriptors),
    Row::full(284, "eventfd", counter_calls::eventfd, &[Int], MakesDescriptors),
    Row::full(286, "timerfd_settime", timer_calls::set_time, &[Fd, Hex, Hex, Hex], Everything),
    Row::full(287, "timerfd_gettime", timer_calls::get_time, &[Fd, Hex], Everything),
    Row::full(289, "signalfd4", signals::signalfd4, &[Fd, Hex, Size, Hex], Everything),
    Row::full(290, "eventfd2", counter_calls::eventfd2, &[Int, Hex], MakesDescriptors).returns(ResultWords::Descriptor),
    Row::full(291, "epoll_create1", epoll_calls::create1, &[Hex], MakesDescriptors),
    Row::full(441, "epoll_pwait2", epoll_wait::pwait2, &[Fd, Hex, Int, Time, Hex, Size], Everything),
];
