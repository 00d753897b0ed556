//! Watchpoints: racing words, each access to which is a visible operation.
//!
//! On x86 an access within eight aligned bytes is atomic, and so is an instruction with `lock`. Any other instruction
//! with several such accesses to racing words is as many steps; the values in between are kept in the overlay
//! (`Partial`).
//!
//! Example: `inc dword [x]` of two threads, without `lock`. Each is a load and a store, two steps:
//! load A, load B, store A, store B loses one increment, and is found. The value that was loaded is
//! kept in the overlay; the store puts it back into memory, executes the whole instruction, and
//! restores what others have written meanwhile to words that are not the store's.
//!
//! Where stores are buffered, every access of an instruction is taken so: a load sees the thread's own stores, and a store enters
//! the buffer.

use crate::system::overlay::{BufferedStore, Part, Partial};
use crate::system::state::State;
use crate::system::step::Step;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use kernel::Tid;
use memory::{AccessKind, Logged, PAGE_SIZE, SpaceId};
use world::refusal::Refusal;
use x86::{Machine, Trap};

/// Bytes that are accessed atomically if they are aligned.
///
/// SDM vol. 3, "Guaranteed Atomic Operations": accesses within an aligned quadword. Larger ones
/// that stay within a cache line are atomic on many processors, which no program may rely upon.
const ATOMIC: u64 = 8;

/// Bytes of an instruction, at most.
const LENGTH_MAX: usize = 15;

impl Stepper<'_> {
    /// Before an access to a page with watchpoints; whether the step continues.
    pub(crate) fn at_armed(&mut self, step: &mut Step, access: memory::VisibleAccess) -> Result<bool, Refusal> {
        let (tid, space) = (step.tid, self.state.world.space(step.tid));
        let is_visible = self.executor.refinement.is_visible(space, access.addr, access.size);
        let buffers = self.view().buffers_stores(tid);
        if !buffers {
            self.drain_all(step);
        }
        let parts = match buffers || self.view().may_split(tid, access, is_visible) {
            true => self.visible_parts(tid, space),
            false => Vec::new(),
        };
        if (is_visible || !parts.is_empty()) && !self.view().may_operate(step) {
            return Ok(false);
        }
        if parts.len() > 1 || buffers && !parts.is_empty() {
            return self.take_part(step, space, &parts);
        }
        if is_visible {
            // Where stores are buffered it traps: that enters the kernel.
            self.drain_all(step);
            self.note_order(tid, access.addr, access.size, access.access == AccessKind::Write);
        }
        self.state.overlay.thread_mut(tid).partial = None;
        let (first, is_in_prefix) = (step.accesses.len(), self.view().is_in_prefix());
        if is_visible {
            self.state.begin_operation(tid);
            self.hear_access(tid, space, access);
        }
        self.pass(step, None)?;
        step.is_fresh = false;
        // A watched word does not synchronise: its accesses stay plain, so that the last round reports the race as
        // well.
        let is_plain = self.state.is_plain(tid);
        step.accesses[first..].iter_mut().for_each(|access| access.plain = is_plain);
        Ok(!is_visible && parts.is_empty() || is_in_prefix || self.operated(step))
    }

    /// The accesses of the next instruction to racing words, in order, as atomic parts with the values that they write.
    /// None if the instruction traps.
    ///
    /// By executing the instruction on trial: which accesses it makes depends on its operands, and
    /// the memory's log has them in order.
    fn visible_parts(&mut self, tid: Tid, space: SpaceId) -> Vec<Part> {
        let done = self.state.half_done(tid).map_or_else(Vec::new, |partial| partial.done.clone());
        let savepoint = self.savepoint();
        self.state.show_own_stores(tid, space);
        self.state.put_back(space, &done);
        let trap = self.execute_one(tid);
        let mut log = self.state.world.memory.take_log();
        log.dedup();
        let parts = log.into_iter().flat_map(atomic_parts);
        let mut parts: Vec<Part> = parts
            .filter(|part| trap.is_none() && self.executor.refinement.is_visible(space, part.addr, part.size))
            .collect();
        for part in &mut parts {
            part.value = self.state.part_value(space, part);
        }
        self.roll_back(savepoint);
        parts
    }

    /// Executes one instruction, without watchpoints.
    fn execute_one(&mut self, tid: Tid) -> Option<Trap> {
        self.state.world.memory.forget_log();
        let machine = Machine {
            cpu: self.state.world.cpus.get_mut(&tid).expect("it runs"),
            memory: &mut self.state.world.memory,
            clock: self.state.world.kernel.clock.now(),
        };
        machine.memory.pass_armed(true);
        let stop = x86::run_past(machine, &mut self.executor.quiet);
        self.state.world.memory.pass_armed(false);
        stop.trap
    }

    /// Executes the next part of an instruction; the last one completes it.
    ///
    /// Intermediate parts do not go through the instruction at all: a read notes the value, a write
    /// stores what the trial said it would.
    fn take_part(&mut self, step: &mut Step, space: SpaceId, parts: &[Part]) -> Result<bool, Refusal> {
        let tid = step.tid;
        let rip = self.state.world.cpus[&tid].rip;
        let mut done = self.state.half_done(tid).map_or_else(Vec::new, |partial| partial.done.clone());
        let next = parts[done.len().min(parts.len() - 1)];
        let access = if next.write { AccessKind::Write } else { AccessKind::Read };
        self.hear_access(tid, space, memory::VisibleAccess { addr: next.addr, size: next.size, access });
        self.note_order(tid, next.addr, next.size, next.write);
        self.state.begin_operation(tid);
        step.is_fresh = false;
        if done.len() + 1 >= parts.len() {
            return self.take_last_part(step, space, (&done, next));
        }
        let value = if next.write { next.value } else { self.state.own_value(tid, space, &next) };
        done.push(Part { value, ..next });
        self.state.overlay.thread_mut(tid).partial = Some(Partial { rip, done });
        if next.write && self.view().buffers_stores(tid) {
            self.buffer_store(step, space, BufferedStore { part: next, rip });
            return Ok(false);
        }
        if next.write {
            self.state.store(space, &next, value);
        }
        self.state.world.memory.forget_log();
        let logged = Logged { addr: next.addr, size: next.size, write: next.write };
        self.note(step, space, logged, self.state.is_plain(tid));
        Ok(false)
    }

    /// Completes an instruction of which all parts but the last were executed. What other threads have written since to
    /// the words of the earlier parts is kept, and so is what is in memory below the stores of a buffer.
    fn take_last_part(
        &mut self,
        step: &mut Step,
        space: SpaceId,
        (done, last): (&[Part], Part),
    ) -> Result<bool, Refusal> {
        let (tid, rip) = (step.tid, self.state.world.cpus[&step.tid].rip);
        let is_buffered = last.write && self.view().buffers_stores(tid);
        let is_kept = |part: &Part| is_buffered || !last.write || !last.overlaps(part.addr, part.size);
        let kept = done.iter().filter(|part| is_kept(part)).chain(is_buffered.then_some(&last));
        let kept: Vec<(Part, u64)> = kept.map(|part| (*part, self.state.part_value(space, part))).collect();
        self.state.overlay.thread_mut(tid).partial = None;
        let below = self.state.show_own_stores(tid, space);
        self.state.put_back(space, done);
        let trap = self.execute_one(tid);
        let is_earlier = |logged: &Logged| done.iter().any(|part| part.overlaps(logged.addr, logged.size));
        let is_last = |logged: &Logged| logged.write == last.write && last.overlaps(logged.addr, logged.size);
        let mut log = self.state.world.memory.take_log();
        log.retain(|logged| match last.overlaps(logged.addr, logged.size) {
            true => is_last(logged) && !is_buffered,
            false => !is_earlier(logged),
        });
        let value = self.state.part_value(space, &last);
        self.state.put_values(space, &kept);
        self.state.put_values(space, &below);
        self.state.world.memory.forget_log();
        log.iter_mut().filter(|logged| is_last(logged)).for_each(|logged| {
            (logged.addr, logged.size) = (last.addr, last.size);
        });
        self.note_logged(step, &log);
        if is_buffered {
            self.buffer_store(step, space, BufferedStore { part: Part { value, ..last }, rip });
        }
        match trap {
            Some(trap) => {
                self.drain_all(step);
                self.state.world.handle(tid, &trap, self.listener).map(|()| true)
            }
            None => Ok(self.operated(step)),
        }
    }
}

impl View<'_> {
    /// Whether an instruction may have several accesses to racing words: it reads first, or its access is wider than an
    /// atomic unit, or it copies from memory to memory.
    fn may_split(&self, tid: Tid, access: memory::VisibleAccess, is_visible: bool) -> bool {
        let is_watched =
            (self.state.half_done(tid).is_some() || !self.is_alone()) && !self.workload.options.holes.tears;
        let is_wide = access.addr % ATOMIC + u64::from(access.size) > ATOMIC;
        let reads_first = access.access == AccessKind::Read;
        is_watched
            && !self.state.is_quiet(tid)
            && (is_visible && (reads_first || is_wide) || self.state.is_string_move(tid))
    }
}

impl State {
    /// The bytes of the next instruction, and some behind it. Zeros where the code ends before.
    pub(crate) fn instruction_bytes(&self, tid: Tid) -> [u8; LENGTH_MAX] {
        let mut bytes = [0; LENGTH_MAX];
        let (space, rip) = (self.world.space(tid), self.world.cpus[&tid].rip);
        if self.world.memory.peek(space, rip, &mut bytes).is_err() {
            let in_page = (PAGE_SIZE - rip % PAGE_SIZE) as usize;
            let _ = self.world.memory.peek(space, rip, &mut bytes[..in_page.min(LENGTH_MAX)]);
        }
        bytes
    }

    /// Whether the next instruction is `movs` or `cmps`, with any prefixes.
    fn is_string_move(&self, tid: Tid) -> bool {
        let is_prefix =
            |byte: &&u8| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf2 | 0xf3);
        self.instruction_bytes(tid)
            .iter()
            .find(|byte| !is_prefix(byte))
            .is_some_and(|opcode| (0xa4..=0xa7).contains(opcode))
    }

    /// The executed parts of the instruction that a thread is at. A signal handler may run in between.
    pub(crate) fn half_done(&self, tid: Tid) -> Option<&Partial> {
        let partial = self.overlay.thread(tid)?.partial.as_ref()?;
        (partial.rip == self.world.cpus[&tid].rip).then_some(partial)
    }

    /// Whether a thread has executed a part of an instruction that signals do not interrupt. Between the rounds of a string
    /// instruction they do.
    pub(crate) fn is_inside_instruction(&self, tid: Tid) -> bool {
        self.half_done(tid).is_some() && !self.is_string_move(tid)
    }

    /// Writes back the values that an instruction has read so far, so that it reads them again.
    fn put_back(&mut self, space: SpaceId, done: &[Part]) {
        for part in done.iter().filter(|part| !part.write) {
            self.store(space, part, part.value);
        }
    }

    pub(crate) fn store(&mut self, space: SpaceId, part: &Part, value: u64) {
        let _ = self.world.memory.write(space, part.addr, &value.to_le_bytes()[..part.size as usize]);
    }

    pub(crate) fn part_value(&self, space: SpaceId, part: &Part) -> u64 {
        let mut bytes = [0; ATOMIC as usize];
        let _ = self.world.memory.peek(space, part.addr, &mut bytes[..part.size as usize]);
        u64::from_le_bytes(bytes)
    }
}

/// Splits an access into atomic parts.
fn atomic_parts(logged: Logged) -> impl Iterator<Item = Part> {
    let end = logged.addr + u64::from(logged.size.max(1));
    let first = logged.addr / ATOMIC;
    (first..end.div_ceil(ATOMIC)).map(move |unit| {
        let addr = logged.addr.max(unit * ATOMIC);
        let size = (end.min((unit + 1) * ATOMIC) - addr) as u32;
        Part { addr, size, write: logged.write, value: 0 }
    })
}
