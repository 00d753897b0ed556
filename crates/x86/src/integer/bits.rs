//! Single bits, bit scans and counts, `crc32`.

use iced_x86::{Instruction, Mnemonic, OpKind};

use crate::flags::{AF, CF, OF, PF, SF, STATUS, ZF};
use crate::machine::{Machine, Trap, operand_size, sign_extend};
use crate::row::Row;

pub(crate) const TABLE: &[Row] = &[
    (Mnemonic::Bt, |m, i| bit_test(m, i, None)),
    (Mnemonic::Bts, |m, i| bit_test(m, i, Some(|value, bit| value | bit))),
    (Mnemonic::Btr, |m, i| bit_test(m, i, Some(|value, bit| value & !bit))),
    (Mnemonic::Btc, |m, i| bit_test(m, i, Some(|value, bit| value ^ bit))),
    (Mnemonic::Bsf, |m, i| scan(m, i, |value| u64::from(value.trailing_zeros()))),
    (Mnemonic::Bsr, |m, i| scan(m, i, |value| u64::from(63 - value.leading_zeros()))),
    (Mnemonic::Tzcnt, tzcnt),
    (Mnemonic::Lzcnt, lzcnt),
    (Mnemonic::Popcnt, popcnt),
    (Mnemonic::Crc32, crc32),
];

/// Copies a bit to the carry and changes it by `change`. In memory the bit may be far from the operand's address.
///
/// With a register as bit offset, the operand is a bit string: the word that is accessed can lie up
/// to 2^60 bytes before or behind the address. The processor accesses the unit of the operand size
/// that holds the bit; footprints see that address, not the operand's.
fn bit_test(m: &mut Machine<'_>, i: &Instruction, change: Option<fn(u64, u64) -> u64>) -> Result<(), Trap> {
    let size = operand_size(i, 0);
    let bits = 8 * size as u64;
    let offset = m.read(i, 1)?;
    let bit = 1 << (offset % bits);
    if i.op_kind(0) == OpKind::Register {
        let value = m.register(i.op_register(0));
        if let Some(change) = change {
            m.set_register(i.op_register(0), change(value, bit));
        }
        m.cpu.flags.set_cf(value & bit != 0);
        return Ok(());
    }
    let addr = m.address_plus(i, string_offset(i, offset, size));
    let value = m.load(addr, size)?;
    if let Some(change) = change {
        m.store(addr, size, change(value, bit))?;
    }
    m.cpu.flags.set_cf(value & bit != 0);
    Ok(())
}

/// Bytes from the operand's address to the unit that holds the bit: a register offset is signed and unbounded.
fn string_offset(i: &Instruction, offset: u64, size: usize) -> u64 {
    if i.op_kind(1) != OpKind::Register {
        return 0;
    }
    let signed = sign_extend(offset, size) as i64;
    signed.div_euclid(8 * size as i64).wrapping_mul(size as i64) as u64
}

/// `bsf` and `bsr`: a zero source leaves the destination as it is.
///
/// SDM vol. 2 leaves the destination undefined; processors of both vendors keep it. Flags besides
/// ZF are undefined too, and as the tested Intel processors set them.
fn scan(m: &mut Machine<'_>, i: &Instruction, index: fn(u64) -> u64) -> Result<(), Trap> {
    let value = m.read(i, 1)?;
    if value == 0 {
        m.cpu.flags.replace(STATUS, ZF | PF);
        return Ok(());
    }
    let result = index(value);
    m.write(i, 0, result)?;
    let parity = if result.count_ones().is_multiple_of(2) { PF } else { 0 };
    m.cpu.flags.replace(STATUS, parity);
    Ok(())
}

/// The bytes are those of `rep bsf`, which compilers write for processors without BMI1, too, where
/// both give the same.
fn tzcnt(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let bits = 8 * operand_size(i, 0) as u64;
    let value = m.read(i, 1)?;
    count(m, i, u64::from(value.trailing_zeros()).min(bits), value == 0)
}

fn lzcnt(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let bits = 8 * operand_size(i, 0) as u64;
    let value = m.read(i, 1)?;
    count(m, i, u64::from(value.leading_zeros()) - (64 - bits), value == 0)
}

fn count(m: &mut Machine<'_>, i: &Instruction, result: u64, all_zero: bool) -> Result<(), Trap> {
    m.write(i, 0, result)?;
    let zero = if result == 0 { ZF } else { 0 };
    m.cpu.flags.replace(CF | ZF | OF | SF | AF | PF, zero | u64::from(all_zero));
    Ok(())
}

fn popcnt(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let value = m.read(i, 1)?;
    m.write(i, 0, u64::from(value.count_ones()))?;
    m.cpu.flags.replace(STATUS, if value == 0 { ZF } else { 0 });
    Ok(())
}

/// The Castagnoli polynomial, reflected.
const CRC32C: u32 = 0x82f6_3b78;

/// Adds `size` bytes of `value` to a CRC-32C.
///
/// Bit by bit, for the instruction is rare.
pub(crate) fn crc32c(mut crc: u32, value: u64, size: usize) -> u32 {
    for byte in &value.to_le_bytes()[..size] {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 != 0 { CRC32C } else { 0 };
        }
    }
    crc
}

fn crc32(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let value = m.read(i, 1)?;
    let crc = m.read(i, 0)? as u32;
    let result = crc32c(crc, value, operand_size(i, 1));
    m.write(i, 0, u64::from(result))
}
