//! Rotations, without and through the carry.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::shift::{Shift, count_mask, shift, sign_turns, top_bit};
use crate::flags::Flags;
use crate::machine::{Machine, Trap, mask, operand_size};
use crate::row::Row;

pub(crate) const TABLE: &[Row] = &[
    (Mnemonic::Rol, |m, i| rotate(m, i, rol)),
    (Mnemonic::Ror, |m, i| rotate(m, i, ror)),
    (Mnemonic::Rcl, |m, i| shift(m, i, rcl)),
    (Mnemonic::Rcr, |m, i| shift(m, i, rcr)),
];

/// The masked count may still exceed the operand (8- and 16-bit operands, counts up to 31): it
/// wraps for rotations, while the flags look at the masked count.
fn rotate_left(value: u64, count: u32, size: usize) -> u64 {
    let bits = 8 * size as u32;
    let count = count % bits;
    if count == 0 {
        return value;
    }
    (value << count | value >> (bits - count)) & mask(size)
}

pub(crate) fn rol(flags: &mut Flags, value: u64, count: u32, size: usize) -> u64 {
    let result = rotate_left(value, count, size);
    flags.rotated(result & 1 != 0, sign_turns(value, size));
    result
}

pub(crate) fn ror(flags: &mut Flags, value: u64, count: u32, size: usize) -> u64 {
    let bits = 8 * size as u32;
    let result = rotate_left(value, bits - count % bits, size);
    flags.rotated(top_bit(result, size), (value & 1 != 0) != top_bit(value, size));
    result
}

/// Overflow is defined for a count of one. Beyond, Intel leaves it alone when the count is immediate, and else computes it as for
/// one.
fn rotate(m: &mut Machine<'_>, i: &Instruction, operation: Shift) -> Result<(), Trap> {
    let before = m.cpu.flags.of();
    shift(m, i, operation)?;
    let count = i.immediate8() as u32 & count_mask(operand_size(i, 0));
    if i.op1_kind() == OpKind::Immediate8 && count != 1 {
        let carry = m.cpu.flags.cf();
        m.cpu.flags.rotated(carry, before);
    }
    Ok(())
}

/// The value with the carry above its top bit, rotated left by `count` of its `bits + 1` bits.
///
/// 33 bits rotate for a 32-bit operand: the carry takes part. Fits into 128 bits for all sizes, so
/// no case needs care.
fn through_carry(value: u64, carry: bool, count: u32, bits: u32) -> (u64, bool) {
    let width = bits + 1;
    let whole = u128::from(carry) << bits | u128::from(value);
    let count = count % width;
    let turned = whole << count | whole >> (width - count);
    (turned as u64 & mask(bits as usize / 8), turned >> bits & 1 != 0)
}

/// All the way round changes nothing, flags included.
fn rcl(flags: &mut Flags, value: u64, count: u32, size: usize) -> u64 {
    let bits = 8 * size as u32;
    if count.is_multiple_of(bits + 1) {
        return value;
    }
    let (result, carry) = through_carry(value, flags.cf(), count, bits);
    flags.rotated(carry, sign_turns(value, size));
    result
}

fn rcr(flags: &mut Flags, value: u64, count: u32, size: usize) -> u64 {
    let bits = 8 * size as u32;
    if count.is_multiple_of(bits + 1) {
        return value;
    }
    let before = flags.cf();
    let (result, carry) = through_carry(value, before, bits + 1 - count % (bits + 1), bits);
    flags.rotated(carry, before != top_bit(value, size));
    result
}
