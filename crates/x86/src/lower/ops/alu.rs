//! Addition, subtraction and logic, in registers and in memory.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use memory::Memory;

use crate::cpu::Cpu;
use crate::flags::Flags;
use crate::lower::uop::{Exec, Handler, Uop, X};
use crate::lower::width::{Address, At, Based, Immediate, Indexed, Register, Source, Width};

/// The operations in the order of their opcodes.
pub(in crate::lower) const ADD: u8 = 0;
pub(in crate::lower) const OR: u8 = 1;
pub(in crate::lower) const ADC: u8 = 2;
pub(in crate::lower) const SBB: u8 = 3;
pub(in crate::lower) const AND: u8 = 4;
pub(in crate::lower) const SUB: u8 = 5;
pub(in crate::lower) const XOR: u8 = 6;

/// The result; bits above the size are arbitrary.
#[inline(always)]
fn compute<const OP: u8>(flags: &Flags, a: u64, b: u64) -> u64 {
    match OP {
        ADD => a.wrapping_add(b),
        OR => a | b,
        ADC => a.wrapping_add(b).wrapping_add(u64::from(flags.cf())),
        SBB => a.wrapping_sub(b).wrapping_sub(u64::from(flags.cf())),
        AND => a & b,
        SUB => a.wrapping_sub(b),
        _ => a ^ b,
    }
}

#[inline(always)]
pub(in crate::lower) fn set_flags<const OP: u8, T: Width>(flags: &mut Flags, a: u64, b: u64, result: u64) {
    let result = T::sign_extend(result);
    match (OP, T::BITS) {
        (ADD | ADC, 8) => flags.add::<8>(a, b, result),
        (ADD | ADC, 16) => flags.add::<16>(a, b, result),
        (ADD | ADC, 32) => flags.add::<32>(a, b, result),
        (ADD | ADC, _) => flags.add::<64>(a, b, result),
        (SUB | SBB, 8) => flags.sub::<8>(a, b, result),
        (SUB | SBB, 16) => flags.sub::<16>(a, b, result),
        (SUB | SBB, 32) => flags.sub::<32>(a, b, result),
        (SUB | SBB, _) => flags.sub::<64>(a, b, result),
        _ => flags.logic(result),
    }
}

/// `d = d op source`.
unsafe fn to_register<const OP: u8, T: Width, S: Source, const LIVE: bool>(
    u: *const Uop,
    cpu: *mut Cpu,
    memory: *mut Memory,
    exec: *mut Exec,
) -> *const Uop {
    let x = X { u, cpu, memory, exec };
    let Ok(b) = S::read::<T>(x) else { return x.stopped() };
    let a = x.get::<T>(x.uop().d);
    let result = compute::<OP>(&x.cpu().flags, a, b);
    x.set::<T>(x.uop().d, result);
    if LIVE {
        set_flags::<OP, T>(&mut x.cpu().flags, a, b, result);
    }
    x.next()
}

/// `memory = memory op source`.
unsafe fn to_memory<const OP: u8, T: Width, A: Address, S: Source, const LIVE: bool>(
    u: *const Uop,
    cpu: *mut Cpu,
    memory: *mut Memory,
    exec: *mut Exec,
) -> *const Uop {
    let x = X { u, cpu, memory, exec };
    let addr = A::of(x);
    let Ok(a) = x.load::<T>(addr) else { return x.stopped() };
    let Ok(b) = S::read::<T>(x) else { return x.stopped() };
    let result = compute::<OP>(&x.cpu().flags, a, b);
    if x.store::<T>(addr, result).is_err() {
        return x.stopped();
    }
    if LIVE {
        set_flags::<OP, T>(&mut x.cpu().flags, a, b, result);
    }
    x.next()
}

/// Where the operands are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::lower) enum Form {
    /// `d op s`
    Register,
    /// `d op imm`
    Immediate,
    /// `d op [base]`
    Load,
    /// `d op [base + index]`
    LoadIndexed,
    /// `[base] op s`
    Store,
    /// `[base + index] op s`
    StoreIndexed,
    /// `[base] op imm`
    StoreImmediate,
    /// `[base + index] op imm`
    StoreImmediateIndexed,
}

fn by_form<const OP: u8, T: Width, const LIVE: bool>(form: Form) -> Handler {
    match form {
        Form::Register => to_register::<OP, T, Register, LIVE>,
        Form::Immediate => to_register::<OP, T, Immediate, LIVE>,
        Form::Load => to_register::<OP, T, At<Based>, LIVE>,
        Form::LoadIndexed => to_register::<OP, T, At<Indexed>, LIVE>,
        Form::Store => to_memory::<OP, T, Based, Register, LIVE>,
        Form::StoreIndexed => to_memory::<OP, T, Indexed, Register, LIVE>,
        Form::StoreImmediate => to_memory::<OP, T, Based, Immediate, LIVE>,
        Form::StoreImmediateIndexed => to_memory::<OP, T, Indexed, Immediate, LIVE>,
    }
}

fn by_size<const OP: u8>(size: usize, form: Form, live: bool) -> Handler {
    match (size, live) {
        (1, false) => by_form::<OP, u8, false>(form),
        (1, true) => by_form::<OP, u8, true>(form),
        (2, _) => by_form::<OP, u16, true>(form),
        (4, false) => by_form::<OP, u32, false>(form),
        (4, true) => by_form::<OP, u32, true>(form),
        (_, false) => by_form::<OP, u64, false>(form),
        (_, true) => by_form::<OP, u64, true>(form),
    }
}

/// The handler for an operation; `live` says whether anybody looks at the flags.
pub(in crate::lower) fn pick(op: u8, size: usize, form: Form, live: bool) -> Handler {
    match op {
        ADD => by_size::<ADD>(size, form, live),
        OR => by_size::<OR>(size, form, live),
        ADC => by_size::<ADC>(size, form, live),
        SBB => by_size::<SBB>(size, form, live),
        AND => by_size::<AND>(size, form, live),
        SUB => by_size::<SUB>(size, form, live),
        _ => by_size::<XOR>(size, form, live),
    }
}
