//! One step of a thread: one operation that others can see, or the instructions up to the next one.
//!
//! Whatever follows an operation and touches nothing shared belongs to its step; so does what follows the acquisition of a
//! lock, up to the next operation. Anything else is a step of its own: to merge what follows a release would hide races.

use super::library::{self, Done, Function, Hook, Library, Loaded, Member, Operation, Phase, RETURN, Whole, Within};
use super::options::Depth;
use super::programs::Programs;
use super::reach::{Asked, Reach};
use super::touch::{self, Kind};
use crate::refusal::Refusal;
use explore::graph::Touch;
use kernel::{Kernel, Tid};
use memory::{Halt, Mark, SpaceId};
use x86::cpu::{R8, R9, R10, RAX, RCX, RDI, RDX, RSI, RSP};
use x86::{Cpu, Machine, Trap};

/// Instructions of one step without anything that others can see; a loop that spins is cut here.
const RUN_MAX: u64 = 20_000;

/// Operations of one step of somebody who is alone; a loop that spins is cut here, too.
const PARTS_MAX: u32 = 2_000;

/// A step in progress.
pub(super) struct Step {
    pub tid: Tid,
    /// Which way the operation goes, if there are several.
    index: u32,
    /// What was touched.
    pub touches: Vec<Touch>,
    /// Nothing was done so far.
    pub is_fresh: bool,
    /// Where to come back to if the instructions behind the operation turn out to touch something.
    kept: Option<Kept>,
    /// An assertion that has failed, as the program tells it.
    pub assertion: Option<String>,
    /// A function is used as it may not be.
    pub misuse: Option<&'static str>,
    /// The lowest address of the stack that was written.
    pub lowest: u64,
    /// Below this address the stack is all zeros.
    pub clean_below: u64,
}

/// A world just behind an operation.
struct Kept {
    mark: Mark,
    cpu: Cpu,
    kernel: Kernel,
    library: Library,
    touches: usize,
    heard: usize,
    clean_below: u64,
}

impl Programs {
    /// Takes a step of a thread in the world that is loaded. Alone in the world, a thread goes on until it is not, or waits.
    pub(super) fn advance(&mut self, tid: Tid, index: u32) -> Result<Step, Refusal> {
        let is_fresh = true;
        let (assertion, misuse) = (None, None);
        let (lowest, clean_below) = (u64::MAX, self.dead_end(tid));
        let mut step =
            Step { tid, index, touches: Vec::new(), is_fresh, kept: None, assertion, misuse, lowest, clean_below };
        let space = self.world.space(tid);
        let base = self.world.cpus[&tid].fs_base;
        self.world.memory.enter(space);
        self.world.memory.take_log();
        self.place_stack(tid);
        let mut parts = 0;
        while parts < PARTS_MAX && self.goes_on(&mut step)? {
            parts += 1;
        }
        self.note_accesses(&mut step);
        self.clear_dead_stack(&mut step);
        self.hand_over(&step);
        self.follow_births(tid, space);
        self.note_end(&mut step, library::thread(space, base));
        step.touches.push(Touch { object: touch::object(Kind::World, 0, 0), write: false, plain: false });
        Ok(step)
    }

    /// Somebody may wait for a thread's end, however that comes.
    fn note_end(&self, step: &mut Step, object: u64) {
        let is_known = step.touches.iter().any(|touch| touch.object == object && touch.write);
        if !is_known && !self.world.kernel.threads.contains_key(&step.tid) {
            step.touches.push(Touch { object, write: true, plain: false });
        }
    }

    /// Takes the next part of a step; whether there is more.
    fn goes_on(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let tid = step.tid;
        let was_waiting = self.is_waiting(tid);
        if was_waiting {
            step.touches.extend(self.call_touches(tid));
        }
        let settles = self.world.settle(tid, &mut self.listener)?;
        self.note_kernel(step);
        if !settles {
            return Ok(false);
        }
        if was_waiting {
            step.is_fresh = false;
            self.look_at_mappings(tid);
            if !self.operated(step) {
                return Ok(false);
            }
        }
        let is_quiet = self.is_quiet(tid);
        let code = if is_quiet { &mut self.quiet } else { &mut self.code };
        let stop = self.world.execute_instructions(tid, code, RUN_MAX);
        self.note_accesses(step);
        if stop.trap.is_some() {
            self.clear_dead_stack(step);
        }
        step.is_fresh &= stop.executed == 0;
        let goes_on = match stop.trap {
            None => false,
            Some(Trap::Stop) => self.at_stop(step)?,
            Some(trap) => self.at_trap(step, &trap)?,
        };
        Ok(self.keeps(step) && goes_on)
    }

    /// Instructions could not go on; whether the step does.
    fn at_trap(&mut self, step: &mut Step, trap: &Trap) -> Result<bool, Refusal> {
        match trap {
            Trap::Memory(Halt::Visible(touch)) => self.at_armed(step, *touch),
            _ if self.world.cpus[&step.tid].rip == RETURN => self.leave_whole(step),
            Trap::Syscall => self.quiet_call(step),
            trap => {
                step.is_fresh = false;
                self.world.handle(step.tid, trap, &mut self.listener).map(|()| true)
            }
        }
    }

    /// Whether a thread executes what is nobody's business.
    pub(super) fn is_quiet(&self, tid: Tid) -> bool {
        self.library.member(tid).is_some_and(Member::is_in_library)
    }

    /// Called behind an operation; whether the step goes on.
    pub(super) fn operated(&mut self, step: &mut Step) -> bool {
        self.clear_dead_stack(step);
        if !self.options.only_breaks
            && !self.is_alone()
            && step.kept.is_none()
            && !self.is_life(step.tid)
            && self.world.cpus.contains_key(&step.tid)
        {
            step.kept = Some(Kept {
                mark: self.world.memory.mark(),
                cpu: self.world.cpus[&step.tid].clone(),
                kernel: self.world.kernel.clone(),
                library: self.library.clone(),
                touches: step.touches.len(),
                heard: self.listener.heard.len(),
                clean_below: step.clean_below,
            });
        }
        true
    }

    /// Goes back behind the operation if what followed touched something; whether it did not.
    fn keeps(&mut self, step: &mut Step) -> bool {
        let Some(kept) = step.kept.take_if(|kept| step.touches.len() > kept.touches) else { return true };
        self.world.memory.undo_to(kept.mark);
        self.world.memory.take_log();
        self.world.cpus.insert(step.tid, kept.cpu);
        self.world.kernel = kept.kernel;
        self.library = kept.library;
        step.touches.truncate(kept.touches);
        step.clean_below = kept.clean_below;
        self.listener.heard.truncate(kept.heard);
        false
    }

    pub(super) fn is_waiting(&self, tid: Tid) -> bool {
        self.world.kernel.threads.get(&tid).is_some_and(|thread| thread.wait.is_some())
    }

    /// Whether nobody else is there to see anything.
    fn is_alone(&self) -> bool {
        self.world.kernel.threads.len() == 1
    }

    /// Whether an operation may be done now: it is the first thing in the step, or nobody can see it.
    pub(super) fn may_operate(&self, step: &Step) -> bool {
        step.is_fresh || self.options.only_breaks || self.is_alone() || self.is_quiet(step.tid)
    }

    /// Before something that others may see; whether the step goes on.
    fn at_stop(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let is_break = self.is_at_break(step.tid);
        if is_break && !step.is_fresh && !self.is_alone() && !self.is_quiet(step.tid) {
            return Ok(false);
        }
        if let Some(hook) = self.hook(step.tid) {
            return self.at_hook(step, hook);
        }
        match is_break {
            true if self.is_quiet(step.tid) => self.step_past(step),
            true => self.first_instruction(step),
            false => self.at_synchronising(step),
        }
    }

    /// Whether the user wants threads to stop where this one is.
    fn is_at_break(&self, tid: Tid) -> bool {
        self.hooks.is_break(&self.world.memory, self.world.space(tid), self.world.cpus[&tid].rip)
    }

    fn at_synchronising(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let reach = self.reach_of_stop(step.tid);
        // How much a read returns is a choice even if nobody else is there.
        let has_choices = reach.is_some() && !step.is_fresh && !self.short_reads(step.tid).is_empty();
        match reach {
            _ if has_choices => Ok(false),
            None | Some(Reach::Nothing) => self.at_locked(step),
            Some(_) if !self.may_operate(step) => Ok(false),
            reach => {
                self.pass(step, reach)?;
                step.is_fresh = false;
                Ok(self.operated(step))
            }
        }
    }

    /// Before an instruction that locks memory, or a call that concerns only the caller and its memory: others see it only
    /// if they can reach that memory.
    fn at_locked(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let (mark, cpu, before) = (self.world.memory.mark(), self.world.cpus[&step.tid].clone(), step.touches.len());
        let (kernel, heard) = (self.world.kernel.clone(), self.listener.heard.len());
        let fingerprint = self.world.memory.fingerprint();
        self.pass(step, None)?;
        let is_visible = step.touches.len() > before;
        if is_visible && self.world.memory.fingerprint() == fingerprint {
            // A failed comparison, or a store of what is there: whoever reads does not notice.
            step.touches[before..].iter_mut().for_each(|touch| touch.write = false);
        }
        if is_visible && !self.may_operate(step) {
            self.world.memory.undo_to(mark);
            self.world.memory.take_log();
            self.world.cpus.insert(step.tid, cpu);
            self.world.kernel = kernel;
            self.listener.heard.truncate(heard);
            step.touches.truncate(before);
            return Ok(false);
        }
        step.is_fresh = false;
        Ok(!is_visible || self.operated(step))
    }

    /// The recognised function that a thread is at.
    pub(super) fn hook(&self, tid: Tid) -> Option<Hook> {
        let cpu = self.world.cpus.get(&tid)?;
        self.hooks.at(&self.world.memory, self.world.space(tid), cpu.rip)
    }

    fn at_hook(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        match hook.function {
            Function::AssertFail if self.options.checks.assert => {
                self.hear_operation(step.tid, hook);
                self.at_failed_assertion(step)
            }
            Function::AssertFail | Function::Abort => self.step_past(step),
            Function::StartMain => self.at_start_main(step, hook),
            Function::Begin if !self.is_called_back(step.tid) => self.at_begin(step, hook),
            Function::Begin | Function::Callback => self.at_callback(step, hook),
            Function::Back => self.at_back(step),
            Function::Registers(number) => self.at_registers(step, hook, number),
            Function::Landing => self.at_landing(step, hook),
            Function::Landed => self.at_landed(step),
            Function::CancelState => self.at_cancel_state(step),
            Function::TestCancel => self.at_test_cancel(step),
            function if function.joins() && self.is_joining(step.tid) => self.step_past(step),
            Function::Return => self.at_return(step),
            Function::Whole(whole) => self.at_whole(step, hook, whole),
            Function::Allocate(asked) => self.at_allocation(step, hook, asked),
            _ => self.at_operation(step, hook),
        }
    }

    /// `assert(3)` has failed: what it would print, and nothing behind it.
    fn at_failed_assertion(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let (space, cpu) = (self.world.space(step.tid), &self.world.cpus[&step.tid]);
        let [text, file, line, function] = [RDI, RSI, RDX, RCX].map(|register| cpu.gpr[register]);
        let mut string = |address| {
            let bytes = self.world.memory.read_until_nul(space, address, 4096).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (text, file, function) = (string(text), string(file), string(function));
        step.assertion = Some(format!("{file}:{line}: {function}: assertion `{text}` failed", line = line as u32));
        self.world.memory.take_log();
        Ok(false)
    }

    fn at_start_main(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        self.add_hook(step.tid, self.world.cpus[&step.tid].gpr[RDI], Hook { function: Function::Begin, ..hook });
        self.step_past(step)
    }

    /// The program's own code begins.
    fn at_begin(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        let tid = step.tid;
        if self.library.member(tid).is_some_and(|member| member.phase == Phase::Starting) {
            self.library.member_mut(tid).phase = Phase::Running;
            if self.is_starting {
                return Ok(false);
            }
            let is_first = self.world.kernel.threads.get(&tid).is_some_and(|thread| thread.pid.0 == tid.0);
            if !is_first && let Some(address) = self.return_address(tid) {
                self.add_hook(tid, address, Hook { function: Function::Return, ..hook });
            }
        }
        if self.is_quiet(tid) { self.step_past(step) } else { self.first_instruction(step) }
    }

    /// The first instruction of the program's own code is like any other: others may see it.
    pub(super) fn first_instruction(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let stop = self.world.execute_instructions(step.tid, &mut self.unhooked, 1);
        self.note_accesses(step);
        step.is_fresh &= stop.executed == 0;
        match stop.trap {
            None => Ok(true),
            Some(Trap::Stop) => self.at_synchronising(step),
            Some(trap) => self.at_trap(step, &trap),
        }
    }

    /// The function that a thread was made for has returned.
    fn at_return(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let is_over = self.library.member(step.tid).is_some_and(|member| member.phase == Phase::Running);
        if is_over {
            if !self.may_operate(step) {
                return Ok(false);
            }
            self.end(step, Phase::Ending);
        }
        self.step_past(step)
    }

    /// Whether a thread is in a function that joins: of some, another one is the inner part.
    fn is_joining(&self, tid: Tid) -> bool {
        let within = self.library.member(tid).and_then(|member| member.within);
        within.is_some_and(|within| within.whole == Whole::Join)
    }

    /// From here on a thread, or its process, only ends.
    pub(super) fn end(&mut self, step: &mut Step, phase: Phase) {
        let base = self.world.cpus[&step.tid].fs_base;
        let object = library::thread(self.world.space(step.tid), base);
        step.touches.push(Touch { object, write: true, plain: false });
        self.library.leave(step.tid, object);
        let member = self.library.member_mut(step.tid);
        (member.phase, member.ends) = (phase, true);
    }

    fn at_whole(&mut self, step: &mut Step, hook: Hook, whole: Whole) -> Result<bool, Refusal> {
        if self.is_quiet(step.tid) || whole == Whole::Stdio && self.has_private_memory(step.tid) {
            return self.step_past(step);
        }
        if !self.may_operate(step) {
            return Ok(false);
        }
        if whole == Whole::Create {
            let routine = self.world.cpus[&step.tid].gpr[RDX];
            self.add_hook(step.tid, routine, Hook { function: Function::Begin, ..hook });
        }
        if whole == Whole::Detach {
            let object = library::thread(self.world.space(step.tid), self.world.cpus[&step.tid].gpr[RDI]);
            step.touches.push(Touch { object, write: true, plain: false });
        }
        self.hear_operation(step.tid, hook);
        if let Some(phase) = whole.last_phase() {
            self.end(step, phase);
            return self.step_past(step);
        }
        self.enter_whole(step, whole)
    }

    /// Carries out a function as a whole: it returns to where nothing is mapped.
    pub(super) fn enter_whole(&mut self, step: &mut Step, whole: Whole) -> Result<bool, Refusal> {
        let Some(return_to) = self.return_address(step.tid) else { return self.step_past(step) };
        let (space, pointer) = (self.world.space(step.tid), self.world.cpus[&step.tid].gpr[RSP]);
        if self.world.memory.write(space, pointer, &RETURN.to_le_bytes()).is_ok() {
            self.library.member_mut(step.tid).within = Some(Within { return_to, whole });
        }
        self.step_past(step)
    }

    fn leave_whole(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        step.is_fresh = false;
        let Some(within) = self.library.member_mut(step.tid).within.take() else { return Ok(false) };
        self.world.cpus.get_mut(&step.tid).expect("it runs").rip = within.return_to;
        if within.whole == Whole::Cancel {
            self.has_cancelled(step);
        }
        Ok(within.whole == Whole::Allocate || self.operated(step))
    }

    pub(super) fn return_address(&self, tid: Tid) -> Option<u64> {
        let mut bytes = [0; 8];
        let pointer = self.world.cpus[&tid].gpr[RSP];
        self.world.memory.peek(self.world.space(tid), pointer, &mut bytes).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    /// The synchronising function that a thread is at.
    pub(super) fn operation(&self, tid: Tid, hook: Hook) -> Operation {
        let cpu = &self.world.cpus[&tid];
        Operation {
            function: hook.function,
            flavour: hook.flavour,
            tid,
            space: self.world.space(tid),
            args: [cpu.gpr[RDI], cpu.gpr[RSI], cpu.gpr[RDX], cpu.gpr[RCX]],
            stack_pointer: cpu.gpr[RSP],
            any_sleeper: self.options.any_sleeper,
        }
    }

    fn at_operation(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        let operation = self.operation(step.tid, hook);
        let seen = self.seen();
        if !self.may_operate(step) || operation.choices(seen) == 0 {
            return Ok(false);
        }
        if !self.is_life(step.tid) {
            step.touches.extend(operation.touches(seen));
        }
        self.hear_operation(step.tid, hook);
        let world = &mut self.world;
        let index = std::mem::take(&mut step.index);
        let done = operation.perform(&world.kernel, &mut world.memory, &world.cpus, &mut self.library, index);
        self.world.memory.take_log();
        step.is_fresh = false;
        match done {
            Done::Sleeps => Ok(false),
            Done::Whole(Whole::Once) => self.enter_once(step, hook),
            Done::Whole(whole) => self.enter_whole(step, whole),
            Done::Cancelled => self.cancelled(step, hook),
            Done::Unsummarised => self.enter_real(step, hook),
            Done::Acquired(result) => {
                self.return_with(step.tid, result);
                Ok(true)
            }
            Done::Returned(result) => {
                self.return_with(step.tid, result);
                Ok(self.is_quiet(step.tid) || self.operated(step))
            }
            Done::Misused(result, what) => {
                step.misuse = Some(what);
                self.return_with(step.tid, result);
                Ok(self.operated(step))
            }
        }
    }

    /// Returns from a function that was just called.
    pub(super) fn return_with(&mut self, tid: Tid, result: u64) {
        let address = self.return_address(tid);
        let cpu = self.world.cpus.get_mut(&tid).expect("it runs");
        cpu.gpr[RAX] = result;
        cpu.gpr[RSP] += 8;
        cpu.rip = address.unwrap_or(0);
    }

    /// Executes the first instruction of a recognised function like any other.
    pub(super) fn step_past(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        self.pass_quietly(step)?;
        step.is_fresh = false;
        Ok(true)
    }

    fn pass_quietly(&mut self, step: &mut Step) -> Result<(), Refusal> {
        let cpu = self.world.cpus.get_mut(&step.tid).expect("it runs");
        let machine = Machine { cpu, memory: &mut self.world.memory, clock: self.world.kernel.clock.now() };
        machine.memory.pass_armed(true);
        let stop = x86::run_past(machine, &mut self.quiet);
        self.world.memory.pass_armed(false);
        self.note_accesses(step);
        match stop.trap {
            Some(trap) => self.world.handle(step.tid, &trap, &mut self.listener),
            None => Ok(()),
        }
    }

    /// A call of the kernel from inside a function that is carried out as a whole.
    fn quiet_call(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        step.is_fresh = false;
        let (number, args) = call_of(&self.world.cpus[&step.tid]);
        let asked = self.asked(step.tid, (number, args));
        if let Reach::Objects(objects) = asked.reach()
            && (!self.is_life(step.tid) || self.waits_outside(step.tid, (number, args)))
        {
            step.touches.extend(objects);
        }
        let before = (number, self.world.space(step.tid));
        self.world.call(step.tid, &mut self.listener)?;
        self.after_call(step.tid, before);
        Ok(true)
    }

    /// Whether a call of the library waits or wakes at a word that programs use, too.
    fn waits_outside(&mut self, tid: Tid, (number, args): (u64, [u64; 6])) -> bool {
        let word = touch::word(&self.world.memory, self.world.space(tid), args[0], false, Kind::Word).object;
        kernel::table::row(number).is_some_and(|row| row.name == "futex") && self.knowledge.is_used_outside(word)
    }

    /// Whether a thread is being made or ended, where what the library does inside commutes with everything.
    pub(super) fn is_life(&self, tid: Tid) -> bool {
        self.library.member(tid).is_some_and(|member| {
            let whole = member.within.map(|within| within.whole);
            let comes_or_goes = matches!(member.phase, Phase::Starting | Phase::Ending);
            comes_or_goes && self.has_siblings(tid)
                || matches!(whole, Some(Whole::Create | Whole::Join | Whole::Detach | Whole::Cancel))
        })
    }

    pub(super) fn has_siblings(&self, tid: Tid) -> bool {
        let process =
            self.world.kernel.threads.get(&tid).and_then(|thread| self.world.kernel.processes.get(&thread.pid));
        process.is_some_and(|process| process.threads.len() > 1)
    }

    fn call_touches(&self, tid: Tid) -> Vec<Touch> {
        let Some((number, args)) = self.world.kernel.threads.get(&tid).and_then(|thread| thread.call) else {
            return Vec::new();
        };
        let asked = self.asked(tid, (number, args));
        match asked.reach() {
            Reach::Nothing => Vec::new(),
            Reach::Objects(touches) => touches,
        }
    }

    /// Before an access to a page with promoted words; whether the step goes on.
    fn at_armed(&mut self, step: &mut Step, touch: memory::Touch) -> Result<bool, Refusal> {
        let space = self.world.space(step.tid);
        let words = touch.addr >> 2..=(touch.addr + u64::from(touch.size.max(1)) - 1) >> 2;
        let is_visible = words.into_iter().any(|word| self.knowledge.promoted.contains(&(space, word << 2)));
        if is_visible && !self.may_operate(step) {
            return Ok(false);
        }
        let first = step.touches.len();
        if is_visible {
            self.hear_access(step.tid, space, touch);
        }
        let is_half_done = self.half_done(step.tid).is_some();
        if is_visible && (is_half_done || !self.is_alone()) && self.splits(step, touch)? {
            return Ok(false);
        }
        self.pass(step, None)?;
        step.is_fresh = false;
        // A promoted word is a place to stop at, not one that synchronises: the last search tells its race, too.
        let is_plain = self.is_plain(step.tid);
        step.touches[first..].iter_mut().for_each(|touch| touch.plain = is_plain);
        Ok(!is_visible || self.operated(step))
    }

    /// What the instruction that a thread is at has read, if its first half is done. A handler may run in between.
    fn half_done(&self, tid: Tid) -> Option<u64> {
        let loaded = self.library.member(tid)?.loaded?;
        (loaded.rip == self.world.cpus[&tid].rip).then_some(loaded.value)
    }

    /// An instruction that reads and writes a promoted word without `lock` is two steps: the first only reads.
    ///
    /// The second puts back what was read, executes, and so writes what follows from it.
    fn splits(&mut self, step: &mut Step, touch: memory::Touch) -> Result<bool, Refusal> {
        let (tid, space) = (step.tid, self.world.space(step.tid));
        let size = (touch.size as usize).min(8);
        let mut bytes = [0; 8];
        if let Some(loaded) = self.half_done(tid) {
            self.library.member_mut(tid).loaded = None;
            let _ = self.world.memory.write(space, touch.addr, &loaded.to_le_bytes()[..size]);
            return Ok(false);
        }
        if touch.access != memory::Access::Read
            || self.world.memory.peek(space, touch.addr, &mut bytes[..size]).is_err()
        {
            return Ok(false);
        }
        let (mark, cpu, before) = (self.world.memory.mark(), self.world.cpus[&tid].clone(), step.touches.len());
        let machine = Machine {
            cpu: self.world.cpus.get_mut(&tid).expect("it runs"),
            memory: &mut self.world.memory,
            clock: self.world.kernel.clock.now(),
        };
        machine.memory.pass_armed(true);
        let stop = x86::run_past(machine, &mut self.quiet);
        self.world.memory.pass_armed(false);
        let log = self.world.memory.take_log();
        let writes = stop.trap.is_none() && log.iter().any(|logged| logged.write && logged.addr == touch.addr);
        self.world.memory.undo_to(mark);
        self.world.cpus.insert(tid, cpu);
        step.touches.truncate(before);
        if writes {
            let rip = self.world.cpus[&tid].rip;
            self.library.member_mut(tid).loaded = Some(Loaded { rip, value: u64::from_le_bytes(bytes) });
            let read = memory::Logged { addr: touch.addr, size: touch.size, write: false };
            self.note(step, space, read, self.is_plain(tid));
            step.is_fresh = false;
        }
        Ok(writes)
    }

    /// Executes the instruction that a thread was stopped before.
    fn pass(&mut self, step: &mut Step, reach: Option<Reach>) -> Result<(), Refusal> {
        let tid = step.tid;
        let cpu = self.world.cpus.get_mut(&tid).expect("it runs");
        let machine = Machine { cpu, memory: &mut self.world.memory, clock: self.world.kernel.clock.now() };
        machine.memory.pass_armed(true);
        let stop = x86::run_past(machine, &mut self.code);
        self.world.memory.pass_armed(false);
        match stop.trap {
            Some(Trap::Syscall) => {
                let before = (self.world.cpus[&tid].gpr[RAX], self.world.space(tid));
                self.world.call(tid, &mut self.listener)?;
                self.after_call(tid, before);
                if let Some(Reach::Objects(objects)) = reach {
                    step.touches.extend(objects);
                }
                self.note_kernel(step);
                Ok(())
            }
            None => {
                self.note_kernel(step);
                Ok(())
            }
            Some(trap) => self.world.handle(tid, &trap, &mut self.listener),
        }
    }

    /// There may be new threads and new code.
    fn after_call(&mut self, tid: Tid, (number, space): (u64, SpaceId)) {
        const MAPPING: [&str; 5] = ["mmap", "mprotect", "mremap", "execve", "execveat"];
        self.follow_births(tid, space);
        if kernel::table::row(number).is_some_and(|row| MAPPING.contains(&row.name)) {
            self.look_at_mappings(tid);
        }
    }

    fn look_at_mappings(&mut self, tid: Tid) {
        if self.options.depth == Depth::Summary && self.world.kernel.threads.contains_key(&tid) {
            let space = self.world.space(tid);
            if self.hooks.look(&self.world.memory, space) {
                self.refresh_stops();
            }
        }
    }

    pub(super) fn add_hook(&mut self, tid: Tid, address: u64, hook: Hook) {
        let space = self.world.space(tid);
        if self.hooks.add(&self.world.memory, space, address, hook) {
            self.refresh_stops();
        }
    }

    fn asked(&self, tid: Tid, (number, args): (u64, [u64; 6])) -> Asked<'_> {
        let (kernel, memory) = (&self.world.kernel, &self.world.memory);
        Asked { kernel, memory, tid, number, args, was_shared: self.was_shared(tid) }
    }

    /// What the syscall that a thread is about to make touches; nothing if it is about to do something else.
    fn reach_of_stop(&mut self, tid: Tid) -> Option<Reach> {
        let call = self.call_at(tid)?;
        Some(self.asked(tid, call).reach())
    }

    /// The syscall that a thread is about to make, if its next instruction is one.
    fn call_at(&self, tid: Tid) -> Option<(u64, [u64; 6])> {
        let cpu = &self.world.cpus[&tid];
        let mut bytes = [0; 2];
        self.world.memory.peek(self.world.space(tid), cpu.rip, &mut bytes).ok()?;
        (bytes == [0x0f, 0x05]).then(|| call_of(cpu))
    }

    /// What the read that comes next may return instead of all that there is.
    pub(super) fn short_reads(&self, tid: Tid) -> Vec<u64> {
        let kernel = &self.world.kernel;
        if !self.options.short_reads || kernel::signal::is_deliverable(kernel, tid) {
            return Vec::new();
        }
        let waits_in = kernel.threads.get(&tid).filter(|thread| thread.wait.is_some()).and_then(|thread| thread.call);
        let next = waits_in.or_else(|| self.call_at(tid));
        next.map_or_else(Vec::new, |(number, args)| kernel::short::amounts(kernel, tid, number, &args))
    }
}

/// The syscall that registers ask for.
fn call_of(cpu: &Cpu) -> (u64, [u64; 6]) {
    let gpr = &cpu.gpr;
    (gpr[RAX], [gpr[RDI], gpr[RSI], gpr[RDX], gpr[R10], gpr[R8], gpr[R9]])
}
