//! SSE by the host's own SSE instructions, where the host has them: the same bits, NaNs and exception flags by construction.
//!
//! Exceptions of floating-point instructions add up in the host's MXCSR. They are masked there, and moved to the guest's
//! register by [`settle`] before it is read. Control bits other than the usual ones are left to the reference.
//! Only what is in the x86-64 baseline is used, so that no host answers differently.
//!
//! **Invariant:** while `exec.floating` is set, the host's MXCSR has the default control bits and
//! its flags are those raised by guest instructions since `begin`. Nothing else may do
//! floating-point arithmetic on this thread in between: every way out of a run, and every call of
//! the reference, goes through [`settle`]. Rust code that computes with `f64` inside a run would
//! add its flags to the guest's.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

mod convert;
mod moves;
mod table;

use std::arch::asm;

use iced_x86::{Instruction, Mnemonic, OpKind};
use memory::{Memory, Word};

use super::fallback;
use super::vector_operands::{Direction, operands};
use crate::cpu::{Cpu, MXCSR_DEFAULT};
use crate::lower::uop::{Exec, Handler, Last, Uop, X, handler};
use crate::lower::width::{Address, Indexed};

/// The exception flags of MXCSR.
const FLAGS: u32 = 0x3f;
/// Rounding, masks, and what is done about denormals.
const CONTROL: u32 = 0xffc0;

unsafe fn host_mxcsr() -> u32 {
    let mut value = 0u32;
    asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack));
    value
}

/// Makes the host collect flags for the guest; false if it cannot.
///
/// The host's MXCSR can differ if a library changed it (flush to zero, say): then everything is
/// left to the reference, which is slower and right.
#[cold]
#[inline(never)]
unsafe fn begin(cpu: *mut Cpu, exec: *mut Exec) -> bool {
    let usual = |mxcsr: u32| mxcsr & CONTROL == MXCSR_DEFAULT;
    if !usual((*cpu).mxcsr) || !usual(host_mxcsr()) {
        return false;
    }
    // SAFETY: only sticky flags change, which asm blocks may do.
    asm!("ldmxcsr [{}]", in(reg) &MXCSR_DEFAULT, options(nostack, readonly));
    (*exec).floating = true;
    true
}

/// Gives the guest the flags that the host has collected for it.
///
/// # Safety
/// The contract of handlers.
#[inline(always)]
pub(in crate::lower) unsafe fn settle(cpu: *mut Cpu, exec: *mut Exec) {
    if (*exec).floating {
        end(cpu, exec);
    }
}

#[cold]
#[inline(never)]
unsafe fn end(cpu: *mut Cpu, exec: *mut Exec) {
    (*cpu).mxcsr |= host_mxcsr() & FLAGS;
    (*exec).floating = false;
}

/// Whether the host's floating-point instructions do what the guest's do.
#[inline(always)]
unsafe fn ready<const C: bool>(x: X<C>) -> bool {
    (*x.exec).floating || begin(x.cpu, x.exec)
}

/// One SSE instruction whose destination is an SSE register.
trait Vector {
    /// What is read of the second operand; 16 bytes in memory must be aligned.
    type Word: Word;
    /// Does it to the register at `d`; the second operand is at `s`.
    unsafe fn run(d: *mut u128, s: *const u8);
}

/// An SSE register.
#[inline(always)]
unsafe fn register<const C: bool>(x: X<C>, number: u8) -> *mut u128 {
    (&raw mut (*x.cpu).xmm).cast::<u128>().add(usize::from(number))
}

/// Does it; `careful` is the same handler when the access needs more than a look.
#[inline(always)]
unsafe fn apply<V: Vector, const LOADS: bool, const C: bool>(x: X<C>, careful: Handler) -> *const Uop {
    let mut s = register(x, x.uop().s).cast_const().cast::<u8>();
    if LOADS {
        let addr = Indexed::of(x);
        if size_of::<V::Word>() == 16 && !addr.is_multiple_of(16) {
            return x.refused();
        }
        s = x.pointer::<V::Word>(addr);
        if s.is_null() {
            return x.retry(careful);
        }
    }
    V::run(register(x, x.uop().d), s);
    x.next()
}

/// An instruction that raises no exceptions.
unsafe fn plain<V: Vector, const LOADS: bool, const C: bool>(
    u: *const Uop,
    cpu: *mut Cpu,
    memory: *mut Memory,
    last: Last,
    exec: *mut Exec,
) -> *const Uop {
    apply::<V, LOADS, C>(X { u, cpu, memory, exec, last }, plain::<V, LOADS, true>)
}

handler! {
    /// A floating-point instruction.
    fn float[V: Vector, const LOADS: bool, const C: bool](x: C) {
        // The careful one does not save registers of the host only to begin.
        if !(*x.exec).floating && !C {
            return float::<V, LOADS, true>(x.u, x.cpu, x.memory, x.last, x.exec);
        }
        if !ready(x) {
            return fallback::plain(x.u, x.cpu, x.memory, x.last, x.exec);
        }
        apply::<V, LOADS, C>(x, float::<V, LOADS, true>)
    }
}

handler! {
    /// A shift by `imm`.
    fn by_immediate[V: Vector](x: true) {
        V::run(register(x, x.uop().d), (&raw const (*x.u).imm).cast());
        x.next()
    }
}

fn pick_plain<V: Vector>(direction: Direction) -> Option<Handler> {
    match direction {
        Direction::Between => Some(plain::<V, false, false>),
        Direction::Load => Some(plain::<V, true, false>),
        _ => None,
    }
}

fn pick_float<V: Vector>(direction: Direction) -> Option<Handler> {
    match direction {
        Direction::Between => Some(float::<V, false, false>),
        Direction::Load => Some(float::<V, true, false>),
        _ => None,
    }
}

/// Whether one of the first two operands is an SSE register: no string instruction, whose names are the same.
fn is_vector(i: &Instruction) -> bool {
    i.op_count() > 1 && (0..2).any(|op| i.op_kind(op) == OpKind::Register && i.op_register(op).is_xmm())
}

/// Fills in the operands and picks the handler of an instruction that raises no exceptions.
pub(in crate::lower) fn pick(u: &mut Uop, i: &Instruction) -> Option<Handler> {
    if !is_vector(i) {
        return None;
    }
    table::pick(u, i).or_else(|| moves::pick(u, i))
}

/// The same for one that does, whose `link` must lead to the decoded instruction.
pub(in crate::lower) fn pick_floating(u: &mut Uop, i: &Instruction) -> Option<Handler> {
    if i.is_string_instruction() || i.op_count() < 2 {
        return None;
    }
    let direction = operands(u, i)?;
    match i.mnemonic() {
        Mnemonic::Cmpps | Mnemonic::Cmppd | Mnemonic::Cmpss | Mnemonic::Cmpsd => table::pick_compare(i, direction),
        _ => table::pick_arithmetic(i.mnemonic(), direction).or_else(|| convert::pick(i, direction)),
    }
}
