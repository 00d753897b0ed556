//! Handlers of signals: what they access races with what they interrupt.
//!
//! A handler runs between any two instructions of a thread. Steps are longer than that. So words that a handler writes, and words
//! that a handler reads and another instruction of the process writes, become racing words ([`Refinement::promote`]): each access to
//! one is an operation, and a signal may be delivered before it. All other instructions commute with the delivery, because
//! the handler touches nothing that they touch; system calls are operations anyway.
//!
//! The frames of a handler are its own: what lies below the stack pointer at which it interrupted the thread, and its alternate
//! stack. Code of the library that is one step is not interrupted.
//!
//! A handler that goes on elsewhere (`siglongjmp(3)`, or by other registers in its frame) never ends: all that its thread reads from
//! then on is read by a handler. What it writes is not looked at by what was interrupted, which does not go on.
//!
//! [`Refinement::promote`]: crate::refinement::Refinement::promote

use crate::system::overlay::{Interrupted, ThreadOverlay};
use crate::system::state::State;
use crate::system::stepper::Stepper;
use kernel::Tid;
use kernel::signal::{SIG_IGN, SS_DISABLE};
use memory::{Logged, SpaceId};
use std::ops::Range;
use x86::cpu::RSP;

impl Stepper<'_> {
    /// Refines the abstraction by logged accesses of a thread that executes a handler, or may be interrupted by one.
    pub(super) fn note_handlers(&mut self, tid: Tid, log: &[Logged]) {
        let is_told = self.executor.refinement.sends_signals && !self.workload.options.holes.handlers;
        if !is_told || self.state.is_quiet(tid) {
            return;
        }
        let space = self.state.world.space(tid);
        let own = self.state.handler_frames(tid);
        let may_be_interrupted = self.state.has_handler(tid);
        for logged in log {
            match &own {
                Some(own) if own.iter().any(|frames| frames.contains(&logged.addr)) => {}
                Some(_) => self.note_access_of_handler(space, logged),
                None if may_be_interrupted => self.note_access_outside(tid, space, logged),
                None => {}
            }
        }
    }

    /// An access of a handler.
    fn note_access_of_handler(&mut self, space: SpaceId, logged: &Logged) {
        let refinement = &mut self.executor.refinement;
        for word in words(logged) {
            match logged.write {
                true => refinement.promote([(space, word)]),
                false => refinement.note_read_by_handler((space, word)),
            }
        }
    }

    /// An access of what a handler may interrupt.
    fn note_access_outside(&mut self, tid: Tid, space: SpaceId, logged: &Logged) {
        let overlay = self.state.overlay.thread(tid).filter(|_| !self.workload.options.holes.jumps);
        let follows_jump = overlay.is_some_and(|overlay| overlay.follows_jump(logged.addr));
        let refinement = &mut self.executor.refinement;
        for word in words(logged) {
            match logged.write {
                true => refinement.note_write_outside((space, word)),
                false if follows_jump => refinement.note_read_by_handler((space, word)),
                false => {}
            }
        }
    }

    /// Notes handlers that a thread has left, and not to where they interrupted it.
    pub(super) fn note_jumps(&mut self, tid: Tid) {
        if let Some(left) = self.state.leave_handlers(tid) {
            self.state.jump_from(tid, left.stack_pointer);
        }
    }
}

impl ThreadOverlay {
    /// Whether the thread has left a handler by a jump, and an address is in none of the frames that were left then.
    fn follows_jump(&self, addr: u64) -> bool {
        let is_left = |from: u64| self.stack.is_some_and(|(low, _)| (low..from).contains(&addr));
        self.jumped_from.is_some_and(|from| !is_left(from))
    }
}

impl State {
    /// Whether the process of a thread handles any signal now.
    pub(crate) fn has_handler(&self, tid: Tid) -> bool {
        let kernel = &self.world.kernel;
        let process = kernel.threads.get(&tid).and_then(|thread| kernel.processes.get(&thread.pid));
        process.is_some_and(|process| process.signals.actions.iter().any(|action| action.handler > SIG_IGN))
    }

    /// A thread may have begun a handler, which has interrupted it there.
    pub(crate) fn enter_handler(&mut self, tid: Tid, at: Option<Interrupted>) {
        let now = self.stack_pointer(tid);
        if let Some(at) = at.filter(|at| now.is_some_and(|now| now != at.stack_pointer)) {
            self.overlay.thread_mut(tid).handlers.push(at);
        }
    }

    /// A handler of a thread has returned by `rt_sigreturn(2)`; it may go on elsewhere all the same.
    pub(crate) fn return_from_handler(&mut self, tid: Tid) {
        /// A call that was interrupted is over, or begins again: the length of `syscall`.
        const CALL: u64 = 2;
        let Some(now) = self.interrupted(tid) else { return };
        if let Some(left) = self.leave_handlers(tid).filter(|left| left.rip.abs_diff(now.rip) > CALL) {
            self.jump_from(tid, left.stack_pointer);
        }
    }

    /// A thread leaves the handlers that have returned to where they interrupted it, or have jumped beyond that: the outermost of them.
    fn leave_handlers(&mut self, tid: Tid) -> Option<Interrupted> {
        let pointer = self.stack_pointer(tid)?;
        let overlay = self.overlay.thread(tid).filter(|overlay| !overlay.handlers.is_empty())?;
        let is_on_stack = overlay.stack.is_none_or(|(low, high)| (low..high).contains(&pointer));
        let is_left = |interrupted: &Interrupted| is_on_stack && pointer >= interrupted.stack_pointer;
        let left = overlay.handlers.iter().position(is_left)?;
        self.overlay.thread_mut(tid).handlers.drain(left..).next()
    }

    fn jump_from(&mut self, tid: Tid, stack_pointer: u64) {
        let overlay = self.overlay.thread_mut(tid);
        overlay.jumped_from = Some(overlay.jumped_from.map_or(stack_pointer, |before| before.min(stack_pointer)));
    }

    /// The frames of the handlers that a thread executes; nothing if it executes none.
    fn handler_frames(&self, tid: Tid) -> Option<[Range<u64>; 2]> {
        let overlay = self.overlay.thread(tid)?;
        let interrupted = overlay.handlers.last()?.stack_pointer;
        let (base, size, flags) = self.world.kernel.threads.get(&tid)?.alternate_stack;
        let alternate = if flags & SS_DISABLE == 0 { base..base.saturating_add(size) } else { 0..0 };
        Some([overlay.stack.map_or(0, |(low, _)| low)..interrupted, alternate])
    }

    /// Where a signal interrupts a thread now, if it has not ended.
    pub(crate) fn interrupted(&self, tid: Tid) -> Option<Interrupted> {
        self.world.cpus.get(&tid).map(|cpu| Interrupted { rip: cpu.rip, stack_pointer: cpu.gpr[RSP] })
    }

    /// The stack pointer of a thread, if it has not ended.
    fn stack_pointer(&self, tid: Tid) -> Option<u64> {
        self.world.cpus.get(&tid).map(|cpu| cpu.gpr[RSP])
    }
}

/// The words of an access.
fn words(logged: &Logged) -> impl Iterator<Item = u64> {
    (logged.addr & !3..logged.addr + u64::from(logged.size.max(1))).step_by(4)
}
