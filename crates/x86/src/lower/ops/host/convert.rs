//! Between SSE and general registers, and comparisons into flags.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use std::arch::asm;

use iced_x86::{Instruction, Mnemonic};
use memory::Word;

use super::{Direction, Handler, ready, register};
use crate::flags::{CF, PF, ZF};
use crate::lower::ops::fallback;
use crate::lower::uop::{Careful, handler};
use crate::lower::width::{Address, Indexed, Width};
use crate::machine::operand_size;

/// A conversion of the number at `s` to an integer of either size.
trait ToInteger {
    type Word: Word;
    unsafe fn narrow(s: *const u8) -> u64;
    unsafe fn wide(s: *const u8) -> u64;
}

/// A conversion of an integer of either size to the low part of the register at `d`.
trait FromInteger {
    unsafe fn narrow(d: *mut u128, value: u64);
    unsafe fn wide(d: *mut u128, value: u64);
}

/// A comparison of the register at `d` with the number at `s`.
trait Compare {
    type Word: Word;
    unsafe fn flags(d: *mut u128, s: *const u8) -> u64;
}

macro_rules! to_integer {
    ($($name:ident $text:literal $word:ty, $pointer:literal;)*) => {$(
        struct $name;
        impl ToInteger for $name {
            type Word = $word;
            #[inline(always)]
            unsafe fn narrow(s: *const u8) -> u64 {
                let result: u64;
                asm!(concat!($text, " {r:e}, ", $pointer, " ptr [{s}]"), r = out(reg) result, s = in(reg) s, options(nostack, readonly));
                result
            }
            #[inline(always)]
            unsafe fn wide(s: *const u8) -> u64 {
                let result: u64;
                asm!(concat!($text, " {r}, ", $pointer, " ptr [{s}]"), r = out(reg) result, s = in(reg) s, options(nostack, readonly));
                result
            }
        }
    )*};
}

to_integer! {
    Cvtss2si "cvtss2si" u32, "dword";
    Cvttss2si "cvttss2si" u32, "dword";
    Cvtsd2si "cvtsd2si" u64, "qword";
    Cvttsd2si "cvttsd2si" u64, "qword";
}

macro_rules! from_integer {
    ($($name:ident $text:literal;)*) => {$(
        struct $name;
        impl FromInteger for $name {
            #[inline(always)]
            unsafe fn narrow(d: *mut u128, value: u64) {
                asm!(
                    "movaps {a}, [{d}]", concat!($text, " {a}, {v:e}"), "movaps [{d}], {a}",
                    d = in(reg) d, v = in(reg) value, a = out(xmm_reg) _, options(nostack)
                );
            }
            #[inline(always)]
            unsafe fn wide(d: *mut u128, value: u64) {
                asm!(
                    "movaps {a}, [{d}]", concat!($text, " {a}, {v}"), "movaps [{d}], {a}",
                    d = in(reg) d, v = in(reg) value, a = out(xmm_reg) _, options(nostack)
                );
            }
        }
    )*};
}

from_integer! {
    Cvtsi2ss "cvtsi2ss";
    Cvtsi2sd "cvtsi2sd";
}

macro_rules! compare {
    ($($name:ident $text:literal $word:ty, $pointer:literal;)*) => {$(
        struct $name;
        impl Compare for $name {
            type Word = $word;
            #[inline(always)]
            unsafe fn flags(d: *mut u128, s: *const u8) -> u64 {
                let (zero, carry, parity): (u8, u8, u8);
                asm!(
                    "movaps {a}, [{d}]", concat!($text, " {a}, ", $pointer, " ptr [{s}]"), "sete {z}", "setb {c}", "setp {p}",
                    d = in(reg) d, s = in(reg) s, a = out(xmm_reg) _, z = lateout(reg_byte) zero, c = lateout(reg_byte) carry,
                    p = lateout(reg_byte) parity, options(nostack, readonly)
                );
                u64::from(zero) * ZF | u64::from(carry) * CF | u64::from(parity) * PF
            }
        }
    )*};
}

compare! {
    Comiss "comiss" u32, "dword";
    Ucomiss "ucomiss" u32, "dword";
    Comisd "comisd" u64, "qword";
    Ucomisd "ucomisd" u64, "qword";
}

/// Where the second operand is; null if its load was stopped.
#[inline(always)]
unsafe fn second<W: Word, const LOADS: bool>(x: Careful) -> *const u8 {
    match LOADS {
        true => x.pointer::<W>(Indexed::of(x)),
        false => register(x, x.uop().s).cast_const().cast(),
    }
}

handler! {
    fn to_integer[C: ToInteger, T: Width, const LOADS: bool](x: true) {
        if !ready(x) {
            return fallback::plain(x.u, x.cpu, x.memory, x.last, x.exec);
        }
        let s = second::<C::Word, LOADS>(x);
        if s.is_null() {
            return x.stopped();
        }
        x.set::<T>(x.uop().d, if T::BITS == 32 { C::narrow(s) } else { C::wide(s) });
        x.next()
    }
}

handler! {
    fn from_integer[C: FromInteger, T: Width, const LOADS: bool](x: true) {
        if !ready(x) {
            return fallback::plain(x.u, x.cpu, x.memory, x.last, x.exec);
        }
        let value = if LOADS { x.load::<T>(Indexed::of(x)) } else { Ok(x.get::<T>(x.uop().s)) };
        let Ok(value) = value else { return x.stopped() };
        let d = register(x, x.uop().d);
        if T::BITS == 32 {
            C::narrow(d, value);
        } else {
            C::wide(d, value);
        }
        x.next()
    }
}

handler! {
    fn compare[C: Compare, const LOADS: bool](x: true) {
        if !ready(x) {
            return fallback::plain(x.u, x.cpu, x.memory, x.last, x.exec);
        }
        let s = second::<C::Word, LOADS>(x);
        if s.is_null() {
            return x.stopped();
        }
        x.cpu().flags.set_status(C::flags(register(x, x.uop().d), s));
        x.next()
    }
}

fn pick_to<C: ToInteger>(i: &Instruction, direction: Direction) -> Option<Handler> {
    Some(match (direction, operand_size(i, 0)) {
        (Direction::ToGeneral, 4) => to_integer::<C, u32, false>,
        (Direction::ToGeneral, _) => to_integer::<C, u64, false>,
        (Direction::LoadGeneral, 4) => to_integer::<C, u32, true>,
        (Direction::LoadGeneral, _) => to_integer::<C, u64, true>,
        _ => return None,
    })
}

fn pick_from<C: FromInteger>(i: &Instruction, direction: Direction) -> Option<Handler> {
    Some(match (direction, operand_size(i, 1)) {
        (Direction::FromGeneral, 4) => from_integer::<C, u32, false>,
        (Direction::FromGeneral, _) => from_integer::<C, u64, false>,
        (Direction::Load, 4) => from_integer::<C, u32, true>,
        (Direction::Load, _) => from_integer::<C, u64, true>,
        _ => return None,
    })
}

fn pick_compare<C: Compare>(direction: Direction) -> Option<Handler> {
    match direction {
        Direction::Between => Some(compare::<C, false>),
        Direction::Load => Some(compare::<C, true>),
        _ => None,
    }
}

/// The handler for a conversion or comparison whose operands are filled in.
pub(super) fn pick(i: &Instruction, direction: Direction) -> Option<Handler> {
    match i.mnemonic() {
        Mnemonic::Cvtss2si => pick_to::<Cvtss2si>(i, direction),
        Mnemonic::Cvttss2si => pick_to::<Cvttss2si>(i, direction),
        Mnemonic::Cvtsd2si => pick_to::<Cvtsd2si>(i, direction),
        Mnemonic::Cvttsd2si => pick_to::<Cvttsd2si>(i, direction),
        Mnemonic::Cvtsi2ss => pick_from::<Cvtsi2ss>(i, direction),
        Mnemonic::Cvtsi2sd => pick_from::<Cvtsi2sd>(i, direction),
        Mnemonic::Comiss => pick_compare::<Comiss>(direction),
        Mnemonic::Ucomiss => pick_compare::<Ucomiss>(direction),
        Mnemonic::Comisd => pick_compare::<Comisd>(direction),
        Mnemonic::Ucomisd => pick_compare::<Ucomisd>(direction),
        _ => None,
    }
}
