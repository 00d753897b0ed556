//! One step of a thread: one visible operation, or the local instructions up to the next one.
//!
//! Local operations that follow a visible one belong to its step. An acquisition of a lock is a right mover: its step
//! continues up to the next visible operation. All else is a step of its own: merging what follows a release would hide
//! races.
//!
//! **Why coarse steps are enough.** Local operations commute with everything, so placing them
//! behind the visible operation of the same thread loses no behaviour (Lipton's reduction). Plain
//! accesses to shared memory are not local, but are executed in one run up to the next visible
//! operation: if two of them can happen next to each other and conflict, that is a data race, the
//! word becomes a watchpoint, and the search begins anew with each access a step (decision 9). For
//! race-free programs the coarse steps show everything that the fine ones would.
use super::step::Step;
use crate::footprint::Footprint;
use crate::footprint::access::{self, Kind};
use crate::libc::{self, RETURN, Whole};
use crate::system::choice::Alternative;
use crate::system::overlay::{Phase, ThreadOverlay};
use crate::system::state::State;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use explore::graph::Access;
use kernel::call::Deviation;
use kernel::{Pid, Process, Tid};
use memory::{Halt, SpaceId, VisibleAccess};
use world::refusal::Refusal;
use x86::Trap;

/// Local instructions of one step at most: a spin loop is cut here.
///
/// The rest of the loop is another step, so a thread that computes for long is several local steps
/// and not one endless one.
const RUN_MAX: u64 = 20_000;

/// Operations of one step at most: a spin loop is cut here, too.
const PARTS_MAX: u32 = 2_000;

impl Stepper<'_> {
    /// Takes a step of a thread from the loaded state. While no other actor exists, the step continues until the thread
    /// blocks.
    ///
    /// The order behind the loop matters: accesses first (they need the thread), then what ended
    /// with the step, then gates and signals. The last access makes every step read the world, with
    /// which [`access::everything`] conflicts.
    pub(crate) fn advance(&mut self, tid: Tid, alternative: Alternative) -> Result<Step, Refusal> {
        let mut step = Step::begin(self.state, tid, alternative);
        let space = self.state.world.space(tid);
        let was_stopped = self.state.is_stopped(tid);
        let (connected, pending) = (self.view().resettable(), self.pending_signals());
        let base = self.state.world.cpus[&tid].fs_base;
        let pid = self.state.world.kernel.threads.get(&tid).expect("it runs").pid;
        self.state.world.memory.enter(space);
        self.state.world.memory.forget_log();
        self.place_stack(tid);
        self.state.begin_operation(tid);
        self.ticks();
        while step.parts < PARTS_MAX && self.advance_part(&mut step)? {
            if self.workload.options.budget.is_spent() || self.is_at_goal() {
                return Err(Refusal::spent(tid));
            }
        }
        self.last_tick();
        self.note_accesses(&mut step);
        self.clear_dead_stack(&mut step);
        self.state.hand_over(&mut step);
        self.follow_births(tid, space);
        self.state.note_end(&mut step, space, libc::thread(space, base));
        self.state.note_leader(&mut step, pid);
        self.state.note_signal(&mut step, was_stopped);
        self.note_sent(Some(tid), &pending);
        let said = self.say();
        step.accesses.extend(said.accesses);
        step.contradiction = said.contradiction;
        step.accesses.push(Access { object: access::object(Kind::World, 0, 0), write: false, plain: false });
        step.accesses.extend(self.view().reads_life(pid));
        step.accesses.extend(self.connection_access(&connected));
        Ok(step)
    }

    /// Executes the next part of a step; whether the step continues.
    ///
    /// At most one visible operation a step (`may_operate`): the first part may execute one, later
    /// parts only go on locally.
    fn advance_part(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let tid = step.tid;
        let was_waiting = self.state.is_waiting(tid);
        // Delivery changes the thread's mask, which the effect of later signals depends on.
        let is_deliverable = kernel::signal::is_deliverable(&self.state.world.kernel, tid);
        if is_deliverable && self.state.is_inside_instruction(tid) {
            return self.execute_part(step);
        }
        let delivers = self.executor.refinement.sends_signals && is_deliverable;
        if delivers && !self.view().may_operate(step) {
            return Ok(false);
        }
        if is_deliverable {
            self.drain_all(step);
        }
        if was_waiting {
            step.accesses.extend(self.view().call_accesses(tid));
        }
        if delivers {
            let pid = self.state.world.kernel.threads.get(&tid).expect("it runs").pid;
            step.accesses.push(access::changes_mask(pid, tid));
        }
        let deviation = if was_waiting { step.alternative.take_deviation() } else { Deviation::default() };
        let interrupted = self.state.interrupted(tid);
        let settles = self.state.world.settle_as(tid, deviation, self.listener)?;
        self.note_kernel(step);
        if delivers {
            self.state.enter_handler(tid, interrupted);
        }
        if !settles {
            return Ok(false);
        }
        if was_waiting || delivers {
            step.is_fresh = false;
            self.look_at_mappings(tid);
            if !self.operated(step) {
                return Ok(false);
            }
        }
        self.execute_part(step)
    }

    /// Executes instructions up to the next operation, and that; whether the step continues.
    fn execute_part(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let tid = step.tid;
        let is_quiet = self.state.is_quiet(tid);
        let is_in_prefix = self.view().is_in_prefix();
        let stop = self.execute_local(tid, is_quiet, RUN_MAX.saturating_sub(step.run))?;
        step.run += stop.executed;
        self.executor.instructions += stop.executed;
        self.note_accesses(step);
        step.is_fresh &= stop.executed == 0;
        let word = if let Some(Trap::Memory(Halt::Visible(access))) = &stop.trap { Some(access) } else { None };
        let is_operation = !is_in_prefix || word.is_none();
        // Which pages are watched must not decide what is left on a stack, only which words are.
        let is_beside = word.is_some_and(|access| !self.is_watched(tid, access));
        if stop.trap.is_some() && is_operation && !is_beside {
            self.clear_dead_stack(step);
        }
        let continues = match stop.trap {
            // Code of the library is not cut: other threads would observe an intermediate state.
            None => is_quiet,
            Some(Trap::Stop) => self.at_stop(step)?,
            Some(trap) => self.at_trap(step, &trap)?,
        };
        if is_operation {
            step.run = 0;
            step.parts += 1;
        }
        Ok(self.commit(step) && continues)
    }

    fn is_watched(&self, tid: Tid, access: &VisibleAccess) -> bool {
        self.executor.refinement.is_visible(self.state.world.space(tid), access.addr, access.size)
    }

    /// Executes instructions up to the next operation; a debugger looks at each.
    fn execute_local(&mut self, tid: Tid, is_quiet: bool, budget: u64) -> Result<x86::Stop, Refusal> {
        if self.executor.probe.is_some() {
            return self.execute_probed(tid, is_quiet, budget);
        }
        let code = if is_quiet { &mut self.executor.quiet } else { &mut self.executor.code };
        Ok(self.state.world.execute_instructions(tid, code, budget))
    }

    /// A run of instructions has ended in a trap; whether the step continues.
    pub(crate) fn at_trap(&mut self, step: &mut Step, trap: &Trap) -> Result<bool, Refusal> {
        match trap {
            Trap::Memory(Halt::Visible(access)) => self.at_armed(step, *access),
            _ if self.state.world.cpus[&step.tid].rip == RETURN => self.leave_whole(step),
            Trap::Syscall => self.quiet_call(step),
            trap => {
                step.is_fresh = false;
                self.drain_all(step);
                self.state.world.handle(step.tid, trap, self.listener).map(|()| true)
            }
        }
    }

    /// Called after each visible operation: sets the savepoint that local instructions are rolled back to. The step
    /// continues.
    ///
    /// The savepoint costs reference counts and a mark in the memory's journal. It is taken only
    /// once for each step, and only where others exist.
    pub(crate) fn operated(&mut self, step: &mut Step) -> bool {
        self.clear_dead_stack(step);
        self.state.hand_over(step);
        if !self.workload.options.only_breaks
            && !self.view().is_alone()
            && step.after_operation.is_none()
            && !self.state.is_life(step.tid)
            && self.state.world.cpus.contains_key(&step.tid)
        {
            step.after_operation = Some((self.savepoint(), step.progress()));
        }
        true
    }

    /// Rolls back to the end of the visible operation if what followed made an access or failed: another actor may come
    /// in between. Whether nothing was rolled back.
    ///
    /// Without it, an access behind a release would be in the step of the release, and a race with
    /// it would be invisible.
    fn commit(&mut self, step: &mut Step) -> bool {
        let has_failed = step.assertion.is_some() || !self.state.world.kernel.threads.contains_key(&step.tid);
        let Some((savepoint, progress)) = step.after_operation.take() else { return true };
        if !has_failed && !step.has_touched_since(&progress) {
            step.after_operation = Some((savepoint, progress));
            return true;
        }
        // A failure after the operation belongs to a step of its own.
        self.roll_back(savepoint);
        step.go_back_to(progress);
        false
    }

    /// Before an operation that may be visible; whether the step continues.
    fn at_stop(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let is_break = self.view().is_at_break(step.tid);
        if is_break && !step.is_fresh && !self.view().is_alone() && !self.state.is_quiet(step.tid) {
            return Ok(false);
        }
        if let Some(hook) = self.view().hook(step.tid) {
            return if self.waits_for_stores_at(step, hook) { Ok(false) } else { self.at_hook(step, hook) };
        }
        match is_break {
            true if self.state.is_quiet(step.tid) => self.step_past(step),
            true => self.first_instruction(step),
            false => self.at_synchronising(step),
        }
    }

    pub(crate) fn at_synchronising(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        if self.waits_for_stores(step) {
            return Ok(false);
        }
        let reach = self.reach_of_stop(step.tid);
        // How much a read returns is a choice even where no other actor exists, and so is a fault.
        let has_choices = reach.is_some()
            && !step.is_fresh
            && (!self.view().short_reads(step.tid).is_empty() || self.view().may_ever_fail(step.tid));
        // Where time may pass early, a timer may send its signal before any syscall.
        let is_interrupted = reach.is_some() && !step.is_fresh && self.view().may_be_alarmed(step.tid);
        match reach {
            _ if has_choices || is_interrupted => Ok(false),
            None | Some(Footprint::Nothing) => self.at_locked(step),
            Some(_) if !self.view().may_operate(step) => Ok(false),
            reach => {
                self.state.begin_operation(step.tid);
                self.pass(step, reach)?;
                step.is_fresh = false;
                Ok(self.operated(step))
            }
        }
    }

    /// Before an instruction with `lock`, or a syscall whose footprint is the caller's memory: it is visible only if
    /// that memory is shared.
    ///
    /// Executed first and judged afterwards: whether a locked instruction touches shared memory is
    /// known only by its address. If it may not happen now, it is rolled back and is the first
    /// thing of the next step.
    fn at_locked(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let (savepoint, progress) = (self.savepoint(), step.progress());
        let fingerprint = self.state.world.memory.fingerprint();
        let trap = self.pass_to_trap(step, None)?;
        let is_visible = step.has_touched_since(&progress);
        if is_visible && self.state.world.memory.fingerprint() == fingerprint {
            // A failed comparison, or a store of the value that was there: it commutes with reads.
            let words = progress.since(step).iter_mut().filter(|access| access::is_memory(access.object));
            words.for_each(|access| access.write = false);
        }
        if is_visible && !self.view().may_operate(step) {
            self.roll_back(savepoint);
            step.go_back_to(progress);
            return Ok(false);
        }
        self.release(savepoint);
        step.is_fresh = false;
        if let Some(trap) = trap {
            self.state.world.handle(step.tid, &trap, self.listener)?;
        }
        Ok(!is_visible || self.operated(step))
    }
}

impl State {
    /// A thread performs an operation: it does not poll the clock that it has read before. Several operations may be one step.
    pub(crate) fn begin_operation(&mut self, tid: Tid) {
        if self.overlay.thread(tid).is_some_and(|overlay| overlay.reads_clock) {
            self.overlay.thread_mut(tid).reads_clock = false;
        }
    }

    /// The end of a thread, whatever its cause, writes the object that joins await, and those who wait for its locks. A
    /// thread that executes another program is none of the old one any more.
    fn note_end(&self, step: &mut Step, space: SpaceId, object: u64) {
        let is_known = step.accesses.iter().any(|access| access.object == object && access.write);
        let is_there = self.world.kernel.threads.contains_key(&step.tid) && self.world.space(step.tid) == space;
        if !is_known && !is_there {
            step.accesses.push(Access { object, write: true, plain: false });
        }
    }

    /// Process-directed signals go to the first thread while it lives. Once it has ended, each other thread may be the
    /// last one, whose end is the end of the process. So the end of the first thread conflicts with every step.
    ///
    /// Decision 14, "signals".
    fn note_leader(&self, step: &mut Step, pid: Pid) {
        let is_ended = !self.world.kernel.threads.contains_key(&step.tid);
        let process = self.world.kernel.processes.get(&pid);
        let has_others = process.is_some_and(|process| !process.threads.is_empty());
        if is_ended && has_others && !self.world.kernel.threads.contains_key(&Tid(pid.0)) {
            step.accesses.extend(access::everything());
        }
    }

    /// A signal that ends, stops or continues a process conflicts with every step of its threads and of those that wait
    /// for it.
    fn note_signal(&self, step: &mut Step, was_stopped: bool) {
        let is_ended = !self.world.kernel.threads.contains_key(&step.tid);
        if is_ended && !step.exits || !is_ended && self.is_stopped(step.tid) != was_stopped {
            step.accesses.extend(access::everything());
        }
    }

    fn is_stopped(&self, tid: Tid) -> bool {
        let kernel = &self.world.kernel;
        let process = kernel.threads.get(&tid).and_then(|thread| kernel.processes.get(&thread.pid));
        process.is_some_and(Process::is_stopped)
    }

    /// Whether a thread executes code of the library that is one step: it stops at hooks alone.
    pub(crate) fn is_quiet(&self, tid: Tid) -> bool {
        self.overlay.thread(tid).is_some_and(ThreadOverlay::is_in_library)
    }

    pub(crate) fn is_waiting(&self, tid: Tid) -> bool {
        self.world.kernel.threads.get(&tid).is_some_and(|thread| thread.wait.is_some())
    }

    /// Whether a thread is being created, joined, detached, cancelled or ended: what the library does inside commutes
    /// with all other steps.
    pub(crate) fn is_life(&self, tid: Tid) -> bool {
        self.overlay.thread(tid).is_some_and(|overlay| {
            let whole = overlay.within.map(|within| within.whole);
            // The end of the last thread is the end of its process.
            let comes_or_goes = match overlay.phase {
                Phase::Starting => true,
                Phase::Ending => self.has_siblings(tid),
                _ => false,
            };
            comes_or_goes || matches!(whole, Some(Whole::Create | Whole::Join | Whole::Detach | Whole::Cancel))
        })
    }

    pub(crate) fn has_siblings(&self, tid: Tid) -> bool {
        let process =
            self.world.kernel.threads.get(&tid).and_then(|thread| self.world.kernel.processes.get(&thread.pid));
        process.is_some_and(|process| process.threads.len() > 1)
    }
}

impl View<'_> {
    /// Whether no other actor exists. Time is one where it may pass early: it may do so between any two operations; and so is
    /// whoever stops a program, or resets a connection. Propositions observe each state.
    pub(crate) fn is_alone(&self) -> bool {
        let threads = self.state.world.kernel.threads.len();
        let is_unseen = !self.workload.faults.have_actors() && self.workload.forbidden.is_empty();
        threads == 1 && self.workload.peers.is_empty() && is_unseen && !self.is_timed()
    }

    /// Whether no other actor has existed: the ends of steps do not depend on the refinement.
    pub(crate) fn is_in_prefix(&self) -> bool {
        self.is_alone() && self.state.overlay.is_in_prefix()
    }

    /// Whether the step may execute a visible operation now: it is the first of the step, or no other actor can observe
    /// it.
    pub(crate) fn may_operate(&self, step: &Step) -> bool {
        step.is_fresh || self.workload.options.only_breaks || self.is_alone() || self.state.is_quiet(step.tid)
    }

    /// Whether a thread is at a breakpoint of the user.
    pub(crate) fn is_at_break(&self, tid: Tid) -> bool {
        self.executor.hooks.is_break(
            &self.state.world.memory,
            self.state.world.space(tid),
            self.state.world.cpus[&tid].rip,
        )
    }
}
