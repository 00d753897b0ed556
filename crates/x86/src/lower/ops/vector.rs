//! The SSE instructions that copies, string functions and floating-point code are made of.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use iced_x86::{Instruction, Mnemonic};
use memory::Stopped;

use super::vector_operands::{Direction, operands};
use super::{host, lanes};
use crate::lower::uop::{Careful, Handler, Uop, handler};
use crate::lower::width::{Address, Indexed, Width};

/// Half of an SSE register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Low,
    High,
}

#[inline(always)]
pub(super) unsafe fn destination<'a>(x: Careful) -> &'a mut u128 {
    x.cpu().xmm.get_unchecked_mut(usize::from(x.uop().d))
}

#[inline(always)]
pub(super) unsafe fn source(x: Careful) -> u128 {
    *x.cpu().xmm.get_unchecked(usize::from(x.uop().s))
}

#[inline(always)]
unsafe fn load_whole(x: Careful, addr: u64) -> Result<u128, Stopped> {
    (*x.memory).fast_load::<u128>(addr)
}

handler! {
    fn load[const ALIGNED: bool](x: true) {
        let addr = Indexed::of(x);
        if ALIGNED && !addr.is_multiple_of(16) {
            return x.refused();
        }
        let Ok(value) = load_whole(x, addr) else { return x.stopped() };
        *destination(x) = value;
        x.next()
    }
}

handler! {
    fn store[const ALIGNED: bool](x: true) {
        let addr = Indexed::of(x);
        if ALIGNED && !addr.is_multiple_of(16) {
            return x.refused();
        }
        if (*x.memory).fast_store::<u128>(addr, source(x)).is_err() {
            return x.stopped();
        }
        x.next()
    }
}

handler! {
    fn copy[](x: true) {
        *destination(x) = source(x);
        x.next()
    }
}

handler! {
    /// The low part from memory, the rest zero.
    fn load_part[T: Width](x: true) {
        let Ok(value) = x.load::<T>(Indexed::of(x)) else { return x.stopped() };
        *destination(x) = u128::from(value);
        x.next()
    }
}

handler! {
    fn store_part[T: Width](x: true) {
        if x.store::<T>(Indexed::of(x), source(x) as u64).is_err() {
            return x.stopped();
        }
        x.next()
    }
}

handler! {
    /// The low part from a general register, the rest zero.
    fn from_general[T: Width](x: true) {
        *destination(x) = u128::from(x.get::<T>(x.uop().s));
        x.next()
    }
}

handler! {
    fn to_general[T: Width](x: true) {
        x.set::<T>(x.uop().d, source(x) as u64);
        x.next()
    }
}

handler! {
    /// `movss` and `movsd` between registers keep the rest; `movq` clears it.
    fn copy_part[T: Width, const KEEP: bool](x: true) {
        let part = u128::from(T::zero_extend(source(x) as u64));
        let kept = if KEEP { *destination(x) >> T::BITS << T::BITS } else { 0 };
        *destination(x) = kept | part;
        x.next()
    }
}

handler! {
    /// `movlps`, `movhps` and the like: half a register from memory.
    fn load_half[const HIGH: bool](x: true) {
        let Ok(value) = x.load::<u64>(Indexed::of(x)) else { return x.stopped() };
        let old = *destination(x);
        *destination(x) = match HIGH {
            true => old << 64 >> 64 | u128::from(value) << 64,
            false => old >> 64 << 64 | u128::from(value),
        };
        x.next()
    }
}

handler! {
    fn store_high[](x: true) {
        if x.store::<u64>(Indexed::of(x), (source(x) >> 64) as u64).is_err() {
            return x.stopped();
        }
        x.next()
    }
}

handler! {
    fn byte_mask[](x: true) {
        x.set::<u32>(x.uop().d, lanes::sign_bits(source(x)));
        x.next()
    }
}

handler! {
    /// `pshufd`; `imm` is the order.
    fn shuffle[](x: true) {
        *destination(x) = lanes::shuffle(source(x), x.uop().imm);
        x.next()
    }
}

handler! {
    fn binary[const OP: u8](x: true) {
        *destination(x) = lanes::compute::<OP>(*destination(x), source(x));
        x.next()
    }
}

handler! {
    /// The second operand is in memory and must be aligned.
    fn binary_load[const OP: u8](x: true) {
        let addr = Indexed::of(x);
        if !addr.is_multiple_of(16) {
            return x.refused();
        }
        let Ok(value) = load_whole(x, addr) else { return x.stopped() };
        *destination(x) = lanes::compute::<OP>(*destination(x), value);
        x.next()
    }
}

fn whole(direction: Direction, aligned: bool) -> Option<Handler> {
    Some(match (direction, aligned) {
        (Direction::Between, _) => copy,
        (Direction::Load, true) => load::<true>,
        (Direction::Load, false) => load::<false>,
        (Direction::Store, true) => store::<true>,
        (Direction::Store, false) => store::<false>,
        _ => return None,
    })
}

fn part<T: Width, const KEEP: bool>(direction: Direction) -> Option<Handler> {
    Some(match direction {
        Direction::Between => copy_part::<T, KEEP>,
        Direction::Load => load_part::<T>,
        Direction::Store => store_part::<T>,
        Direction::FromGeneral => from_general::<T>,
        Direction::ToGeneral => to_general::<T>,
        Direction::LoadGeneral => return None,
    })
}

fn half(direction: Direction, half: Half) -> Option<Handler> {
    Some(match (direction, half) {
        (Direction::Load, Half::Low) => load_half::<false>,
        (Direction::Load, Half::High) => load_half::<true>,
        (Direction::Store, Half::Low) => store_part::<u64>,
        (Direction::Store, Half::High) => store_high,
        _ => return None,
    })
}

fn pick_move(u: &mut Uop, i: &Instruction) -> Option<Handler> {
    let known = matches!(
        i.mnemonic(),
        Mnemonic::Movaps
            | Mnemonic::Movapd
            | Mnemonic::Movdqa
            | Mnemonic::Movntdq
            | Mnemonic::Movntps
            | Mnemonic::Movups
            | Mnemonic::Movupd
            | Mnemonic::Movdqu
            | Mnemonic::Movd
            | Mnemonic::Movq
            | Mnemonic::Movss
            | Mnemonic::Movsd
            | Mnemonic::Movlps
            | Mnemonic::Movlpd
            | Mnemonic::Movhps
            | Mnemonic::Movhpd
    );
    if !known || i.is_string_instruction() {
        return None;
    }
    let direction = operands(u, i)?;
    match i.mnemonic() {
        Mnemonic::Movups | Mnemonic::Movupd | Mnemonic::Movdqu => whole(direction, false),
        Mnemonic::Movd => part::<u32, false>(direction),
        Mnemonic::Movq => part::<u64, false>(direction),
        Mnemonic::Movss => part::<u32, true>(direction),
        Mnemonic::Movsd => part::<u64, true>(direction),
        Mnemonic::Movlps | Mnemonic::Movlpd => half(direction, Half::Low),
        Mnemonic::Movhps | Mnemonic::Movhpd => half(direction, Half::High),
        _ => whole(direction, true),
    }
}

fn pick_binary<const OP: u8>(direction: Direction) -> Option<Handler> {
    match direction {
        Direction::Between => Some(binary::<OP>),
        Direction::Load => Some(binary_load::<OP>),
        _ => None,
    }
}

fn pick_operation(u: &mut Uop, i: &Instruction) -> Option<Handler> {
    let op = lanes::operation(i.mnemonic())?;
    let direction = operands(u, i)?;
    match op {
        lanes::AND => pick_binary::<{ lanes::AND }>(direction),
        lanes::AND_NOT => pick_binary::<{ lanes::AND_NOT }>(direction),
        lanes::OR => pick_binary::<{ lanes::OR }>(direction),
        lanes::XOR => pick_binary::<{ lanes::XOR }>(direction),
        lanes::EQUAL_8 => pick_binary::<{ lanes::EQUAL_8 }>(direction),
        lanes::EQUAL_16 => pick_binary::<{ lanes::EQUAL_16 }>(direction),
        lanes::EQUAL_32 => pick_binary::<{ lanes::EQUAL_32 }>(direction),
        lanes::MIN_8 => pick_binary::<{ lanes::MIN_8 }>(direction),
        lanes::MAX_8 => pick_binary::<{ lanes::MAX_8 }>(direction),
        lanes::ADD_8 => pick_binary::<{ lanes::ADD_8 }>(direction),
        lanes::ADD_16 => pick_binary::<{ lanes::ADD_16 }>(direction),
        lanes::ADD_32 => pick_binary::<{ lanes::ADD_32 }>(direction),
        lanes::ADD_64 => pick_binary::<{ lanes::ADD_64 }>(direction),
        lanes::SUB_8 => pick_binary::<{ lanes::SUB_8 }>(direction),
        lanes::SUB_16 => pick_binary::<{ lanes::SUB_16 }>(direction),
        lanes::SUB_32 => pick_binary::<{ lanes::SUB_32 }>(direction),
        lanes::SUB_64 => pick_binary::<{ lanes::SUB_64 }>(direction),
        lanes::UNPACK_8 => pick_binary::<{ lanes::UNPACK_8 }>(direction),
        lanes::UNPACK_16 => pick_binary::<{ lanes::UNPACK_16 }>(direction),
        lanes::UNPACK_32 => pick_binary::<{ lanes::UNPACK_32 }>(direction),
        _ => pick_binary::<{ lanes::UNPACK_64 }>(direction),
    }
}

/// The handler for an SSE instruction, if it has one.
pub(in crate::lower) fn translate(u: &mut Uop, i: &Instruction) -> Option<Handler> {
    let mut filled = *u;
    if let Some(handler) = host::pick(&mut filled, i) {
        *u = filled;
        return Some(handler);
    }
    match i.mnemonic() {
        Mnemonic::Pmovmskb => (operands(u, i)? == Direction::ToGeneral).then_some(byte_mask as Handler),
        Mnemonic::Pshufd => {
            u.imm = u64::from(i.immediate8());
            (operands(u, i)? == Direction::Between).then_some(shuffle as Handler)
        }
        _ => pick_move(u, i).or_else(|| pick_operation(u, i)),
    }
}
