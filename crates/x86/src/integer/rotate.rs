//! Rotations, without and through the carry.

use iced_x86::Mnemonic;

use super::shift::{shift, top_bit};
use crate::flags::Flags;
use crate::generic::Row;
use crate::machine::mask;

pub(crate) const TABLE: &[Row] = &[
    (Mnemonic::Rol, |m, i| shift(m, i, rol)),
    (Mnemonic::Ror, |m, i| shift(m, i, ror)),
    (Mnemonic::Rcl, |m, i| shift(m, i, rcl)),
    (Mnemonic::Rcr, |m, i| shift(m, i, rcr)),
];

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
    let carry = result & 1 != 0;
    flags.rotated(carry, carry != top_bit(result, size));
    result
}

pub(crate) fn ror(flags: &mut Flags, value: u64, count: u32, size: usize) -> u64 {
    let bits = 8 * size as u32;
    let result = rotate_left(value, bits - count % bits, size);
    let carry = top_bit(result, size);
    flags.rotated(carry, carry != (result >> (bits - 2) & 1 != 0));
    result
}

/// The value with the carry above its top bit, rotated left by `count` of its `bits + 1` bits.
fn through_carry(value: u64, carry: bool, count: u32, bits: u32) -> (u64, bool) {
    let width = bits + 1;
    let whole = u128::from(carry) << bits | u128::from(value);
    let count = count % width;
    let turned = whole << count | whole >> (width - count);
    (turned as u64 & mask(bits as usize / 8), turned >> bits & 1 != 0)
}

fn rcl(flags: &mut Flags, value: u64, count: u32, size: usize) -> u64 {
    let bits = 8 * size as u32;
    let (result, carry) = through_carry(value, flags.cf(), count, bits);
    flags.rotated(carry, carry != top_bit(result, size));
    result
}

fn rcr(flags: &mut Flags, value: u64, count: u32, size: usize) -> u64 {
    let bits = 8 * size as u32;
    let (result, carry) = through_carry(value, flags.cf(), bits + 1 - count % (bits + 1), bits);
    flags.rotated(carry, top_bit(result, size) != (result >> (bits - 2) & 1 != 0));
    result
}
