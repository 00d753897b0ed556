//! Syscalls as parts of steps: their footprints, and the threads and mappings that they create.

use crate::footprint::access::{self, Kind};
use crate::footprint::{Footprint, PendingCall};
use crate::options::Depth;
use crate::system::state::State;
use crate::system::step::Step;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use explore::graph::Access;
use kernel::Tid;
use kernel::signal::Recipients;
use kernel::table::footprint::{CloneFlags, Subject};
use kernel::table::{self, FootprintRule};
use memory::{Logged, SpaceId};
use world::refusal::Refusal;
use x86::cpu::{R8, R9, R10, RAX, RDI, RDX, RSI};
use x86::{Cpu, Machine, Trap};

/// Bytes of a thread's control block above its local storage. An underestimate is sound.
pub(crate) const CONTROL_BLOCK: u64 = 0x700;

const RT_SIGRETURN: u64 = 15;

impl Stepper<'_> {
    /// A syscall inside a function that is executed as a whole.
    pub(crate) fn quiet_call(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let (number, args) = call_of(&self.state.world.cpus[&step.tid]);
        if self.state.is_loaded(step.tid, (number, args)) {
            return Ok(!self.is_starting);
        }
        if self.stops_before(step) || self.waits_for_stores(step) {
            return Ok(false);
        }
        step.is_fresh = false;
        let asked = self.view().asked(step.tid, (number, args));
        let (pid, reach) = (asked.pid(), asked.reach());
        let is_noticed = asked.is_noticed_end() || !self.state.is_life(step.tid);
        let word = self.futex_word(step.tid, (number, args));
        let is_outside = word.is_some_and(|word| self.executor.refinement.is_used_outside(word));
        // The library blocks signals while it creates and ends threads: one that comes meanwhile stays pending.
        if self.executor.refinement.sends_signals && sets_mask(number) && !self.workload.options.holes.handlers {
            step.accesses.push(access::changes_mask(pid, step.tid));
        }
        if let Footprint::Objects(objects) = reach
            && (is_noticed || is_outside)
        {
            step.accesses.extend(objects);
        }
        self.call(step, (number, args))?;
        // Whoever waits there depends on who wakes it, be it that both only create or end threads: `pthread_once(3)` of two
        // threads that unwind their stacks.
        if let Some(word) = word.filter(|_| is_noticed || self.state.is_waiting(step.tid)) {
            self.executor.refinement.use_outside(word);
        }
        Ok(true)
    }

    /// The word of a `futex(2)`, as an object.
    fn futex_word(&self, tid: Tid, (number, args): (u64, [u64; 6])) -> Option<u64> {
        let (memory, space) = (&self.state.world.memory, self.state.world.space(tid));
        let word = access::word(memory, space, args[0], false, Kind::Word).object;
        (table::footprint(number) == FootprintRule::Futex).then_some(word)
    }

    /// Executes the instruction that a thread has stopped before.
    pub(crate) fn pass(&mut self, step: &mut Step, reach: Option<Footprint>) -> Result<(), Refusal> {
        let trap = self.pass_to_trap(step, reach)?;
        if trap.is_some() {
            step.run = 0;
        }
        trap.map_or(Ok(()), |trap| self.state.world.handle(step.tid, &trap, self.listener))
    }

    /// The same, but does not handle the trap that it raises, unless that is a syscall.
    pub(crate) fn pass_to_trap(&mut self, step: &mut Step, reach: Option<Footprint>) -> Result<Option<Trap>, Refusal> {
        let tid = step.tid;
        let cpu = self.state.world.cpus.get_mut(&tid).expect("it runs");
        let machine = Machine { cpu, memory: &mut self.state.world.memory, clock: self.state.world.kernel.clock.now() };
        machine.memory.pass_armed(true);
        let stop = x86::run_past(machine, &mut self.executor.code);
        self.state.world.memory.pass_armed(false);
        step.run += stop.executed;
        match stop.trap {
            Some(Trap::Syscall) => {
                self.call(step, call_of(&self.state.world.cpus[&tid]))?;
                if let Some(Footprint::Objects(objects)) = reach {
                    step.accesses.extend(objects);
                }
                self.note_kernel(step);
                Ok(None)
            }
            trap => {
                self.note_kernel(step);
                Ok(trap)
            }
        }
    }

    /// Makes a syscall, and records how it changes mappings.
    fn call(&mut self, step: &mut Step, (number, args): (u64, [u64; 6])) -> Result<(), Refusal> {
        let (tid, space) = (step.tid, self.state.world.space(step.tid));
        let remap = self.state.remap_of(tid, (number, args));
        let interrupted = self.view().interrupted_by((tid, space), remap.is_some(), (number, args[0]));
        if let Some(tids) = interrupted {
            step.accesses.extend(self.drain_threads(&tids));
        }
        let rule = table::footprint(number);
        step.exits |= matches!(rule, FootprintRule::EndsThread | FootprintRule::EndsProcess);
        if rule == FootprintRule::ReadsClock && !self.is_starting {
            self.state.overlay.thread_mut(tid).reads_clock = true;
        }
        let own = self.state.world.kernel.threads.get(&tid).map_or(0, |thread| thread.pid.0);
        let sets_limits = matches!(rule, FootprintRule::Asks(_, Subject::Limits)) && args[2] != 0;
        if sets_limits && ![0, own].contains(&(args[0] as u32)) {
            self.executor.refinement.set_limits();
        }
        let ends_alone = rule == FootprintRule::EndsThread && !self.state.is_life(tid);
        if let Some(addr) = ends_alone.then(|| self.state.cleared(tid)).flatten() {
            self.note(step, space, Logged { addr, size: 4, write: true }, false);
        }
        let has_stack = rule == FootprintRule::Forks(CloneFlags::Structure);
        let stack = has_stack.then(|| self.state.clone_stack(space, args[0])).flatten();
        let deviation = self.deviation(step, (number, args));
        let epoch = self.state.world.kernel.clock.epoch();
        self.state.world.call_as(tid, deviation, self.listener)?;
        if self.state.world.kernel.clock.epoch() != epoch && self.state.world.kernel.threads.len() > 1 {
            self.executor.refinement.set_clock();
        }
        if number == RT_SIGRETURN {
            self.state.return_from_handler(tid);
        }
        self.note_remap(step, remap);
        self.after_call(tid, (number, space));
        self.state.overlay.place_stacks(tid, stack);
        Ok(())
    }

    /// Finds threads and code that a syscall may have created.
    pub(crate) fn after_call(&mut self, tid: Tid, (number, space): (u64, SpaceId)) {
        self.follow_births(tid, space);
        if table::row(number).is_some_and(|row| row.maps_code) {
            self.look_at_mappings(tid);
        }
    }

    pub(crate) fn look_at_mappings(&mut self, tid: Tid) {
        if self.workload.options.depth == Depth::Summary && self.state.world.kernel.threads.contains_key(&tid) {
            let space = self.state.world.space(tid);
            if self.executor.hooks.look(&self.state.world.memory, space) {
                self.executor.refresh_stops();
            }
        }
    }

    /// The footprint of the syscall that a thread is about to make; nothing if its next instruction is another one.
    pub(crate) fn reach_of_stop(&mut self, tid: Tid) -> Option<Footprint> {
        let call = self.state.call_at(tid)?;
        if self.state.decides_who_handles(call.0) {
            return Some(Footprint::Objects(access::everything()));
        }
        // The masks of threads decide whether a signal is delivered, and to which thread.
        if self.executor.refinement.sends_signals && sets_mask(call.0) {
            return Some(Footprint::Objects(vec![access::changes_mask(self.view().asked(tid, call).pid(), tid)]));
        }
        if self.workload.options.holes.zones && table::row(call.0).is_some_and(|row| row.remaps.is_some()) {
            return Some(Footprint::Nothing);
        }
        let reach = self.view().asked(tid, call).reach();
        let is_operation = self.may_be_noticed_by_handlers(tid, call.0) || self.view().may_read_another_time(call.0);
        Some(if is_operation && reach == Footprint::Nothing { Footprint::Objects(Vec::new()) } else { reach })
    }

    /// Whether a handler of a signal may notice a call that nobody else does: it is an operation then.
    fn may_be_noticed_by_handlers(&self, tid: Tid, call: u64) -> bool {
        self.executor.refinement.sends_signals && !table::footprint(call).is_local() && self.state.has_handler(tid)
    }
}

impl<'a> View<'a> {
    /// Whether a call reads a clock that somebody else may set, or let go on.
    fn may_read_another_time(self, call: u64) -> bool {
        let (workload, is_set) = (self.workload, self.executor.refinement.sets_clock);
        let may_change = || is_set || workload.may_ever_hasten() || workload.faults.may_set_clock();
        table::footprint(call) == FootprintRule::ReadsClock && may_change() && !workload.options.holes.clocks
    }

    pub(crate) fn asked(self, tid: Tid, (number, args): (u64, [u64; 6])) -> PendingCall<'a> {
        let (kernel, memory) = (&self.state.world.kernel, &self.state.world.memory);
        PendingCall { kernel, memory, tid, number, args, was_shared: self.was_shared(tid) }
    }

    pub(crate) fn call_accesses(&self, tid: Tid) -> Vec<Access> {
        let Some((number, args)) = self.state.world.kernel.threads.get(&tid).and_then(|thread| thread.call) else {
            return Vec::new();
        };
        let asked = self.asked(tid, (number, args));
        match asked.reach() {
            Footprint::Nothing => Vec::new(),
            Footprint::Objects(accesses) => accesses,
        }
    }

    /// How many bytes the next read may return, other than all that are available.
    pub(crate) fn short_reads(&self, tid: Tid) -> Vec<u64> {
        let kernel = &self.state.world.kernel;
        if !self.workload.options.short_reads || kernel::signal::is_deliverable(kernel, tid) {
            return Vec::new();
        }
        let waits_in = kernel.threads.get(&tid).filter(|thread| thread.wait.is_some()).and_then(|thread| thread.call);
        let next = waits_in.or_else(|| self.state.call_at(tid));
        next.map_or_else(Vec::new, |(number, args)| kernel::short_transfer::amounts_read(kernel, tid, number, &args))
    }
}

impl State {
    /// The word that the kernel clears when a thread ends (`set_tid_address(2)`).
    fn cleared(&self, tid: Tid) -> Option<u64> {
        let thread = self.world.kernel.threads.get(&tid)?;
        Some(thread.clear_at_end).filter(|address| *address != 0 && self.has_siblings(tid))
    }

    /// The stack of the thread that `clone3(2)` is to create, with the thread's control block above it.
    fn clone_stack(&self, space: SpaceId, arguments: u64) -> Option<(u64, u64)> {
        const STACK: u64 = 40;
        let mut bytes = [0; 24];
        self.world.memory.peek(space, arguments.wrapping_add(STACK), &mut bytes).ok()?;
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let (start, size, storage) = (number(0), number(8), number(16));
        let end = start.saturating_add(size);
        let block = if storage >= end { storage.saturating_add(CONTROL_BLOCK) } else { end };
        (size > 0).then_some((start, block))
    }

    /// Whether a syscall may change which thread of its process handles a pending signal.
    fn decides_who_handles(&self, number: u64) -> bool {
        sets_mask(number) && !Recipients::of(&self.world.kernel).is_empty()
    }

    /// The syscall that a thread is about to make, if its next instruction is one.
    pub(crate) fn call_at(&self, tid: Tid) -> Option<(u64, [u64; 6])> {
        let cpu = &self.world.cpus[&tid];
        let mut bytes = [0; 2];
        self.world.memory.peek(self.world.space(tid), cpu.rip, &mut bytes).ok()?;
        (bytes == [0x0f, 0x05]).then(|| call_of(cpu))
    }
}

/// Whether a syscall changes the signal mask of its caller.
fn sets_mask(number: u64) -> bool {
    table::footprint(number) == FootprintRule::BlocksSignals
}

/// The syscall in the registers.
fn call_of(cpu: &Cpu) -> (u64, [u64; 6]) {
    let gpr = &cpu.gpr;
    (gpr[RAX], [gpr[RDI], gpr[RSI], gpr[RDX], gpr[R10], gpr[R8], gpr[R9]])
}
