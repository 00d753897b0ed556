//! Signals: actions, masks, sending, taking.
//!
//! A thread whose process is stopped ([`may_run`]) does nothing. A thread whose wait is over redoes its call first. Then,
//! whether it still waits or is about to go on in user mode, the world asks [`is_deliverable`].
//! [`take`] then carries out default actions and gives back the next handler to run; the world writes the frame and
//! reports [`entered`] (or [`frame_failed`]), and [`returned`] at `rt_sigreturn(2)`.
//!
//! **Pending signals are state; delivery is a step of the thread that takes them.** A
//! process-directed signal is taken by the first thread if it does not block it, else by the thread
//! with the lowest number that does not (`take.rs`). Linux prefers the first thread as well and
//! leaves the rest to the scheduler's bookkeeping. Delivery happens on the way back to user mode;
//! here that is between two instructions of a thread that is about to move, and when that thread
//! moves is explored.

mod action;
mod info;
pub mod job;
mod kill;
pub mod number;
mod send;
mod stack;
mod take;
mod waiting;

pub use info::{SI_KERNEL, SI_QUEUE, SI_TIMER, SI_TKILL, SI_USER, SIZE as INFO_SIZE};
pub use kill::may_signal;
pub use number::{Set, bit};
pub use send::{SIG_DFL, SIG_IGN, Target, discard, force, is_ignored, members, send};
pub use stack::{SS_DISABLE, alternate_top, set_alternate_stack};
pub use take::{Delivery, Interrupted, Recipients, fault, is_deliverable, take, take_of};
pub use waiting::{restore_mask, swap_mask};

use crate::process::{Action, SignalInfo};
use crate::table::footprint::FootprintRule::{BlocksSignals, ChangesProcess, Everything, Local};
use crate::table::syscall::{Argument::*, Row};
use crate::{Kernel, Tid};
use number::{SIGSEGV, UNCATCHABLE};

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(13, "rt_sigaction", action::rt_sigaction, &[Signal, Hex, Hex, Size], ChangesProcess).silent(),
    Row::full(14, "rt_sigprocmask", action::rt_sigprocmask, &[Int, Hex, Hex, Size], BlocksSignals).silent(),
    Row::full(15, "rt_sigreturn", stack::rt_sigreturn, &[], BlocksSignals).silent(),
    Row::full(34, "pause", waiting::pause, &[], Everything),
    Row::full(62, "kill", kill::kill, &[Int, Signal], Everything),
    Row::full(127, "rt_sigpending", action::rt_sigpending, &[Hex, Size], Everything),
    Row::full(128, "rt_sigtimedwait", waiting::rt_sigtimedwait, &[Hex, Hex, Time, Size], Everything),
    Row::full(129, "rt_sigqueueinfo", kill::rt_sigqueueinfo, &[Int, Signal, Hex], Everything),
    Row::full(130, "rt_sigsuspend", waiting::rt_sigsuspend, &[Hex, Size], Everything),
    Row::full(131, "sigaltstack", stack::sigaltstack, &[Hex, Hex], Local).silent(),
    Row::full(200, "tkill", kill::tkill, &[Int, Signal], Everything),
    Row::full(234, "tgkill", kill::tgkill, &[Int, Int, Signal], Everything),
    Row::full(297, "rt_tgsigqueueinfo", kill::rt_tgsigqueueinfo, &[Int, Int, Signal, Hex], Everything),
    Row::full(424, "pidfd_send_signal", kill::pidfd_send_signal, &[Fd, Signal, Hex, Hex], Everything),
];

/// Whether a signal of the set is pending for the thread or its process.
#[must_use]
pub fn has_pending(kernel: &Kernel, tid: Tid, set: Set) -> bool {
    pending(kernel, tid) & set != 0
}

/// All signals that are pending for the thread or its process.
#[must_use]
pub fn pending(kernel: &Kernel, tid: Tid) -> Set {
    let Some(thread) = kernel.threads.get(&tid) else { return 0 };
    let process = kernel.processes.get(&thread.pid);
    let shared = process.into_iter().flat_map(|process| &process.signals.pending);
    thread.pending.iter().chain(shared).fold(0, |set, info| set | bit(info.number))
}

/// Whether a thread exists and its process is not stopped.
#[must_use]
pub fn may_run(kernel: &Kernel, tid: Tid) -> bool {
    let process = kernel.threads.get(&tid).and_then(|thread| kernel.processes.get(&thread.pid));
    process.is_some_and(|process| !process.is_stopped())
}

/// The handler's frame is written: the handler runs.
///
/// The mask in the frame is `mask_saved`, which is the one before `sigsuspend(2)` if a call had
/// swapped it: returning from the handler brings it back.
pub fn entered(kernel: &mut Kernel, tid: Tid, delivery: &Delivery) {
    let thread = kernel.threads.get_mut(&tid).expect("a thread that handles a signal exists");
    thread.blocked = delivery.mask_after;
    thread.saved_mask = None;
    stack::disarm(thread);
}

/// The frame could not be written: the process gets `SIGSEGV`, and ends if that was what it could not handle.
///
/// Linux does the same (`force_sigsegv`): a stack that cannot hold the frame is `SIGSEGV`, and
/// death if that was what was to be handled.
pub fn frame_failed(kernel: &mut Kernel, tid: Tid, delivery: &Delivery) {
    let thread = kernel.threads.get_mut(&tid).expect("a thread that handles a signal exists");
    thread.blocked = delivery.mask_saved;
    thread.saved_mask = None;
    if delivery.info.number == SIGSEGV {
        let process = kernel.processes.get_mut(&thread.pid).expect("a thread has a process");
        process.signals.actions[usize::from(SIGSEGV)] = Action::default();
    }
    force(kernel, tid, SignalInfo::kernel(SIGSEGV));
}

/// The handler has returned (`rt_sigreturn(2)`): mask and alternate stack as the frame has them.
pub fn returned(kernel: &mut Kernel, tid: Tid, mask: Set, alternate_stack: (u64, u64, u32)) {
    let thread = kernel.threads.get_mut(&tid).expect("a thread that handles a signal exists");
    thread.blocked = mask & !UNCATCHABLE;
    stack::restore(thread, alternate_stack);
}
