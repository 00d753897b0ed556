//! How one thread goes on: signals first, then the call it waits in, then instructions.
//!
//! **Invariant:** a thread is in exactly one of these: it waits in a call (`Thread::wait`), it is
//! about to execute instructions, or it has ended. Signals are looked at on the way to user mode,
//! after a call that was redone and before the next instruction, as Linux does.

use crate::refusal::Refusal;
use crate::signal_frame::{self, Entry};
use crate::trap;
use crate::world::World;
use kernel::call::Control;
use kernel::call::Deviation;
use kernel::process::SignalInfo;
use kernel::signal::number::SIGSEGV;
use kernel::signal::{self, Delivery, Interrupted};
use kernel::{Outcome, Tid, wait};
use memory::SpaceId;

use x86::{Code, Machine, Trap};

/// Told what happens; for traces.
///
/// Called with the world at that moment: paths and buffers must be read before the call changes
/// them.
pub trait Observer {
    /// A call begins.
    fn begin(&mut self, world: &mut World, tid: Tid, number: u64, args: &[u64; 6]);
    /// A call has returned.
    fn end(&mut self, world: &mut World, tid: Tid, result: u64);
    /// A signal is about to be handled.
    fn signal(&mut self, world: &World, tid: Tid, number: u8);
}

/// An observer that does not look.
pub struct Blind;

impl Observer for Blind {
    fn begin(&mut self, _: &mut World, _: Tid, _: u64, _: &[u64; 6]) {}
    fn end(&mut self, _: &mut World, _: Tid, _: u64) {}
    fn signal(&mut self, _: &World, _: Tid, _: u8) {}
}

/// What a turn of one thread came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Instructions executed.
    pub executed: u64,
    /// Whether it stopped because its budget was used up, so that it can go on.
    pub can_go_on: bool,
}

/// Bytes that take as long as an instruction.
const BYTES: u64 = 64;

impl World {
    /// Lets a thread go on until it waits, ends, or has used its budget of instructions.
    pub fn advance(
        &mut self,
        tid: Tid,
        code: &mut Code,
        budget: u64,
        observer: &mut dyn Observer,
    ) -> Result<Turn, Refusal> {
        let (mut executed, mut moved) = (0, 0);
        while self.settle(tid, observer)? {
            if executed + moved >= budget {
                return Ok(Turn { executed, can_go_on: true });
            }
            let stop = self.execute_instructions(tid, code, budget - executed - moved);
            executed += stop.executed;
            self.pass_time(stop.executed * self.pace.instruction);
            if let Some(trap) = stop.trap {
                let yields = self.yields(tid, &trap);
                self.handle(tid, &trap, observer)?;
                moved += self.moved(tid, &trap) / BYTES;
                if yields {
                    return Ok(Turn { executed, can_go_on: true });
                }
            }
        }
        Ok(Turn { executed, can_go_on: false })
    }

    /// Whether a thread lets others go first (`sched_yield(2)`): who waits for a lock that it takes again gets a turn.
    fn yields(&self, tid: Tid, trap: &Trap) -> bool {
        const SCHED_YIELD: u64 = 24;
        *trap == Trap::Syscall && self.cpus.get(&tid).is_some_and(|cpu| cpu.gpr[x86::cpu::RAX] == SCHED_YIELD)
    }

    /// Bytes that a call has moved, if they are many: such calls take as long as thousands of instructions.
    fn moved(&self, tid: Tid, trap: &Trap) -> u64 {
        const MANY: std::ops::Range<u64> = 1 << 20..1 << 32;
        let result = self.cpus.get(&tid).map_or(0, |cpu| cpu.gpr[x86::cpu::RAX]);
        if *trap == Trap::Syscall && MANY.contains(&result) { result } else { 0 }
    }

    /// Executes up to `budget` instructions of a thread, until something traps.
    pub fn execute_instructions(&mut self, tid: Tid, code: &mut Code, budget: u64) -> x86::Stop {
        self.memory.enter(self.space(tid));
        let cpu = self.cpus.get_mut(&tid).expect("a thread has registers");
        let clock = self.kernel.clock.now();
        x86::run(Machine { cpu, memory: &mut self.memory, clock }, code, budget)
    }

    fn pass_time(&mut self, nanoseconds: u64) {
        if nanoseconds == 0 {
            return;
        }
        let now = self.kernel.clock.now();
        self.kernel.clock.advance_to(now + nanoseconds);
    }

    /// Redoes a call whose wait is over and delivers signals; false if the thread cannot execute instructions now.
    ///
    /// # Errors
    /// If something is not modelled.
    pub fn settle(&mut self, tid: Tid, observer: &mut dyn Observer) -> Result<bool, Refusal> {
        self.settle_as(tid, Deviation::default(), observer)
    }

    /// The same; the call that is redone does something differently than usual.
    ///
    /// # Errors
    /// If something is not modelled.
    ///
    /// Loops, because a signal handler that returns may be followed by another, and a redone call
    /// may wait again.
    pub fn settle_as(&mut self, tid: Tid, deviation: Deviation, observer: &mut dyn Observer) -> Result<bool, Refusal> {
        loop {
            let Some(thread) = self.kernel.threads.get(&tid) else {
                self.forget_ended();
                return Ok(false);
            };
            let wait_is_over = thread.wait.as_ref().map(|wait| wait::is_over(wait, tid, &self.kernel, &self.memory));
            if wait_is_over == Some(true) && signal::may_run(&self.kernel, tid) {
                let outcome = self.kernel.redo_as(&mut self.memory, tid, deviation);
                self.finish(tid, outcome, observer)?;
            } else if signal::is_deliverable(&self.kernel, tid) {
                self.deliver(tid, observer);
            } else {
                return Ok(wait_is_over.is_none() && signal::may_run(&self.kernel, tid));
            }
        }
    }

    /// Takes the next signal: the kernel carries out default actions, a handler gets a frame.
    fn deliver(&mut self, tid: Tid, observer: &mut dyn Observer) {
        if let Some(delivery) = signal::take(&mut self.kernel, &mut self.memory, tid) {
            self.enter_handler(tid, &delivery, (0, 0, 0), observer);
        }
    }

    fn enter_handler(&mut self, tid: Tid, delivery: &Delivery, trap: (u64, u64, u64), observer: &mut dyn Observer) {
        self.interrupt(tid, delivery.interrupted, observer);
        observer.signal(self, tid, delivery.info.number);
        let space = self.space(tid);
        let cpu = &self.cpus[&tid];
        let entry = Entry { delivery, trap, cpu };
        match signal_frame::enter(&mut self.memory, space, &entry) {
            Ok(cpu) => {
                self.cpus.insert(tid, cpu);
                signal::entered(&mut self.kernel, tid, delivery);
            }
            Err(_) => signal::frame_failed(&mut self.kernel, tid, delivery),
        }
    }

    /// A call that a handler interrupts either returns or is made again: `rip` goes back to the instruction.
    ///
    /// `ERESTARTSYS` of Linux: the frame of the handler shows the registers as if the `syscall`
    /// instruction were about to be executed, so returning from the handler makes the call again.
    fn interrupt(&mut self, tid: Tid, interrupted: Interrupted, observer: &mut dyn Observer) {
        let cpu = self.cpus.get_mut(&tid).expect("a thread has registers");
        match interrupted {
            Interrupted::Nothing => {}
            Interrupted::Restart(number) => {
                cpu.gpr[x86::cpu::RAX] = number;
                cpu.rip -= SYSCALL_LENGTH;
            }
            Interrupted::Result(result) => self.finish_with(tid, result, observer),
        }
    }

    /// The address space of a thread.
    pub fn space(&self, tid: Tid) -> SpaceId {
        let pid = self.kernel.threads.get(&tid).expect("it runs").pid;
        self.kernel.processes.get(&pid).expect("a thread has a process").space
    }

    /// Does what a trap asks for: a call, a signal for a fault, an instruction that is executed again.
    ///
    /// # Errors
    /// If it is not modelled.
    pub fn handle(&mut self, tid: Tid, trap: &Trap, observer: &mut dyn Observer) -> Result<(), Refusal> {
        if *trap == Trap::Syscall {
            return self.call(tid, observer);
        }
        let cpu = &self.cpus[&tid];
        match trap::raised(trap, cpu) {
            Some(raised) => {
                if let Some(delivery) = signal::fault(&mut self.kernel, &mut self.memory, tid, raised.info) {
                    self.enter_handler(tid, &delivery, raised.trap, observer);
                }
                Ok(())
            }
            None => Err(self.unmodelled(tid, trap)),
        }
    }

    fn unmodelled(&mut self, tid: Tid, trap: &Trap) -> Refusal {
        match trap {
            Trap::Unsupported => {
                let instruction = self.instruction_text(tid);
                self.refuse(tid, format!("instruction {instruction}"))
            }
            _ => Refusal::memory(self, tid),
        }
    }

    /// Makes the call of the kernel that a thread's registers ask for.
    ///
    /// # Errors
    /// If it is not modelled.
    pub fn call(&mut self, tid: Tid, observer: &mut dyn Observer) -> Result<(), Refusal> {
        self.call_as(tid, Deviation::default(), observer)
    }

    /// The same, differently than usual.
    ///
    /// # Errors
    /// If it is not modelled.
    pub fn call_as(&mut self, tid: Tid, deviation: Deviation, observer: &mut dyn Observer) -> Result<(), Refusal> {
        self.pass_time(self.pace.call);
        let gpr = &self.cpus[&tid].gpr;
        let number = gpr[x86::cpu::RAX];
        let args = [
            gpr[x86::cpu::RDI],
            gpr[x86::cpu::RSI],
            gpr[x86::cpu::RDX],
            gpr[x86::cpu::R10],
            gpr[x86::cpu::R8],
            gpr[x86::cpu::R9],
        ];
        observer.begin(self, tid, number, &args);
        let outcome = self.kernel.call_as(&mut self.memory, tid, (number, args), deviation);
        self.finish(tid, outcome, observer)
    }

    fn finish(&mut self, tid: Tid, outcome: Outcome, observer: &mut dyn Observer) -> Result<(), Refusal> {
        match outcome {
            Outcome::Returned(result) => self.finish_with(tid, result, observer),
            Outcome::Waiting => {}
            Outcome::Control(control) => self.control(tid, control, observer),
            Outcome::Unsupported(what) => return Err(Refusal::in_call(self, tid, what)),
        }
        match self.kernel.host.0.changed() {
            None => Ok(()),
            Some(path) => Err(Refusal::changed(self, tid, &path)),
        }
    }

    fn finish_with(&mut self, tid: Tid, result: u64, observer: &mut dyn Observer) {
        if let Some(cpu) = self.cpus.get_mut(&tid) {
            cpu.gpr[x86::cpu::RAX] = result;
        }
        observer.end(self, tid, result);
    }

    /// What only the world can do, because the kernel has no registers ([`kernel::call::Control`]).
    fn control(&mut self, tid: Tid, control: Control, observer: &mut dyn Observer) {
        match control {
            Control::Spawned { child, stack, tls, result, wait } => {
                self.spawned(tid, child, stack, tls);
                if wait.is_none() {
                    self.finish_with(tid, result, observer);
                }
            }
            Control::Execute(execute) => match self.execute(tid, &execute) {
                Ok(()) => observer.end(self, tid, 0),
                Err(error) => self.finish_with(tid, (-i64::from(error.errno().0)) as u64, observer),
            },
            Control::Ended => self.forget_ended(),
            Control::SignalReturn => self.signal_return(tid),
            Control::SignalStack { new, old } => {
                let pointer = self.cpus[&tid].gpr[x86::cpu::RSP];
                let result = signal::set_alternate_stack(&mut self.kernel, &mut self.memory, tid, pointer, new, old);
                self.finish_with(tid, result, observer);
            }
            Control::SetFsBase(base) => {
                self.cpus.get_mut(&tid).expect("the caller").fs_base = base;
                self.finish_with(tid, 0, observer);
            }
            Control::SetGsBase(base) => {
                self.cpus.get_mut(&tid).expect("the caller").gs_base = base;
                self.finish_with(tid, 0, observer);
            }
            Control::StoreBase { gs, address } => self.store_base(tid, gs, address, observer),
        }
    }

    fn spawned(&mut self, tid: Tid, child: Tid, stack: Option<u64>, tls: Option<u64>) {
        let mut cpu = self.cpus[&tid].clone();
        cpu.gpr[x86::cpu::RAX] = 0;
        cpu.gpr[x86::cpu::RSP] = stack.unwrap_or(cpu.gpr[x86::cpu::RSP]);
        cpu.fs_base = tls.unwrap_or(cpu.fs_base);
        self.cpus.insert(child, cpu);
    }

    fn signal_return(&mut self, tid: Tid) {
        let space = self.space(tid);
        match signal_frame::restore(&mut self.memory, space, &self.cpus[&tid]) {
            Ok(restored) => {
                self.cpus.insert(tid, restored.cpu);
                signal::returned(&mut self.kernel, tid, restored.mask, restored.alternate_stack);
            }
            Err(_) => signal::force(&mut self.kernel, tid, SignalInfo::kernel(SIGSEGV)),
        }
    }

    fn store_base(&mut self, tid: Tid, gs: bool, address: u64, observer: &mut dyn Observer) {
        let cpu = &self.cpus[&tid];
        let base = if gs { cpu.gs_base } else { cpu.fs_base };
        let space = self.space(tid);
        let result = match self.memory.write(space, address, &base.to_le_bytes()) {
            Ok(()) => 0,
            Err(_) => (-i64::from(kernel::errno::EFAULT.0)) as u64,
        };
        self.finish_with(tid, result, observer);
    }

    /// The instruction at which a thread is, as text.
    fn instruction_text(&mut self, tid: Tid) -> String {
        let space = self.space(tid);
        let mut bytes = [0; 15];
        let rip = self.cpus[&tid].rip;
        let length = (1..=15).rev().find(|length| self.memory.read(space, rip, &mut bytes[..*length]).is_ok());
        x86::instruction_text(&bytes[..length.unwrap_or(0)], rip)
    }
}

/// Bytes of the `syscall` instruction.
///
/// `0f 05`.
const SYSCALL_LENGTH: u64 = 2;
