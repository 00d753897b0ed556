//! Recognised functions of the C library as parts of steps.

use crate::footprint::access::{self, Kind};
use crate::libc::{self, Does, Done, Flavour, Function, Hook, Operation, RETURN, Whole};
use crate::system::overlay::{Phase, Within};
use crate::system::state::State;
use crate::system::step::Step;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use explore::graph::Access;
use kernel::Tid;
use memory::SpaceId;
use world::refusal::Refusal;
use x86::cpu::{RAX, RCX, RDI, RDX, RSI, RSP};
use x86::{Machine, Trap};

/// How far a library's routine may lie above the program's own code that it calls, in bytes of the stack.
const FRAMES_MAX: u64 = 4096;

impl View<'_> {
    /// The recognised function that a thread is at.
    pub(crate) fn hook(&self, tid: Tid) -> Option<Hook> {
        let cpu = self.state.world.cpus.get(&tid)?;
        self.executor.hooks.at(&self.state.world.memory, self.state.world.space(tid), cpu.rip)
    }

    /// The synchronising function that a thread is at.
    pub(crate) fn operation(&self, tid: Tid, hook: Hook) -> Operation {
        let cpu = &self.state.world.cpus[&tid];
        Operation {
            function: hook.function,
            flavour: hook.flavour,
            tid,
            space: self.state.world.space(tid),
            args: [cpu.gpr[RDI], cpu.gpr[RSI], cpu.gpr[RDX], cpu.gpr[RCX]],
            stack_pointer: cpu.gpr[RSP],
            any_sleeper: self.workload.options.any_sleeper,
            spurious: self.workload.options.spurious,
            has_kinds: !self.workload.options.holes.rwlocks,
        }
    }
}

impl Stepper<'_> {
    pub(crate) fn at_hook(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        match hook.function {
            Function::AssertFail if self.workload.options.checks.assert => {
                self.hear_operation(step.tid, hook);
                self.state.at_failed_assertion(step)
            }
            Function::AssertFail | Function::Abort => self.step_past(step),
            Function::StartMain => self.at_start_main(step, hook),
            Function::Begin if !self.state.is_called_back(step.tid) => self.at_begin(step, hook),
            Function::Begin | Function::Callback => self.at_callback(step, hook),
            Function::LibraryStart => self.at_library_start(step, hook),
            Function::Back => self.at_back(step),
            Function::Delay => Ok(self.at_delay(step)),
            Function::Registers(number) => self.at_registers(step, hook, number),
            Function::Landing => self.at_landing(step, hook),
            Function::Landed => self.at_landed(step),
            Function::CancelState => self.at_cancel_state(step),
            Function::TestCancel => self.at_test_cancel(step),
            function if function.joins() && self.state.is_joining(step.tid) => self.step_past(step),
            Function::Return => self.at_return(step),
            Function::Whole(whole) => self.at_whole(step, hook, whole),
            Function::Allocate(asked) => self.at_allocation(step, hook, asked),
            _ => self.at_operation(step, hook),
        }
    }

    pub(crate) fn at_start_main(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        self.add_hook(step.tid, self.state.world.cpus[&step.tid].gpr[RDI], Hook { function: Function::Begin, ..hook });
        self.step_past(step)
    }

    /// The program's own code begins.
    pub(crate) fn at_begin(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        let tid = step.tid;
        if self.state.overlay.thread(tid).is_some_and(|overlay| overlay.phase == Phase::Starting) {
            self.state.overlay.thread_mut(tid).phase = Phase::Running;
            if self.is_starting {
                return Ok(false);
            }
            let is_first = self.state.world.kernel.threads.get(&tid).is_some_and(|thread| thread.pid.0 == tid.0);
            if !is_first && hook.flavour == Flavour::Rust {
                self.clear_leftovers(step);
            }
            if !is_first && let Some(address) = self.end_of_own_code(tid, hook) {
                self.add_hook(tid, address, Hook { function: Function::Return, ..hook });
            }
        }
        self.go_on(step)
    }

    /// A library begins a thread: what it does before and behind the program's own code belongs to the thread's coming and
    /// going. Where its own end is not found later, the thread ends where this returns.
    pub(crate) fn at_library_start(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        if let Some(address) = self.state.return_address(step.tid).filter(|_| self.state.starts(step.tid)) {
            self.add_hook(step.tid, address, Hook { function: Function::Return, ..hook });
        }
        self.go_on(step)
    }

    /// A delay takes no time here. What it counts decides only how long the next one takes: counted, a loop would never come to
    /// a state in which it was before.
    fn at_delay(&mut self, step: &mut Step) -> bool {
        step.is_fresh = false;
        self.state.return_with(step.tid, 0);
        true
    }

    /// Where a thread's own code, which begins here, returns to the library that started it: its caller, or the routine of a
    /// library, which calls nothing else of the program. Several frames may lie between.
    fn end_of_own_code(&self, tid: Tid, hook: Hook) -> Option<u64> {
        if hook.flavour != Flavour::Rust {
            return self.state.return_address(tid);
        }
        let (space, cpu) = (self.state.world.space(tid), &self.state.world.cpus[&tid]);
        let starters = self.executor.hooks.starters(&self.state.world.memory, space, cpu.rip);
        let end = self.state.overlay.thread(tid)?.stack?.1.min(cpu.gpr[RSP].saturating_add(FRAMES_MAX));
        let is_inside = |address: &u64| starters.iter().any(|range| range.contains(address));
        let mut words = (cpu.gpr[RSP]..end).step_by(8).filter_map(|at| self.state.word_at(space, at));
        words.find(is_inside)
    }

    /// Executes the first instruction of the program's own code, which may be visible like any other.
    pub(crate) fn first_instruction(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let stop = self.state.world.execute_instructions(step.tid, &mut self.executor.unhooked, 1);
        self.note_accesses(step);
        step.is_fresh &= stop.executed == 0;
        match stop.trap {
            None => Ok(true),
            Some(Trap::Stop) => self.at_synchronising(step),
            Some(trap) => self.at_trap(step, &trap),
        }
    }

    /// The start routine of a thread has returned.
    pub(crate) fn at_return(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let is_over = self.state.overlay.thread(step.tid).is_some_and(|overlay| overlay.phase == Phase::Running);
        if is_over {
            if !self.view().may_operate(step) {
                return Ok(false);
            }
            self.state.end(step, Phase::Ending);
        }
        self.step_past(step)
    }

    pub(crate) fn at_whole(&mut self, step: &mut Step, hook: Hook, whole: Whole) -> Result<bool, Refusal> {
        if whole == Whole::Create && self.state.starts(step.tid) && self.state.is_first(step.tid) {
            self.state.begin_early(step.tid);
            return Ok(!self.is_starting);
        }
        if self.state.is_quiet(step.tid) || whole == Whole::Stdio && self.state.has_private_memory(step.tid) {
            return self.step_past(step);
        }
        if !self.view().may_operate(step) {
            return Ok(false);
        }
        if whole == Whole::Create {
            let routine = self.state.world.cpus[&step.tid].gpr[RDX];
            self.add_hook(step.tid, routine, Hook { function: Function::Begin, ..hook });
        }
        if whole == Whole::Detach {
            let object = libc::thread(self.state.world.space(step.tid), self.state.world.cpus[&step.tid].gpr[RDI]);
            step.accesses.push(Access { object, write: true, plain: false });
        }
        self.hear_operation(step.tid, hook);
        // Faults happen to calls between which others may move.
        let is_split = self.executor.refinement.is_stdio_split || !self.workload.faults.all.is_empty();
        if whole == Whole::Stdio && is_split {
            return self.enter_real(step, hook);
        }
        if let Some(phase) = whole.last_phase() {
            self.state.end(step, phase);
            return self.step_past(step);
        }
        self.enter_whole(step, whole)
    }

    /// Executes a function as a whole. Its return address is replaced by one that is not mapped, so that its end traps.
    ///
    /// The trap at `RETURN` is found by address, so the function may call whatever it likes before
    /// it returns.
    pub(crate) fn enter_whole(&mut self, step: &mut Step, whole: Whole) -> Result<bool, Refusal> {
        let Some(return_to) = self.state.return_address(step.tid) else { return self.step_past(step) };
        let (space, pointer) = (self.state.world.space(step.tid), self.state.world.cpus[&step.tid].gpr[RSP]);
        if self.state.world.memory.write(space, pointer, &RETURN.to_le_bytes()).is_ok() {
            self.state.overlay.thread_mut(step.tid).within = Some(Within { return_to, whole });
        }
        self.step_past(step)
    }

    pub(crate) fn leave_whole(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        step.is_fresh = false;
        let Some(within) = self.state.overlay.thread_mut(step.tid).within.take() else { return Ok(false) };
        self.state.world.cpus.get_mut(&step.tid).expect("it runs").rip = within.return_to;
        if within.whole == Whole::Cancel {
            self.state.has_cancelled(step);
        }
        Ok(within.whole == Whole::Allocate || self.operated(step))
    }

    /// Whether others may notice an operation. Those by which the library creates and ends threads commute, unless programs use
    /// the same lock: `exit(3)` and the end of a thread both lock the loader. They use it by functions, or by its words, as
    /// Rust's `Mutex` does where nobody waits.
    fn is_noted(&mut self, operation: &Operation, accesses: &[Access]) -> bool {
        let is_life = self.state.is_life(operation.tid);
        let refinement = &mut self.executor.refinement;
        if !is_life {
            accesses.iter().for_each(|access| refinement.use_outside(access.object));
            return true;
        }
        // What is done once by a thread that ends (it initialises the unwinder) is not done by the next.
        let is_once = operation.function.does() == Some(Does::Once);
        let memory = &self.state.world.memory;
        let word = |(address, _)| access::word(memory, operation.space, address, false, Kind::Word).object;
        let words = operation.words(self.state.seen()).into_iter().map(word);
        let objects = accesses.iter().map(|access| access.object).chain(words);
        objects.fold(is_once, |is_noted, object| refinement.is_used_outside(object) || is_noted)
    }

    /// A step stops at an operation that is not enabled: it would go on if others had given the lock back, or done what is done once.
    fn stop_at(&mut self, step: &mut Step, operation: &Operation) {
        let accesses = operation.accesses(self.state.seen());
        step.accesses.extend(accesses.into_iter().map(|access| Access { write: false, ..access }));
        self.note_look(step, operation);
        self.note_split(operation);
    }

    /// A thread that comes or goes finds that another one holds a lock: the coming or going of that one takes several steps.
    /// What it does with the lock is visible then.
    fn note_split(&mut self, operation: &Operation) {
        if self.state.is_life(operation.tid) {
            let accesses = operation.accesses(self.state.seen());
            accesses.iter().for_each(|access| self.executor.refinement.use_outside(access.object));
        }
    }

    /// An acquisition is a right mover and a release a left mover (Lipton's reduction): a step goes
    /// on after acquiring a lock, for nothing that others do can depend on when it was acquired,
    /// unless somebody breaks the lock, or finds it held and goes on (`pthread_mutex_trylock(3)`).
    /// `is_right_mover` is that assumption; `break_lock` and `observe` take it back, and the search
    /// begins anew with it refined.
    pub(crate) fn at_operation(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        let operation = self.view().operation(step.tid, hook);
        let seen = self.state.seen();
        if !self.view().may_operate(step) {
            return Ok(false);
        }
        if !operation.is_enabled(seen) {
            self.stop_at(step, &operation);
            return Ok(false);
        }
        let lock = operation.lock(seen);
        let accesses = operation.accesses(seen);
        self.state.begin_operation(step.tid);
        if self.is_noted(&operation, &accesses) {
            step.accesses.extend(accesses);
            self.note_lock(step, &operation);
        }
        self.hear_operation(step.tid, hook);
        let holder = lock.and_then(|lock| self.state.overlay.holder(lock));
        let is_own = holder == Some(step.tid);
        let world = &mut self.state.world;
        let woken = step.alternative.take_wake();
        let done = operation.perform(&world.kernel, &mut world.memory, &world.cpus, &mut self.state.overlay, woken);
        let is_taken = matches!(done, Done::Acquired(_));
        if let Some((lock, holder)) = lock.zip(holder).filter(|_| !is_own) {
            self.look_at_broken(lock, holder, is_taken);
        }
        // Whoever holds the lock may have ended: what fails has found it held all the same.
        let has_failed = matches!(done, Done::Returned(result) if result != 0);
        if let Some(lock) = lock.filter(|_| has_failed && !is_own && !self.workload.options.holes.tries) {
            self.executor.refinement.observe(lock);
        }
        self.state.world.memory.forget_log();
        step.is_fresh = false;
        match done {
            Done::Sleeps => Ok(false),
            Done::Whole(Whole::Once) => self.enter_once(step, hook),
            Done::Whole(whole) => self.enter_whole(step, whole),
            Done::Cancelled => self.cancelled(step, hook),
            Done::Unsummarised => self.enter_real(step, hook),
            Done::Acquired(result) => {
                self.state.return_with(step.tid, result);
                Ok(lock.is_none_or(|lock| self.executor.refinement.is_right_mover(lock)) || self.operated(step))
            }
            Done::Returned(result) => {
                self.state.return_with(step.tid, result);
                Ok(self.state.is_quiet(step.tid) || self.operated(step))
            }
            Done::Misused(result, what) => {
                step.misuse = Some(what);
                self.state.return_with(step.tid, result);
                Ok(self.operated(step))
            }
        }
    }

    /// A thread has operated on a lock that another thread holds: if it acquired or released the lock, that is broken, and
    /// otherwise observed.
    ///
    /// A lock is broken when somebody other than its holder releases or takes it (an unlock by
    /// another thread, a fork handler). It is observed by whatever fails because of it.
    fn look_at_broken(&mut self, lock: u64, holder: Tid, is_taken: bool) {
        let still_holds = self.state.overlay.thread(holder).is_some_and(|overlay| overlay.holds.contains(&lock));
        if is_taken && still_holds {
            self.state.overlay.thread_mut(holder).release(lock);
        }
        let holes = &self.workload.options.holes;
        match is_taken || !still_holds {
            true if !holes.locks => self.executor.refinement.break_lock(lock),
            false if !holes.tries => self.executor.refinement.observe(lock),
            _ => {}
        }
    }

    /// Executes the first instruction of a recognised function like any other.
    pub(crate) fn step_past(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        self.pass_quietly(step)?;
        step.is_fresh = false;
        Ok(true)
    }

    pub(crate) fn pass_quietly(&mut self, step: &mut Step) -> Result<(), Refusal> {
        let cpu = self.state.world.cpus.get_mut(&step.tid).expect("it runs");
        let machine = Machine { cpu, memory: &mut self.state.world.memory, clock: self.state.world.kernel.clock.now() };
        machine.memory.pass_armed(true);
        let stop = x86::run_past(machine, &mut self.executor.quiet);
        self.state.world.memory.pass_armed(false);
        self.note_accesses(step);
        match stop.trap {
            Some(trap) => self.state.world.handle(step.tid, &trap, self.listener),
            None => Ok(()),
        }
    }

    pub(crate) fn add_hook(&mut self, tid: Tid, address: u64, hook: Hook) {
        let space = self.state.world.space(tid);
        if self.executor.hooks.add(&self.state.world.memory, space, address, hook) {
            self.executor.refresh_stops();
        }
    }
}

impl State {
    /// `assert(3)` has failed: the step ends with the message that it would print.
    pub(crate) fn at_failed_assertion(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let (space, cpu) = (self.world.space(step.tid), &self.world.cpus[&step.tid]);
        let [text, file, line, function] = [RDI, RSI, RDX, RCX].map(|register| cpu.gpr[register]);
        let mut string = |address| {
            let bytes = self.world.memory.read_until_nul(space, address, 4096).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (text, file, function) = (string(text), string(file), string(function));
        step.assertion = Some(format!("{file}:{line}: {function}: assertion `{text}` failed", line = line as u32));
        self.world.memory.forget_log();
        Ok(false)
    }

    /// Whether a thread is in a joining function: some call another one inside.
    pub(crate) fn is_joining(&self, tid: Tid) -> bool {
        let within = self.overlay.thread(tid).and_then(|overlay| overlay.within);
        within.is_some_and(|within| within.whole == Whole::Join)
    }

    /// A thread, or its process, begins to end.
    pub(crate) fn end(&mut self, step: &mut Step, phase: Phase) {
        let base = self.world.cpus[&step.tid].fs_base;
        let object = libc::thread(self.world.space(step.tid), base);
        step.accesses.push(Access { object, write: true, plain: false });
        self.overlay.leave(step.tid, object);
        let overlay = self.overlay.thread_mut(step.tid);
        (overlay.phase, overlay.ends) = (phase, true);
    }

    pub(crate) fn return_address(&self, tid: Tid) -> Option<u64> {
        self.word_at(self.world.space(tid), self.world.cpus[&tid].gpr[RSP])
    }

    fn word_at(&self, space: SpaceId, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.world.memory.peek(space, address, &mut bytes).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    /// Returns from a function that was just called.
    pub(crate) fn return_with(&mut self, tid: Tid, result: u64) {
        let address = self.return_address(tid);
        let cpu = self.world.cpus.get_mut(&tid).expect("it runs");
        cpu.gpr[RAX] = result;
        cpu.gpr[RSP] += 8;
        cpu.rip = address.unwrap_or(0);
    }
}
