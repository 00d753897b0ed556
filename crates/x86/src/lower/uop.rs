//! Micro-operations and how one leads to the next.
//!
//! A handler does its work and goes to the next micro-operation itself. In release builds it does so by a call in tail
//! position, which LLVM turns into a jump; Rust does not promise that, so every block entry checks the stack pointer and
//! returns to the trampoline when the stack has grown. In debug builds each handler returns to the trampoline.
//!
//! **Contract of all handlers:** the micro-operation is in a block of the [`super::Code`] that `exec.code` points to and is
//! followed by others up to one that does not fall through; `cpu`, `memory` and `exec` are valid and used by no other;
//! register fields are offsets into the first nineteen words of [`Cpu`].
//!
//! **Budget.** `enter` takes the cost of the whole block off the budget; an exit in the middle
//! gives the rest back (`branch_early`), and so does a trap (`trapped` adds `left`, which counts
//! the instruction that did not complete). So the fast path has one comparison a block, not one an
//! instruction.
//!
//! **Why tail calls:** in a trial, the same handlers were 1.06 to 2.1 times as fast as in a loop
//! over a `match`, because each handler's jump is predicted by itself and the arguments stay in
//! registers of the host. `become` is unstable in Rust, hence the check of the stack: a compiler
//! that makes a call of it costs speed, never memory safety ([`super::Code::bounces`] counts, and a
//! test wants zero).

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use std::mem::MaybeUninit;

use memory::{Memory, Stopped, Word};

use super::Code;
use super::width::Width;
use crate::cpu::Cpu;
use crate::generic;
use crate::machine::{Machine, Trap};

/// What a micro-operation does: see the contract above.
pub(super) type Handler = unsafe fn(*const Uop, *mut Cpu, *mut Memory, Last, *mut Exec) -> *const Uop;

/// What the micro-operation before has written to its register, if it says so. The register has it, too; but a value that
/// comes in a register of the host need not wait for the store, and dependent instructions are what programs are made of.
/// Lowering knows where it is there to be used.
pub(super) type Last = MaybeUninit<u64>;

/// One lowered instruction, or two that were fused.
///
/// 48 bytes. Register fields are byte offsets, not numbers, so that a handler adds and loads.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Uop {
    pub run: Handler,
    /// Address of the instruction.
    pub ip: u64,
    /// Immediate operand. In a branch the upper half says where it goes, from `ip`; the lower half may be an immediate.
    pub imm: u64,
    /// Displacement of the memory operand.
    pub disp: u64,
    /// First micro-operation of the block that a branch goes to, when known; or the decoded instruction of a generic one.
    pub link: *const Uop,
    /// Destination register, as an offset in [`Cpu`] (the number for SSE registers).
    pub d: u8,
    /// Source register, likewise.
    pub s: u8,
    /// Base of the address, as an offset.
    pub base: u8,
    /// Index of the address, as an offset.
    pub index: u8,
    /// Scale of the index, as a shift.
    pub shift: u8,
    /// Condition, size or whatever else a handler needs.
    pub extra: u8,
    /// Instructions from here to the end of the block.
    ///
    /// Counting this one. The micro-operation behind the last has 0, and early exits read that of
    /// their successor.
    pub left: u16,
}

impl Uop {
    /// Where a direct branch goes.
    pub fn target(&self) -> u64 {
        self.ip.wrapping_add((self.imm as i64 >> 32) as u64)
    }
}

/// Everything of a run that is neither registers nor memory.
///
/// Pointers instead of references, because handlers pass it on by the calling convention of plain
/// functions; it lives on the stack of `run`.
pub(super) struct Exec {
    /// Instructions that may still be executed, those of the current block already taken off.
    pub budget: u64,
    /// Handlers return to the trampoline when the stack is below this.
    pub stack_limit: usize,
    /// Where to look for blocks.
    pub code: *mut Code,
    /// What `rdtsc` reads.
    pub clock: u64,
    /// Whether the host collects floating-point exceptions for the guest.
    pub floating: bool,
    /// What goes to the next handler where handlers return.
    pub last: Last,
    /// Why the run ended, when it did.
    pub trap: Option<Trap>,
}

impl Exec {
    /// The beginning of a run.
    pub fn new(budget: u64, code: *mut Code, clock: u64) -> Self {
        Exec { budget, stack_limit: 0, code, clock, floating: false, last: Last::uninit(), trap: None }
    }
}

/// How much stack handlers may use when tail calls were not made.
const STACK: usize = 256 << 10;

/// Runs from `first` until a handler gives up.
///
/// # Safety
/// See the contract above.
pub(super) unsafe fn trampoline(first: *const Uop, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) {
    (*exec).stack_limit = stack_pointer().saturating_sub(STACK);
    let mut next = first;
    while !next.is_null() {
        next = ((*next).run)(next, cpu, memory, (*exec).last, exec);
    }
}

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
const TAIL_CALLS: bool = true;
#[cfg(not(all(target_arch = "x86_64", not(debug_assertions))))]
const TAIL_CALLS: bool = false;

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[inline(always)]
fn stack_pointer() -> usize {
    let pointer: usize;
    // SAFETY: copies a register.
    unsafe { std::arch::asm!("mov {}, rsp", out(reg) pointer, options(nomem, nostack, preserves_flags)) };
    pointer
}

/// Handlers return after each micro-operation: the stack does not grow.
#[cfg(not(all(target_arch = "x86_64", not(debug_assertions))))]
fn stack_pointer() -> usize {
    usize::MAX
}

/// What a handler is called with, and what it can do with it.
///
/// Handlers of memory operands exist twice. The quick one knows only accesses that hit the translation cache; on any other it
/// restarts as the careful one, which must keep its arguments over a call and has to save registers of the host for that.
#[derive(Clone, Copy)]
pub(super) struct X<const CAREFUL: bool> {
    pub u: *const Uop,
    pub cpu: *mut Cpu,
    pub memory: *mut Memory,
    pub exec: *mut Exec,
    pub last: Last,
}

/// A handler: a function with the arguments of [`Handler`], which its body sees as `x`. The generic parameters stand in brackets;
/// behind the colon is whether it is the careful one.
macro_rules! handler {
    ($(#[$about:meta])* $visible:vis fn $name:ident[$($generics:tt)*]($x:ident: $careful:expr) $body:block) => {
        $(#[$about])*
        $visible unsafe fn $name<$($generics)*>(
            u: *const $crate::lower::uop::Uop,
            cpu: *mut $crate::cpu::Cpu,
            memory: *mut memory::Memory,
            last: $crate::lower::uop::Last,
            exec: *mut $crate::lower::uop::Exec,
        ) -> *const $crate::lower::uop::Uop {
            let $x = $crate::lower::uop::X::<{ $careful }> { u, cpu, memory, exec, last };
            $body
        }
    };
}
pub(super) use handler;

/// The handler exists once.
pub(super) type Careful = X<true>;

impl<const CAREFUL: bool> X<CAREFUL> {
    #[inline(always)]
    pub unsafe fn uop<'a>(self) -> &'a Uop {
        &*self.u
    }

    #[inline(always)]
    pub unsafe fn cpu<'a>(self) -> &'a mut Cpu {
        &mut *self.cpu
    }

    /// The register at `offset`, zero-extended.
    #[inline(always)]
    pub unsafe fn get<T: Width>(self, offset: u8) -> u64 {
        T::read(self.cpu.cast::<u8>().add(usize::from(offset)))
    }

    /// Sets the register at `offset` as an instruction of this size does.
    #[inline(always)]
    pub unsafe fn set<T: Width>(self, offset: u8, value: u64) {
        T::write(self.cpu.cast::<u8>().add(usize::from(offset)), value);
    }

    #[inline(always)]
    pub unsafe fn load<T: Width>(self, addr: u64) -> Result<u64, Stopped> {
        if CAREFUL { T::load(&mut *self.memory, addr) } else { T::load_quickly(&mut *self.memory, addr) }
    }

    /// Where a word can be read; null if it could not be loaded.
    #[inline(always)]
    pub unsafe fn pointer<W: Word>(self, addr: u64) -> *const u8 {
        if CAREFUL { (*self.memory).fast_pointer::<W>(addr) } else { (*self.memory).quick_pointer::<W>(addr) }
    }

    #[inline(always)]
    pub unsafe fn store<T: Width>(self, addr: u64, value: u64) -> Result<(), Stopped> {
        if CAREFUL {
            T::store(&mut *self.memory, addr, value)
        } else {
            T::store_quickly(&mut *self.memory, addr, value)
        }
    }

    /// On to a micro-operation of the same block.
    #[inline(always)]
    unsafe fn go(self, to: *const Uop, last: Last) -> *const Uop {
        if TAIL_CALLS {
            return ((*to).run)(to, self.cpu, self.memory, last, self.exec);
        }
        (*self.exec).last = last;
        to
    }

    /// On to the next micro-operation.
    #[inline(always)]
    pub unsafe fn next(self) -> *const Uop {
        self.go(self.u.add(1), Last::uninit())
    }

    /// On to the next micro-operation, with the value that came.
    #[inline(always)]
    pub unsafe fn next_keeping(self) -> *const Uop {
        self.go(self.u.add(1), self.last)
    }

    /// Sets the destination and goes on with its value.
    ///
    /// A narrow result is merged into a register, and what was merged is not at hand: nothing is
    /// passed on.
    #[inline(always)]
    pub unsafe fn finish<T: Width>(self, value: u64) -> *const Uop {
        self.set::<T>(self.uop().d, value);
        if T::BITS < 32 {
            return self.next();
        }
        self.go(self.u.add(1), Last::new(T::zero_extend(value)))
    }

    /// An access was not made: the careful handler makes it, and if it was that, it was stopped.
    ///
    /// Restarting is right because a handler changes nothing before its accesses have succeeded.
    #[inline(always)]
    pub unsafe fn retry(self, careful: Handler) -> *const Uop {
        if CAREFUL { self.stopped() } else { opaque(careful)(self.u, self.cpu, self.memory, self.last, self.exec) }
    }

    /// On to the first micro-operation of a block, if the budget allows all of it.
    ///
    /// Every way into a block leads through here, so the stack cannot grow between two checks by
    /// more than one block's handlers.
    #[inline(always)]
    pub unsafe fn enter(self, to: *const Uop) -> *const Uop {
        let need = u64::from((*to).left);
        let exec = &mut *self.exec;
        if exec.budget < need {
            return leave(self.cpu, (*to).ip);
        }
        exec.budget -= need;
        if TAIL_CALLS && stack_pointer() < exec.stack_limit {
            return bounce(self.exec, to);
        }
        self.go(to, Last::uninit())
    }

    /// Along the link of this micro-operation, made on first use.
    #[inline(always)]
    pub unsafe fn branch(self) -> *const Uop {
        let to = (*self.u).link;
        if to.is_null() {
            return follow(self.u, self.cpu, self.memory, self.exec);
        }
        self.enter(to)
    }

    /// A branch out of the middle of a block: what was taken off the budget for the rest is given back.
    ///
    /// The next micro-operation exists: a block ends with `fall_through`.
    #[inline(always)]
    pub unsafe fn branch_early(self) -> *const Uop {
        (*self.exec).budget += u64::from((*self.u.add(1)).left);
        self.branch()
    }

    /// To an address known only now.
    #[inline(always)]
    pub unsafe fn indirect(self, target: u64) -> *const Uop {
        let to = (*(*self.exec).code).recent(target);
        if to.is_null() {
            return find(target, self.cpu, self.memory, self.exec);
        }
        self.enter(to)
    }

    /// The access was stopped: back to the beginning of this instruction.
    #[inline(always)]
    pub unsafe fn stopped(self) -> *const Uop {
        stopped(self.u, self.cpu, self.memory, self.exec)
    }

    /// The instruction is refused, for an address that is misaligned or non-canonical; the reference knows its words.
    #[inline(always)]
    pub unsafe fn refused(self) -> *const Uop {
        refused(self.u, self.cpu, self.memory, self.exec)
    }

    /// The quotient does not exist: `#DE`.
    #[inline(always)]
    pub unsafe fn undivided(self) -> *const Uop {
        undivided(self.u, self.cpu, self.exec)
    }
}

/// The same handler, which the compiler cannot see through: it would make one of both again.
#[cfg(target_arch = "x86_64")]
#[allow(clippy::pointers_in_nomem_asm_block)] // It is not followed there.
#[cold]
#[inline(always)]
fn opaque(handler: Handler) -> Handler {
    let mut handler = handler;
    // SAFETY: does nothing.
    unsafe { std::arch::asm!("/* {} */", inout(reg) handler, options(pure, nomem, nostack, preserves_flags)) };
    handler
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn opaque(handler: Handler) -> Handler {
    handler
}

/// The budget does not reach: stop before the block at `ip`.
#[cold]
#[inline(never)]
unsafe fn leave(cpu: *mut Cpu, ip: u64) -> *const Uop {
    (*cpu).rip = ip;
    std::ptr::null()
}

/// The stack has grown: back to the trampoline, which goes on at `to`.
#[cold]
#[inline(never)]
unsafe fn bounce(exec: *mut Exec, to: *const Uop) -> *const Uop {
    (*(*exec).code).bounces += 1;
    to
}

#[cold]
#[inline(never)]
unsafe fn refused(u: *const Uop, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) -> *const Uop {
    (*cpu).rip = (*u).ip;
    let mut machine = Machine { cpu: &mut *cpu, memory: &mut *memory, clock: (*exec).clock };
    let trap = generic::step(&mut machine).expect_err("the reference refuses it, too");
    trapped(u, cpu, exec, trap)
}

#[cold]
#[inline(never)]
unsafe fn undivided(u: *const Uop, cpu: *mut Cpu, exec: *mut Exec) -> *const Uop {
    trapped(u, cpu, exec, Trap::DivideError)
}

#[cold]
#[inline(never)]
unsafe fn trapped(u: *const Uop, cpu: *mut Cpu, exec: *mut Exec, trap: Trap) -> *const Uop {
    (*cpu).rip = (*u).ip;
    (*exec).budget += u64::from((*u).left);
    (*exec).trap = Some(trap);
    std::ptr::null()
}

#[cold]
#[inline(never)]
unsafe fn stopped(u: *const Uop, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) -> *const Uop {
    let trap = Trap::from((*memory).halt());
    (*cpu).rip = (*u).ip;
    let mut machine = Machine { cpu: &mut *cpu, memory: &mut *memory, clock: (*exec).clock };
    let trap = match generic::decode(&mut machine) {
        Ok(instruction) => trap.settled(&machine, &instruction),
        Err(_) => trap,
    };
    trapped(u, cpu, exec, trap)
}

/// Makes the link of `u` and follows it.
#[cold]
#[inline(never)]
unsafe fn follow(u: *const Uop, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) -> *const Uop {
    let to = find_block((*u).target(), cpu, memory, exec);
    if to.is_null() {
        return to;
    }
    (*(*exec).code).link(u, to);
    Careful { u, cpu, memory, exec, last: Last::uninit() }.enter(to)
}

/// Goes to an address that was not met recently.
#[cold]
#[inline(never)]
unsafe fn find(target: u64, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) -> *const Uop {
    let to = find_block(target, cpu, memory, exec);
    if to.is_null() {
        return to;
    }
    (*(*exec).code).remember(target, to);
    Careful { u: to, cpu, memory, exec, last: Last::uninit() }.enter(to)
}

/// The block at `target`, which is now where the thread is; null with a trap if there is none.
unsafe fn find_block(target: u64, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) -> *const Uop {
    (*cpu).rip = target;
    let mut machine = Machine { cpu: &mut *cpu, memory: &mut *memory, clock: (*exec).clock };
    match (*(*exec).code).block(&mut machine, target) {
        Ok(first) => first,
        Err(trap) => {
            // With no budget left, it is the next run that meets the trap.
            (*exec).trap = Some(trap).filter(|_| (*exec).budget > 0);
            std::ptr::null()
        }
    }
}
