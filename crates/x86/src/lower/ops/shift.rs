//! Shifts and rotations of registers.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use crate::cpu::RCX;
use crate::flags::Flags;
use crate::integer::{rol, ror, sar, shl, shr};
use crate::lower::uop::{Handler, handler};
use crate::lower::width::{Before, Destination, Register, Source, Width};

use super::alu::Chain;

pub(in crate::lower) const SHL: u8 = 0;
pub(in crate::lower) const SHR: u8 = 1;
pub(in crate::lower) const SAR: u8 = 2;
pub(in crate::lower) const ROL: u8 = 3;
pub(in crate::lower) const ROR: u8 = 4;

/// The result of a shift by less than the size.
///
/// A count beyond the operand size of 8 and 16 bits (up to 31) shifts everything out: values are in
/// 64 bits, so the host's shift does that by itself.
#[inline(always)]
fn plain<const OP: u8, T: Width>(value: u64, count: u32) -> u64 {
    match (OP, T::BITS) {
        (SHL, _) => value << count,
        (SHR, _) => value >> count,
        (SAR, _) => (T::sign_extend(value) as i64 >> count) as u64,
        (ROL, 8) => u64::from((value as u8).rotate_left(count)),
        (ROL, 16) => u64::from((value as u16).rotate_left(count)),
        (ROL, 32) => u64::from((value as u32).rotate_left(count)),
        (ROL, _) => value.rotate_left(count),
        (_, 8) => u64::from((value as u8).rotate_right(count)),
        (_, 16) => u64::from((value as u16).rotate_right(count)),
        (_, 32) => u64::from((value as u32).rotate_right(count)),
        (_, _) => value.rotate_right(count),
    }
}

/// The result, with flags as the reference sets them.
#[inline(always)]
fn with_flags<const OP: u8, T: Width>(flags: &mut Flags, value: u64, count: u32) -> u64 {
    let size = T::BYTES as usize;
    match OP {
        SHL => shl(flags, value, count, size),
        SHR => shr(flags, value, count, size),
        SAR => sar(flags, value, count, size),
        ROL => rol(flags, value, count, size),
        _ => ror(flags, value, count, size),
    }
}

handler! {
    /// By `imm`, which is neither zero nor beyond the size. Rotations by more than one keep the overflow flag.
    fn by_immediate[const OP: u8, T: Width, D: Source, const LIVE: bool](x: true) {
        let Ok(value) = D::read::<T, _>(x) else { return x.stopped() };
        let count = x.uop().imm as u32 & (T::BITS - 1);
        if !LIVE {
            return x.finish::<T>(plain::<OP, T>(value, count));
        }
        let before = x.cpu().flags.of();
        let result = with_flags::<OP, T>(&mut x.cpu().flags, value, count);
        if OP >= ROL && count != 1 {
            let carry = x.cpu().flags.cf();
            x.cpu().flags.rotated(carry, before);
        }
        x.finish::<T>(result)
    }
}

handler! {
    /// By `cl`, of which five bits count, six for 64-bit operands: less than those may be shifted out altogether.
    fn by_count[const OP: u8, T: Width, D: Source, const LIVE: bool](x: true) {
        let Ok(value) = D::read::<T, _>(x) else { return x.stopped() };
        let count = x.cpu().gpr[RCX] as u32 & if T::BITS == 64 { 63 } else { 31 };
        if !LIVE || count == 0 {
            // A count of zero leaves the flags, but still clears the upper half.
            return x.finish::<T>(plain::<OP, T>(value, count));
        }
        let result = with_flags::<OP, T>(&mut x.cpu().flags, value, count);
        x.finish::<T>(result)
    }
}

fn by_kind<const OP: u8, T: Width, D: Source>(immediate: bool, live: bool) -> Handler {
    match (immediate, live) {
        (true, true) => by_immediate::<OP, T, D, true>,
        (true, false) => by_immediate::<OP, T, D, false>,
        (false, true) => by_count::<OP, T, D, true>,
        (false, false) => by_count::<OP, T, D, false>,
    }
}

fn by_op<T: Width, D: Source>(op: u8, immediate: bool, live: bool) -> Handler {
    match op {
        SHL => by_kind::<SHL, T, D>(immediate, live),
        SHR => by_kind::<SHR, T, D>(immediate, live),
        SAR => by_kind::<SAR, T, D>(immediate, live),
        ROL => by_kind::<ROL, T, D>(immediate, live),
        _ => by_kind::<ROR, T, D>(immediate, live),
    }
}

/// The handler for a shift of a register.
pub(in crate::lower) fn pick(op: u8, size: usize, immediate: bool, chain: Chain, live: bool) -> Option<Handler> {
    match (size, chain) {
        (1, _) => Some(by_op::<u8, Destination>(op, immediate, live)),
        (2, _) => Some(by_op::<u16, Destination>(op, immediate, live)),
        (4, Chain::First) => Some(by_op::<u32, Before>(op, immediate, live)),
        (8, Chain::First) => Some(by_op::<u64, Before>(op, immediate, live)),
        (4, _) => Some(by_op::<u32, Destination>(op, immediate, live)),
        (8, _) => Some(by_op::<u64, Destination>(op, immediate, live)),
        _ => None,
    }
}

fn copied_op<T: Width, D: Source>(op: u8, live: bool) -> Option<Handler> {
    Some(match (op, live) {
        (SHL, true) => by_immediate::<SHL, T, D, true>,
        (SHL, false) => by_immediate::<SHL, T, D, false>,
        (SHR, true) => by_immediate::<SHR, T, D, true>,
        (SHR, false) => by_immediate::<SHR, T, D, false>,
        (SAR, true) => by_immediate::<SAR, T, D, true>,
        (SAR, false) => by_immediate::<SAR, T, D, false>,
        _ => return None,
    })
}

/// The handler for a shift of a copy by an immediate: `d = s << imm`. `chained` as for other operations on copies.
pub(in crate::lower) fn pick_copied(op: u8, size: usize, chained: bool, live: bool) -> Option<Handler> {
    match (size, chained) {
        (4, false) => copied_op::<u32, Register>(op, live),
        (4, true) => copied_op::<u32, Before>(op, live),
        (8, false) => copied_op::<u64, Register>(op, live),
        (8, true) => copied_op::<u64, Before>(op, live),
        _ => None,
    }
}
