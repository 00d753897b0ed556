//! Shifts, single and double.
//!
//! Only OF for a count of one, and CF up to the operand size, are defined by the SDM; the rest is
//! what Intel processors do, found by comparing with them (`crates/x86/tests/all/host`). AMD
//! differs in places. A program that depends on them is unportable, but should see here what it
//! sees on the host.

use iced_x86::{Instruction, Mnemonic};

use crate::flags::Flags;
use crate::machine::{Machine, Trap, mask, operand_size, sign_extend};
use crate::row::Row;

pub(crate) const TABLE: &[Row] = &[
    (Mnemonic::Shl, |m, i| shift(m, i, shl)),
    (Mnemonic::Sal, |m, i| shift(m, i, shl)),
    (Mnemonic::Shr, |m, i| shift(m, i, shr)),
    (Mnemonic::Sar, |m, i| shift(m, i, sar)),
    (Mnemonic::Shld, |m, i| double(m, i, shld)),
    (Mnemonic::Shrd, |m, i| double(m, i, shrd)),
];

/// From a value, a count that is not zero and a size in bytes to a result, setting flags.
pub(super) type Shift = fn(&mut Flags, u64, u32, usize) -> u64;

/// Five bits of the count matter, six for 64-bit operands; a count of zero changes nothing, flags included.
///
/// The destination is written even when the count is zero: a 32-bit register loses its upper half,
/// and memory is written back.
pub(super) fn shift(m: &mut Machine<'_>, i: &Instruction, operation: Shift) -> Result<(), Trap> {
    let size = operand_size(i, 0);
    let count = m.read(i, 1)? as u32 & count_mask(size);
    let value = m.read(i, 0)?;
    let mut flags = m.cpu.flags;
    let result = if count == 0 { value } else { operation(&mut flags, value, count, size) };
    m.write(i, 0, result)?;
    m.cpu.flags = flags;
    Ok(())
}

pub(super) fn count_mask(size: usize) -> u32 {
    if size == 8 { 63 } else { 31 }
}

pub(super) fn top_bit(value: u64, size: usize) -> bool {
    value >> (8 * size - 1) & 1 != 0
}

/// Whether a left shift by one changes the sign: overflow, which Intel computes so for every count.
pub(super) fn sign_turns(value: u64, size: usize) -> bool {
    top_bit(value, size) != top_bit(value << 1, size)
}

pub(crate) fn shl(flags: &mut Flags, value: u64, count: u32, size: usize) -> u64 {
    // 128 bits, so that the last bit shifted out is always at hand.
    let wide = u128::from(value) << count;
    let carry = wide >> (8 * size) & 1 != 0;
    let result = wide as u64 & mask(size);
    flags.shifted(sign_extend(result, size), carry, sign_turns(value, size));
    result
}

pub(crate) fn shr(flags: &mut Flags, value: u64, count: u32, size: usize) -> u64 {
    let carry = value >> (count - 1) & 1 != 0;
    let result = value.checked_shr(count).unwrap_or(0);
    flags.shifted(sign_extend(result, size), carry, top_bit(value, size));
    result
}

pub(crate) fn sar(flags: &mut Flags, value: u64, count: u32, size: usize) -> u64 {
    let signed = sign_extend(value, size) as i64;
    let carry = signed >> (count - 1) & 1 != 0;
    let result = (signed >> count) as u64;
    flags.shifted(result, carry, false);
    result & mask(size)
}

/// A double shift: value, filler, count, size.
type Double = fn(&mut Flags, u64, u64, u32, usize) -> u64;

fn double(m: &mut Machine<'_>, i: &Instruction, operation: Double) -> Result<(), Trap> {
    let size = operand_size(i, 0);
    let count = m.read(i, 2)? as u32 & count_mask(size);
    let (value, filler) = (m.read(i, 0)?, m.read(i, 1)?);
    let mut flags = m.cpu.flags;
    let result = if count == 0 { value } else { operation(&mut flags, value, filler, count, size) };
    m.write(i, 0, result)?;
    m.cpu.flags = flags;
    Ok(())
}

/// A 16-bit operand shifted by more than 16 is undefined; Intel goes on with the value again behind the filler.
fn shld(flags: &mut Flags, value: u64, filler: u64, count: u32, size: usize) -> u64 {
    let bits = 8 * size as u32;
    let wide = u128::from(value) << bits | u128::from(filler);
    let (result, carry) = if count > bits {
        let again = (u128::from(filler) << bits | u128::from(value)) as u64;
        let count = count - bits;
        (again << count >> bits, again >> (2 * bits - count) & 1 != 0)
    } else {
        ((wide << count >> bits) as u64, value >> (bits - count) & 1 != 0)
    };
    let result = result & mask(size);
    flags.shifted(sign_extend(result, size), carry, sign_turns(value, size));
    result
}

fn shrd(flags: &mut Flags, value: u64, filler: u64, count: u32, size: usize) -> u64 {
    let bits = 8 * size as u32;
    // Value again above the filler, for 16-bit operands shifted by more than 16.
    let wide = if bits == 16 {
        u128::from(value) << 32 | u128::from(filler) << 16 | u128::from(value)
    } else {
        u128::from(filler) << bits | u128::from(value)
    };
    let carry = wide >> (count - 1) & 1 != 0;
    let result = (wide >> count) as u64 & mask(size);
    // As a shift by one would have it, like the others.
    let overflow = (filler & 1 != 0) != top_bit(value, size);
    flags.shifted(sign_extend(result, size), carry, overflow);
    result
}
