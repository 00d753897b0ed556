//! What happens by itself as time passes.
//!
//! The checker asks for the earliest deadline only when nobody can move: then time jumps to it.
//! Timers of processes (`time/`) and waits with timeouts are further sources.

use super::timer_calls;
use crate::{Kernel, net};

/// The earliest moment at which a timer descriptor, or a connection that finds no room, has something to do by itself.
#[must_use]
pub fn next_deadline(kernel: &Kernel) -> Option<u64> {
    let timers = kernel.events.timers.values().filter_map(|timer| timer.deadline(&kernel.clock));
    timers.chain(net::next_deadline(kernel)).min()
}

/// Carries out what is due at the present time.
pub fn expire(kernel: &mut Kernel) {
    timer_calls::expire(kernel);
    net::expire(kernel);
}
