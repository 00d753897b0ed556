//! Operations that wait until all stores of their thread have reached memory.
//!
//! Those of the processor: instructions that lock memory, `mfence`, and whatever enters the kernel (a return to user mode
//! serialises). A signal that is delivered does not wait: the stores reach memory with it. Of library functions those count that
//! contain such an instruction on every path that they take here.

use crate::libc::{Does, Function, Hook, Operation, Whole};
use crate::store_buffer::drain::drained;
use crate::system::overlay::Unfenced;
use crate::system::step::Step;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use explore::graph::Access;
use kernel::Tid;
use memory::SpaceId;

impl View<'_> {
    /// What a thread waits for whose next operation needs an empty store buffer; nothing if it can go on.
    pub(crate) fn awaited_drain(&self, tid: Tid) -> Option<u64> {
        let has_stores = !self.state.buffered(tid).is_empty() && !self.workload.options.holes.fences;
        let waits = has_stores && !self.state.is_quiet(tid) && self.drains_next(tid);
        waits.then(|| drained(tid))
    }

    /// Other threads whose stores reach memory before a syscall returns: it interrupts their processors. One that changes
    /// mappings interrupts those of its process, `membarrier(2)` is made for that; none for any other call.
    pub(crate) fn interrupted_by(
        &self,
        (tid, space): (Tid, SpaceId),
        remaps: bool,
        (number, command): (u64, u64),
    ) -> Option<Vec<Tid>> {
        const MEMBARRIER: u64 = 324;
        /// Commands that are no question and no registration.
        const BARRIERS: u64 = 1 | 2 | 8 | 32 | 128;
        let is_barrier = number == MEMBARRIER && command & BARRIERS != 0;
        if !self.executor.refinement.triangular.buffers_stores || !remaps && !is_barrier {
            return None;
        }
        let others = self.state.world.kernel.threads.keys().copied().filter(|other| *other != tid);
        Some(others.filter(|other| is_barrier || self.state.world.space(*other) == space).collect())
    }

    /// Whether the next operation of a thread waits for its stores.
    fn drains_next(&self, tid: Tid) -> bool {
        match self.hook(tid) {
            Some(hook) => self.is_fence(tid, hook),
            None => x86::begins_synchronising(&self.state.instruction_bytes(tid)),
        }
    }

    /// Whether a library function waits for the stores of its caller.
    fn is_fence(&self, tid: Tid, hook: Hook) -> bool {
        match hook.function {
            Function::Allocate(_)
            | Function::StartMain
            | Function::Begin
            | Function::Callback
            | Function::LibraryStart
            | Function::Back
            | Function::Delay
            | Function::Registers(_)
            | Function::Landing
            | Function::Landed
            | Function::CancelState
            | Function::TestCancel => false,
            Function::Whole(whole) => whole != Whole::Allocate,
            function => function.does().is_none_or(|does| self.is_fence_now(does, &self.operation(tid, hook))),
        }
    }

    /// Whether a synchronising function waits for the stores of its caller in this state: it locks memory, or enters the
    /// kernel.
    fn is_fence_now(&self, does: Does, operation: &Operation) -> bool {
        let seen = self.state.seen();
        match does {
            // An attempt locks memory, too.
            Does::Lock => true,
            // Without a sleeper nothing is written.
            Does::Signal | Does::Broadcast => !operation.wakes(seen).is_empty(),
            _ => !operation.is_enabled(seen) || operation.accesses(seen).iter().any(|access| access.write),
        }
    }
}

impl Stepper<'_> {
    /// Before an operation that waits for the stores of its thread: whether the step ends before it. Within a function that is executed
    /// as a whole they reach memory at once.
    pub(crate) fn waits_for_stores(&mut self, step: &mut Step) -> bool {
        if self.state.overlay.thread(step.tid).is_some_and(|overlay| overlay.unfenced != Unfenced::Nothing) {
            self.state.overlay.thread_mut(step.tid).unfenced = Unfenced::Nothing;
        }
        if self.state.is_quiet(step.tid) {
            self.drain_all(step);
            return false;
        }
        let waits = !self.state.buffered(step.tid).is_empty() && !self.workload.options.holes.fences;
        if waits || !self.executor.refinement.triangular.buffers_stores {
            return waits;
        }
        // Where a step ends must not depend on drains that it does not conflict with: a fence is the first operation of its step.
        let is_first = self.view().may_operate(step);
        if is_first {
            step.accesses.push(Access { object: drained(step.tid), write: false, plain: false });
        }
        !is_first
    }

    /// The same before a library function.
    pub(crate) fn waits_for_stores_at(&mut self, step: &mut Step, hook: Hook) -> bool {
        self.view().is_fence(step.tid, hook) && self.waits_for_stores(step)
    }
}
