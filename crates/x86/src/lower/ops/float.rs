//! Scalar floating point where the host's result is surely the same; the reference for everything else.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use iced_x86::{Instruction, Mnemonic};
use memory::{Memory, Stopped};

use super::fallback;
use super::vector::{Direction, destination, operands, source};
use crate::cpu::Cpu;
use crate::flags::{CF, STATUS, ZF};
use crate::lower::uop::{Exec, Handler, Uop, X};
use crate::lower::width::{Address, Indexed, Width};
use crate::sse::fast::{self, Operation};

const ADD: u8 = 0;
const SUBTRACT: u8 = 1;
const MULTIPLY: u8 = 2;
const DIVIDE: u8 = 3;

/// A scalar format, by its bits.
trait Scalar: Width {
    fn compute(mxcsr: u32, operation: Operation, a: u64, b: u64) -> Option<u64>;
    /// Neither NaN nor denormal: comparing and widening it raises nothing.
    fn ordinary(bits: u64) -> Option<f64>;
}

impl Scalar for u64 {
    #[inline(always)]
    fn compute(mxcsr: u32, operation: Operation, a: u64, b: u64) -> Option<u64> {
        fast::double(mxcsr, operation, a, b)
    }

    #[inline(always)]
    fn ordinary(bits: u64) -> Option<f64> {
        Some(f64::from_bits(bits)).filter(|x| x.is_normal() || *x == 0.0)
    }
}

impl Scalar for u32 {
    #[inline(always)]
    fn compute(mxcsr: u32, operation: Operation, a: u64, b: u64) -> Option<u64> {
        fast::single(mxcsr, operation, a as u32, b as u32).map(u64::from)
    }

    #[inline(always)]
    fn ordinary(bits: u64) -> Option<f64> {
        Some(f32::from_bits(bits as u32)).filter(|x| x.is_normal() || *x == 0.0).map(f64::from)
    }
}

/// The low part of the second operand.
#[inline(always)]
unsafe fn second<T: Scalar, const LOADS: bool>(x: X) -> Result<u64, Stopped> {
    if LOADS { x.load::<T>(Indexed::of(x)) } else { Ok(T::zero_extend(source(x) as u64)) }
}

#[inline(always)]
unsafe fn set_low<T: Width>(x: X, value: u64) {
    let kept = *destination(x) >> T::BITS << T::BITS;
    *destination(x) = kept | u128::from(value);
}

unsafe fn arithmetic<const OP: u8, T: Scalar, const LOADS: bool>(
    u: *const Uop,
    cpu: *mut Cpu,
    memory: *mut Memory,
    exec: *mut Exec,
) -> *const Uop {
    let x = X { u, cpu, memory, exec };
    let Ok(b) = second::<T, LOADS>(x) else { return x.stopped() };
    let operation = match OP {
        ADD => Operation::Add,
        SUBTRACT => Operation::Subtract,
        MULTIPLY => Operation::Multiply,
        _ => Operation::Divide,
    };
    let a = T::zero_extend(*destination(x) as u64);
    let Some(result) = T::compute(x.cpu().mxcsr, operation, a, b) else {
        return fallback::plain(u, cpu, memory, exec);
    };
    set_low::<T>(x, result);
    x.next()
}

/// `comis` and `ucomis`, which differ for NaNs only.
unsafe fn compare<T: Scalar, const LOADS: bool>(
    u: *const Uop,
    cpu: *mut Cpu,
    memory: *mut Memory,
    exec: *mut Exec,
) -> *const Uop {
    let x = X { u, cpu, memory, exec };
    let Ok(b) = second::<T, LOADS>(x) else { return x.stopped() };
    let (a, b) = (T::ordinary(T::zero_extend(*destination(x) as u64)), T::ordinary(b));
    let (Some(a), Some(b)) = (a, b) else { return fallback::plain(u, cpu, memory, exec) };
    let (equal, less) = (if a == b { ZF } else { 0 }, if a < b { CF } else { 0 });
    x.cpu().flags.replace(STATUS, equal | less);
    x.next()
}

/// `cvtsi2sd` of an integer that a double holds exactly.
unsafe fn from_integer<T: Width>(u: *const Uop, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) -> *const Uop {
    let x = X { u, cpu, memory, exec };
    let value = T::sign_extend(x.get::<T>(x.uop().s)) as i64;
    if value.unsigned_abs() > 1 << 53 {
        return fallback::plain(u, cpu, memory, exec);
    }
    set_low::<u64>(x, (value as f64).to_bits());
    x.next()
}

/// `cvttsd2si` of a double that is an integer, or when the flag for inexact results is set already and does not trap.
unsafe fn to_integer<T: Width>(u: *const Uop, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) -> *const Uop {
    /// The flag, and the bit that masks its exception.
    const INEXACT: u32 = 1 << 5 | 1 << 12;
    let x = X { u, cpu, memory, exec };
    let value = u64::ordinary(source(x) as u64).unwrap_or(f64::MAX);
    let bound = if T::BITS == 32 { 2147483648.0 } else { 9223372036854775808.0 };
    let whole = value as i64 as f64 == value || x.cpu().mxcsr & INEXACT == INEXACT;
    if value.abs() >= bound || !whole {
        return fallback::plain(u, cpu, memory, exec);
    }
    x.set::<T>(x.uop().d, value as i64 as u64);
    x.next()
}

fn pick_arithmetic<const OP: u8, T: Scalar>(direction: Direction) -> Option<Handler> {
    match direction {
        Direction::Between => Some(arithmetic::<OP, T, false>),
        Direction::Load => Some(arithmetic::<OP, T, true>),
        _ => None,
    }
}

fn pick_compare<T: Scalar>(direction: Direction) -> Option<Handler> {
    match direction {
        Direction::Between => Some(compare::<T, false>),
        Direction::Load => Some(compare::<T, true>),
        _ => None,
    }
}

fn pick_from(i: &Instruction, direction: Direction) -> Option<Handler> {
    match (direction, i.op_register(1).size()) {
        (Direction::FromGeneral, 4) => Some(from_integer::<u32>),
        (Direction::FromGeneral, 8) => Some(from_integer::<u64>),
        _ => None,
    }
}

fn pick_to(i: &Instruction, direction: Direction) -> Option<Handler> {
    match (direction, i.op_register(0).size()) {
        (Direction::ToGeneral, 4) => Some(to_integer::<u32>),
        (Direction::ToGeneral, 8) => Some(to_integer::<u64>),
        _ => None,
    }
}

/// Fills in the operands and picks a handler, whose `link` must lead to the decoded instruction.
pub(in crate::lower) fn pick(u: &mut Uop, i: &Instruction) -> Option<Handler> {
    let fill = |u: &mut Uop| if i.is_string_instruction() { None } else { operands(u, i) };
    match i.mnemonic() {
        Mnemonic::Addsd => pick_arithmetic::<ADD, u64>(fill(u)?),
        Mnemonic::Subsd => pick_arithmetic::<SUBTRACT, u64>(fill(u)?),
        Mnemonic::Mulsd => pick_arithmetic::<MULTIPLY, u64>(fill(u)?),
        Mnemonic::Divsd => pick_arithmetic::<DIVIDE, u64>(fill(u)?),
        Mnemonic::Addss => pick_arithmetic::<ADD, u32>(fill(u)?),
        Mnemonic::Subss => pick_arithmetic::<SUBTRACT, u32>(fill(u)?),
        Mnemonic::Mulss => pick_arithmetic::<MULTIPLY, u32>(fill(u)?),
        Mnemonic::Divss => pick_arithmetic::<DIVIDE, u32>(fill(u)?),
        Mnemonic::Comisd | Mnemonic::Ucomisd => pick_compare::<u64>(fill(u)?),
        Mnemonic::Comiss | Mnemonic::Ucomiss => pick_compare::<u32>(fill(u)?),
        Mnemonic::Cvtsi2sd => pick_from(i, fill(u)?),
        Mnemonic::Cvttsd2si => pick_to(i, fill(u)?),
        _ => None,
    }
}
