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
//! [`Refinement::promote`]: crate::refinement::Refinement::promote

use crate::system::state::State;
use crate::system::stepper::Stepper;
use kernel::Tid;
use kernel::signal::SS_DISABLE;
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
        for logged in log {
            match &own {
                Some(own) if own.iter().any(|frames| frames.contains(&logged.addr)) => {}
                Some(_) => self.note_access_of_handler(space, logged),
                None => self.note_access_outside(space, logged),
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
    fn note_access_outside(&mut self, space: SpaceId, logged: &Logged) {
        let refinement = &mut self.executor.refinement;
        for word in words(logged).filter(|_| logged.write) {
            if refinement.is_read_by_handlers((space, word)) {
                refinement.promote([(space, word)]);
            }
        }
    }
}

impl State {
    /// A thread may have begun a handler, which has interrupted it at a stack pointer.
    pub(crate) fn enter_handler(&mut self, tid: Tid, pointer: Option<u64>) {
        if let Some(pointer) = pointer.filter(|pointer| self.stack_pointer(tid).is_some_and(|now| now != *pointer)) {
            self.overlay.thread_mut(tid).handlers.push(pointer);
        }
    }

    /// A thread leaves the handlers that have returned to where they interrupted it, or have jumped beyond that.
    pub(crate) fn leave_handlers(&mut self, tid: Tid) {
        let Some(pointer) = self.stack_pointer(tid) else { return };
        let Some(overlay) = self.overlay.thread(tid).filter(|overlay| !overlay.handlers.is_empty()) else { return };
        let is_on_stack = overlay.stack.is_none_or(|(low, high)| (low..high).contains(&pointer));
        let left = overlay.handlers.iter().position(|interrupted| is_on_stack && pointer >= *interrupted);
        if let Some(left) = left {
            self.overlay.thread_mut(tid).handlers.truncate(left);
        }
    }

    /// The frames of the handlers that a thread executes; nothing if it executes none.
    fn handler_frames(&self, tid: Tid) -> Option<[Range<u64>; 2]> {
        let overlay = self.overlay.thread(tid)?;
        let interrupted = *overlay.handlers.last()?;
        let (base, size, flags) = self.world.kernel.threads.get(&tid)?.alternate_stack;
        let alternate = if flags & SS_DISABLE == 0 { base..base.saturating_add(size) } else { 0..0 };
        Some([overlay.stack.map_or(0, |(low, _)| low)..interrupted, alternate])
    }

    /// The stack pointer of a thread, if it has not ended.
    pub(crate) fn stack_pointer(&self, tid: Tid) -> Option<u64> {
        self.world.cpus.get(&tid).map(|cpu| cpu.gpr[RSP])
    }
}

/// The words of an access.
fn words(logged: &Logged) -> impl Iterator<Item = u64> {
    (logged.addr & !3..logged.addr + u64::from(logged.size.max(1))).step_by(4)
}
