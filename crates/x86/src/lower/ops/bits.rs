//! Bit scans and tests, division, wide multiplication, exchanges.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use crate::cpu::{RAX, RDX};
use crate::flags::{CF, PF, STATUS, ZF};
use crate::lower::uop::{Handler, handler};
use crate::lower::width::{Address, At, Immediate, Indexed, Register, Source, Width};

use super::alu::{ADD, Form, SUB, set_flags};

pub(in crate::lower) const FORWARD: u8 = 0;
pub(in crate::lower) const REVERSE: u8 = 1;
pub(in crate::lower) const TRAILING: u8 = 2;
pub(in crate::lower) const ONES: u8 = 3;

handler! {
    /// `bsf`, `bsr`, `tzcnt` and `popcnt`.
    fn scan[const OP: u8, T: Width, S: Source](x: true) {
        let Ok(value) = S::read::<T, _>(x) else { return x.stopped() };
        if value == 0 && OP <= REVERSE {
            x.cpu().flags.replace(STATUS, ZF | PF);
            return x.next();
        }
        let result = match OP {
            REVERSE => 63 - value.leading_zeros(),
            ONES => value.count_ones(),
            _ => value.trailing_zeros().min(T::BITS),
        };
        x.set::<T>(x.uop().d, u64::from(result));
        let flags = match OP {
            TRAILING => (if result == 0 { ZF } else { 0 }) | if value == 0 { CF } else { 0 },
            ONES => {
                if value == 0 {
                    ZF
                } else {
                    0
                }
            }
            _ => {
                if result.count_ones().is_multiple_of(2) {
                    PF
                } else {
                    0
                }
            }
        };
        x.cpu().flags.replace(STATUS, flags);
        x.next()
    }
}

pub(in crate::lower) const KEEP: u8 = 0;
pub(in crate::lower) const SET: u8 = 1;
pub(in crate::lower) const RESET: u8 = 2;
pub(in crate::lower) const FLIP: u8 = 3;

handler! {
    /// `bt`, `bts`, `btr` and `btc` of a register.
    fn test_bit[const OP: u8, T: Width, S: Source](x: true) {
        let Ok(offset) = S::read::<T, _>(x) else { return x.stopped() };
        let value = x.get::<T>(x.uop().d);
        let bit = 1 << (offset & u64::from(T::BITS - 1));
        match OP {
            SET => x.set::<T>(x.uop().d, value | bit),
            RESET => x.set::<T>(x.uop().d, value & !bit),
            FLIP => x.set::<T>(x.uop().d, value ^ bit),
            _ => {}
        }
        x.cpu().flags.set_cf(value & bit != 0);
        x.next()
    }
}

handler! {
    /// `mul` and one-operand `imul`.
    fn multiply[T: Width, S: Source, const SIGNED: bool](x: true) {
        let Ok(b) = S::read::<T, _>(x) else { return x.stopped() };
        let a = x.cpu().gpr[RAX];
        let product = match SIGNED {
            true => i128::from(T::sign_extend(a) as i64).wrapping_mul(i128::from(T::sign_extend(b) as i64)) as u128,
            false => u128::from(T::zero_extend(a)).wrapping_mul(u128::from(b)),
        };
        let (low, high) = (T::zero_extend(product as u64), T::zero_extend((product >> T::BITS) as u64));
        x.cpu().gpr[RAX] = low;
        x.cpu().gpr[RDX] = high;
        let overflow = match SIGNED {
            true => T::sign_extend(high) != (T::sign_extend(low) as i64 >> 63) as u64,
            false => high != 0,
        };
        x.cpu().flags.multiplied(T::sign_extend(low), overflow);
        x.next()
    }
}

handler! {
    /// `div` and `idiv` of a dividend whose upper half says nothing new: almost all. The flags stay.
    fn divide[T: Width, S: Source, const SIGNED: bool](x: true) {
        let Ok(divisor) = S::read::<T, _>(x) else { return x.stopped() };
        let (low, high) = (T::zero_extend(x.cpu().gpr[RAX]), T::zero_extend(x.cpu().gpr[RDX]));
        let Some((quotient, remainder)) = divided::<T, SIGNED>(low, high, divisor) else {
            return x.undivided();
        };
        x.cpu().gpr[RAX] = T::zero_extend(quotient);
        x.cpu().gpr[RDX] = T::zero_extend(remainder);
        x.next()
    }
}

/// A 64-bit division of the host is several times cheaper than the 128-bit one that Rust calls for
/// `u128`.
#[inline(always)]
fn divided<T: Width, const SIGNED: bool>(low: u64, high: u64, divisor: u64) -> Option<(u64, u64)> {
    if SIGNED {
        let (value, by) = (T::sign_extend(low) as i64, T::sign_extend(divisor) as i64);
        if T::sign_extend(high) == (value >> 63) as u64 {
            let quotient = value.checked_div(by)? as u64;
            // The one quotient that does not fit.
            return (T::sign_extend(quotient) == quotient).then(|| (quotient, value.wrapping_rem(by) as u64));
        }
    } else if high == 0 {
        return Some((low.checked_div(divisor)?, low % divisor));
    }
    divided_wide::<T, SIGNED>(low, high, divisor)
}

#[cold]
#[inline(never)]
fn divided_wide<T: Width, const SIGNED: bool>(low: u64, high: u64, divisor: u64) -> Option<(u64, u64)> {
    if SIGNED {
        let value = i128::from(T::sign_extend(high) as i64) << T::BITS | i128::from(low);
        let by = i128::from(T::sign_extend(divisor) as i64);
        let quotient = value.checked_div(by)?;
        let fits = i128::from(T::sign_extend(quotient as u64) as i64) == quotient;
        return fits.then(|| (quotient as u64, (value % by) as u64));
    }
    let value = u128::from(high) << T::BITS | u128::from(low);
    let quotient = value.checked_div(u128::from(divisor))?;
    (quotient >> T::BITS == 0).then(|| (quotient as u64, (value % u128::from(divisor)) as u64))
}

handler! {
    /// `xchg` of registers.
    fn swap[T: Width](x: true) {
        let (a, b) = (x.get::<T>(x.uop().d), x.get::<T>(x.uop().s));
        x.set::<T>(x.uop().s, a);
        x.set::<T>(x.uop().d, b);
        x.next()
    }
}

handler! {
    /// `xchg` with memory.
    fn swap_memory[T: Width](x: true) {
        let addr = Indexed::of(x);
        let Ok(found) = x.load::<T>(addr) else { return x.stopped() };
        if x.store::<T>(addr, x.get::<T>(x.uop().s)).is_err() {
            return x.stopped();
        }
        x.set::<T>(x.uop().s, found);
        x.next()
    }
}

handler! {
    /// `xadd` to memory.
    fn add_memory[T: Width](x: true) {
        let addr = Indexed::of(x);
        let Ok(a) = x.load::<T>(addr) else { return x.stopped() };
        let b = x.get::<T>(x.uop().s);
        let sum = a.wrapping_add(b);
        if x.store::<T>(addr, sum).is_err() {
            return x.stopped();
        }
        x.set::<T>(x.uop().s, a);
        set_flags::<ADD, T>(&mut x.cpu().flags, a, b, sum);
        x.next()
    }
}

handler! {
    /// `cmpxchg` with memory, which is written in either case.
    fn swap_if_equal[T: Width](x: true) {
        let addr = Indexed::of(x);
        let Ok(found) = x.load::<T>(addr) else { return x.stopped() };
        let expected = T::zero_extend(x.cpu().gpr[RAX]);
        let new = if expected == found { x.get::<T>(x.uop().s) } else { found };
        if x.store::<T>(addr, new).is_err() {
            return x.stopped();
        }
        set_flags::<SUB, T>(&mut x.cpu().flags, expected, found, expected.wrapping_sub(found));
        if expected != found {
            x.set::<T>(0, found);
        }
        x.next()
    }
}

fn scan_sized<const OP: u8>(size: usize, form: Form) -> Option<Handler> {
    Some(match (size, form) {
        (4, Form::Register) => scan::<OP, u32, Register>,
        (8, Form::Register) => scan::<OP, u64, Register>,
        (4, Form::Load | Form::LoadIndexed) => scan::<OP, u32, At<Indexed>>,
        (8, Form::Load | Form::LoadIndexed) => scan::<OP, u64, At<Indexed>>,
        _ => return None,
    })
}

/// The handler for a scan or count.
pub(in crate::lower) fn pick_scan(op: u8, size: usize, form: Form) -> Option<Handler> {
    match op {
        FORWARD => scan_sized::<FORWARD>(size, form),
        REVERSE => scan_sized::<REVERSE>(size, form),
        TRAILING => scan_sized::<TRAILING>(size, form),
        _ => scan_sized::<ONES>(size, form),
    }
}

fn test_sized<const OP: u8>(size: usize, form: Form) -> Option<Handler> {
    Some(match (size, form) {
        (4, Form::Register) => test_bit::<OP, u32, Register>,
        (8, Form::Register) => test_bit::<OP, u64, Register>,
        (4, Form::Immediate) => test_bit::<OP, u32, Immediate>,
        (8, Form::Immediate) => test_bit::<OP, u64, Immediate>,
        _ => return None,
    })
}

/// The handler for `bt` and its kin.
pub(in crate::lower) fn pick_test(op: u8, size: usize, form: Form) -> Option<Handler> {
    match op {
        KEEP => test_sized::<KEEP>(size, form),
        SET => test_sized::<SET>(size, form),
        RESET => test_sized::<RESET>(size, form),
        _ => test_sized::<FLIP>(size, form),
    }
}

fn multiply_sized<T: Width>(signed: bool, loads: bool) -> Handler {
    match (signed, loads) {
        (false, false) => multiply::<T, Register, false>,
        (false, true) => multiply::<T, At<Indexed>, false>,
        (true, false) => multiply::<T, Register, true>,
        (true, true) => multiply::<T, At<Indexed>, true>,
    }
}

fn divide_sized<T: Width>(signed: bool, loads: bool) -> Handler {
    match (signed, loads) {
        (false, false) => divide::<T, Register, false>,
        (false, true) => divide::<T, At<Indexed>, false>,
        (true, false) => divide::<T, Register, true>,
        (true, true) => divide::<T, At<Indexed>, true>,
    }
}

/// The handler for `mul` and `imul` (`divides` false) or `div` and `idiv`, of 4 or 8 bytes; the operand is `s` or in memory.
pub(in crate::lower) fn pick_wide(divides: bool, signed: bool, size: usize, loads: bool) -> Option<Handler> {
    Some(match (divides, size) {
        (false, 4) => multiply_sized::<u32>(signed, loads),
        (false, 8) => multiply_sized::<u64>(signed, loads),
        (true, 4) => divide_sized::<u32>(signed, loads),
        (true, 8) => divide_sized::<u64>(signed, loads),
        _ => return None,
    })
}

/// Which exchange.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::lower) enum Exchange {
    Swap,
    Add,
    SwapIfEqual,
}

fn exchange_sized<T: Width>(kind: Exchange, form: Form) -> Option<Handler> {
    Some(match (kind, form) {
        (Exchange::Swap, Form::Register) => swap::<T>,
        (Exchange::Swap, Form::Store | Form::StoreIndexed) => swap_memory::<T>,
        (Exchange::Add, Form::Store | Form::StoreIndexed) => add_memory::<T>,
        (Exchange::SwapIfEqual, Form::Store | Form::StoreIndexed) => swap_if_equal::<T>,
        _ => return None,
    })
}

/// The handler for an exchange of 4 or 8 bytes.
pub(in crate::lower) fn pick_exchange(kind: Exchange, size: usize, form: Form) -> Option<Handler> {
    match size {
        4 => exchange_sized::<u32>(kind, form),
        8 => exchange_sized::<u64>(kind, form),
        _ => None,
    }
}
