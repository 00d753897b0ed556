//! Moves of SSE registers as the host's own, in one piece: a register written in halves and then read whole would stall the host.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use std::arch::asm;

use iced_x86::{Instruction, Mnemonic};
use memory::Memory;

use super::{Direction, Handler, Vector, pick_plain, register};
use crate::cpu::Cpu;
use crate::lower::ops::vector_operands::operands;
use crate::lower::uop::{Careful, Exec, Last, Uop, handler};
use crate::lower::width::{Address, Indexed, Width};

/// Moves that overwrite the whole register: only the second operand is read.
macro_rules! whole {
    ($($name:ident $word:ty, $text:literal;)*) => {$(
        struct $name;
        impl Vector for $name {
            type Word = $word;
            #[inline(always)]
            unsafe fn run(d: *mut u128, s: *const u8) {
                asm!($text, "movaps [{d}], {a}", d = in(reg) d, s = in(reg) s, a = out(xmm_reg) _, options(nostack));
            }
        }
    )*};
}

/// Moves into a part of the register.
macro_rules! part {
    ($($name:ident $word:ty, $text:literal;)*) => {$(
        struct $name;
        impl Vector for $name {
            type Word = $word;
            #[inline(always)]
            unsafe fn run(d: *mut u128, s: *const u8) {
                asm!(
                    "movaps {a}, [{d}]", $text, "movaps [{d}], {a}",
                    d = in(reg) d, s = in(reg) s, a = out(xmm_reg) _, options(nostack)
                );
            }
        }
    )*};
}

whole! {
    Whole u128, "movups {a}, [{s}]";
    Double u64, "movsd {a}, [{s}]";
    Single u32, "movss {a}, [{s}]";
}

part! {
    Low u64, "movlpd {a}, [{s}]";
    High u64, "movhpd {a}, [{s}]";
    UpperToLow u64, "movlpd {a}, [{s} + 8]";
}

/// `movss` between registers.
struct LowSingle;

impl Vector for LowSingle {
    type Word = u32;
    #[inline(always)]
    unsafe fn run(d: *mut u128, s: *const u8) {
        asm!(
            "movaps {a}, [{d}]", "movss {b}, [{s}]", "movss {a}, {b}", "movaps [{d}], {a}",
            d = in(reg) d, s = in(reg) s, a = out(xmm_reg) _, b = out(xmm_reg) _, options(nostack)
        );
    }
}

handler! {
    /// A load of 16 bytes from any address.
    fn load_unaligned[const C: bool](x: C) {
        let s = x.pointer::<u128>(Indexed::of(x));
        if s.is_null() {
            return x.retry(load_unaligned::<true>);
        }
        Whole::run(register(x, x.uop().d), s);
        x.next()
    }
}

handler! {
    /// A store of 16 bytes.
    fn store[const ALIGNED: bool, const C: bool](x: C) {
        let addr = Indexed::of(x);
        if ALIGNED && !addr.is_multiple_of(16) {
            return x.refused();
        }
        let from = register(x, x.uop().s);
        if C {
            let stored = (*x.memory).fast_store::<u128>(addr, *from);
            return if stored.is_ok() { x.next() } else { x.stopped() };
        }
        let to = (*x.memory).quick_target::<u128>(addr);
        if to.is_null() {
            return x.retry(store::<ALIGNED, true>);
        }
        asm!("movaps {a}, [{f}]", "movups [{t}], {a}", f = in(reg) from, t = in(reg) to, a = out(xmm_reg) _, options(nostack));
        x.next()
    }
}

/// Writes a register whose halves are known.
///
/// Through vector registers, not by two stores: see the top of the file.
#[inline(always)]
unsafe fn put(d: *mut u128, low: u64, high: u64) {
    asm!(
        "movq {a}, {l}", "movq {b}, {h}", "punpcklqdq {a}, {b}", "movaps [{d}], {a}",
        d = in(reg) d, l = in(reg) low, h = in(reg) high, a = out(xmm_reg) _, b = out(xmm_reg) _, options(nostack)
    );
}

handler! {
    /// `movd` and `movq` from a general register: the rest becomes zero.
    fn from_general[T: Width](x: true) {
        let (d, value) = (register(x, x.uop().d), x.get::<T>(x.uop().s));
        asm!("movq {a}, {v}", "movaps [{d}], {a}", d = in(reg) d, v = in(reg) value, a = out(xmm_reg) _, options(nostack));
        x.next()
    }
}

/// The top bit of each lane, in a general register.
macro_rules! masks {
    ($($name:ident $text:literal;)*) => {$(
        unsafe fn $name(u: *const Uop, cpu: *mut Cpu, memory: *mut Memory, last: Last, exec: *mut Exec) -> *const Uop {
            let x = Careful { u, cpu, memory, exec, last };
            let s = register(x, x.uop().s);
            let bits: u64;
            asm!(
                "movaps {a}, [{s}]", concat!($text, " {r:e}, {a}"),
                s = in(reg) s, r = out(reg) bits, a = out(xmm_reg) _, options(nostack, readonly)
            );
            x.set::<u32>(x.uop().d, bits);
            x.next()
        }
    )*};
}

masks! {
    mask_bytes "pmovmskb";
    mask_singles "movmskps";
    mask_doubles "movmskpd";
}

const SHUFFLE: u8 = 0;
const TWO_SINGLES: u8 = 1;
const TWO_DOUBLES: u8 = 2;
const LOW_WORDS: u8 = 3;
const HIGH_WORDS: u8 = 4;

/// Two lanes of 32 bits of the vector at `s`, as the low four bits of `order` say.
#[inline(always)]
unsafe fn pair(s: *const u8, order: usize) -> u64 {
    let lane = |n: usize| u64::from(*s.cast::<u32>().add(n & 3));
    lane(order) | lane(order >> 2) << 32
}

/// Four words of eight bytes, in another order.
#[inline(always)]
fn words(half: u64, order: usize) -> u64 {
    let word = |n: usize| (half >> (16 * (order >> (2 * n) & 3)) & 0xffff) << (16 * n);
    word(0) | word(1) | word(2) | word(3)
}

handler! {
    /// Lanes of two registers in the order that `imm` says.
    fn shuffle[const HOW: u8](x: true) {
        let (d, s) = (register(x, x.uop().d), register(x, x.uop().s));
        let (first, second) = (d.cast_const().cast::<u8>(), s.cast_const().cast::<u8>());
        let order = x.uop().imm as usize;
        let half = |of: *const u8, n: usize| *of.cast::<u64>().add(n & 1);
        let (low, high) = match HOW {
            SHUFFLE => (pair(second, order), pair(second, order >> 4)),
            TWO_SINGLES => (pair(first, order), pair(second, order >> 4)),
            TWO_DOUBLES => (half(first, order), half(second, order >> 1)),
            LOW_WORDS => (words(half(second, 0), order), half(second, 1)),
            _ => (half(second, 0), words(half(second, 1), order)),
        };
        put(d, low, high);
        x.next()
    }
}

handler! {
    /// The whole register, by `imm` bytes, fewer than 16.
    fn shift_bytes[const LEFT: bool](x: true) {
        let (d, bits) = (register(x, x.uop().d), 8 * (x.uop().imm & 15));
        let value = if LEFT { *d << bits } else { *d >> bits };
        put(d, value as u64, (value >> 64) as u64);
        x.next()
    }
}

fn pick_whole(direction: Direction, aligned: bool) -> Option<Handler> {
    match (direction, aligned) {
        (Direction::Load, false) => Some(load_unaligned::<false>),
        (Direction::Store, true) => Some(store::<true, false>),
        (Direction::Store, false) => Some(store::<false, false>),
        _ => pick_plain::<Whole>(direction),
    }
}

/// A handler for registers only.
fn between(direction: Direction, handler: Handler) -> Option<Handler> {
    (direction == Direction::Between).then_some(handler)
}

/// `V` loads, `B` moves between registers.
fn part<V: Vector, B: Vector>(direction: Direction) -> Option<Handler> {
    match direction {
        Direction::Load => pick_plain::<V>(direction),
        _ => pick_plain::<B>(direction),
    }
}

fn general<T: Width, V: Vector>(direction: Direction) -> Option<Handler> {
    match direction {
        Direction::FromGeneral => Some(from_general::<T>),
        _ => pick_plain::<V>(direction),
    }
}

fn to_general(direction: Direction, handler: Handler) -> Option<Handler> {
    (direction == Direction::ToGeneral).then_some(handler)
}

/// A shift of the whole register by bytes.
fn pick_shift(u: &mut Uop, i: &Instruction, handler: Handler) -> Option<Handler> {
    u.imm = u64::from(i.immediate8());
    u.d = crate::machine::xmm_index(i.op0_register()) as u8;
    (u.imm < 16).then_some(handler)
}

fn by_mnemonic(mnemonic: Mnemonic, direction: Direction) -> Option<Handler> {
    match mnemonic {
        Mnemonic::Movaps | Mnemonic::Movapd | Mnemonic::Movdqa => pick_whole(direction, true),
        Mnemonic::Movntdq | Mnemonic::Movntps | Mnemonic::Movntpd => pick_whole(direction, true),
        Mnemonic::Movups | Mnemonic::Movupd | Mnemonic::Movdqu => pick_whole(direction, false),
        Mnemonic::Movsd => part::<Double, Low>(direction),
        Mnemonic::Movss => part::<Single, LowSingle>(direction),
        Mnemonic::Movq => general::<u64, Double>(direction),
        Mnemonic::Movd => general::<u32, Single>(direction),
        Mnemonic::Movlps | Mnemonic::Movlpd => pick_plain::<Low>(direction),
        Mnemonic::Movhps | Mnemonic::Movhpd | Mnemonic::Movlhps => pick_plain::<High>(direction),
        Mnemonic::Movhlps => pick_plain::<UpperToLow>(direction),
        Mnemonic::Pmovmskb => to_general(direction, mask_bytes),
        Mnemonic::Movmskps => to_general(direction, mask_singles),
        Mnemonic::Movmskpd => to_general(direction, mask_doubles),
        Mnemonic::Pshufd => between(direction, shuffle::<SHUFFLE>),
        Mnemonic::Shufps => between(direction, shuffle::<TWO_SINGLES>),
        Mnemonic::Shufpd => between(direction, shuffle::<TWO_DOUBLES>),
        Mnemonic::Pshuflw => between(direction, shuffle::<LOW_WORDS>),
        Mnemonic::Pshufhw => between(direction, shuffle::<HIGH_WORDS>),
        _ => None,
    }
}

/// Fills in the operands and picks the handler for a move, a shuffle or a shift by bytes.
pub(super) fn pick(u: &mut Uop, i: &Instruction) -> Option<Handler> {
    match i.mnemonic() {
        Mnemonic::Pslldq => pick_shift(u, i, shift_bytes::<true>),
        Mnemonic::Psrldq => pick_shift(u, i, shift_bytes::<false>),
        _ => {
            if i.op_count() == 3 {
                u.imm = u64::from(i.immediate8());
            }
            by_mnemonic(i.mnemonic(), operands(u, i)?)
        }
    }
}
