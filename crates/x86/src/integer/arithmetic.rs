//! Addition, subtraction, comparison and logic.
//!
//! Flags are computed in a copy and stored behind the write to the destination: a store that faults
//! or stops at a watchpoint must leave them as they were, because the instruction is executed
//! again.

use iced_x86::{Instruction, Mnemonic};

use crate::flags::Flags;
use crate::machine::{Machine, Trap, mask, operand_size, sign_extend};
use crate::row::Row;

pub(crate) const TABLE: &[Row] = &[
    (Mnemonic::Add, |m, i| update(m, i, add)),
    (Mnemonic::Adc, |m, i| update(m, i, adc)),
    (Mnemonic::Sub, |m, i| update(m, i, sub)),
    (Mnemonic::Sbb, |m, i| update(m, i, sbb)),
    (Mnemonic::And, |m, i| update(m, i, and)),
    (Mnemonic::Or, |m, i| update(m, i, or)),
    (Mnemonic::Xor, |m, i| update(m, i, xor)),
    (Mnemonic::Cmp, |m, i| compare(m, i, sub)),
    (Mnemonic::Test, |m, i| compare(m, i, and)),
    (Mnemonic::Inc, inc),
    (Mnemonic::Dec, dec),
    (Mnemonic::Neg, neg),
    (Mnemonic::Not, not),
];

/// From two operands of `size` bytes to a result, setting flags.
///
/// Operands come zero-extended; bits above `size` of the result are arbitrary, and cut off by
/// whoever writes it.
type Operation = fn(&mut Flags, u64, u64, usize) -> u64;

/// `op0 = operation(op0, op1)`.
///
/// The destination is read before it is written even where the value is not needed (`xor rax,
/// rax`): memory sees a load and a store, as footprints of read-modify-write instructions need.
fn update(m: &mut Machine<'_>, i: &Instruction, operation: Operation) -> Result<(), Trap> {
    let size = operand_size(i, 0);
    let (a, b) = (m.read(i, 0)?, m.read(i, 1)? & mask(size));
    let mut flags = m.cpu.flags;
    let result = operation(&mut flags, a, b, size);
    m.write(i, 0, result)?;
    m.cpu.flags = flags;
    Ok(())
}

/// `operation(op0, op1)` for its flags alone.
fn compare(m: &mut Machine<'_>, i: &Instruction, operation: Operation) -> Result<(), Trap> {
    let size = operand_size(i, 0);
    let (a, b) = (m.read(i, 0)?, m.read(i, 1)? & mask(size));
    operation(&mut m.cpu.flags, a, b, size);
    Ok(())
}

pub(super) fn add(flags: &mut Flags, a: u64, b: u64, size: usize) -> u64 {
    let result = a.wrapping_add(b);
    flags.add_sized(a, b, result, size);
    result
}

/// The incoming carry needs no term of its own in the flags: see [`Flags::add`].
fn adc(flags: &mut Flags, a: u64, b: u64, size: usize) -> u64 {
    let result = a.wrapping_add(b).wrapping_add(u64::from(flags.cf()));
    flags.add_sized(a, b, result, size);
    result
}

pub(super) fn sub(flags: &mut Flags, a: u64, b: u64, size: usize) -> u64 {
    let result = a.wrapping_sub(b);
    flags.sub_sized(a, b, result, size);
    result
}

fn sbb(flags: &mut Flags, a: u64, b: u64, size: usize) -> u64 {
    let result = a.wrapping_sub(b).wrapping_sub(u64::from(flags.cf()));
    flags.sub_sized(a, b, result, size);
    result
}

fn and(flags: &mut Flags, a: u64, b: u64, size: usize) -> u64 {
    flags.logic(sign_extend(a & b, size));
    a & b
}

fn or(flags: &mut Flags, a: u64, b: u64, size: usize) -> u64 {
    flags.logic(sign_extend(a | b, size));
    a | b
}

fn xor(flags: &mut Flags, a: u64, b: u64, size: usize) -> u64 {
    flags.logic(sign_extend(a ^ b, size));
    a ^ b
}

/// `inc` and `dec` leave the carry alone.
fn by_one(m: &mut Machine<'_>, i: &Instruction, operation: Operation) -> Result<(), Trap> {
    let (size, a) = (operand_size(i, 0), m.read(i, 0)?);
    let mut flags = m.cpu.flags;
    let carry = flags.cf();
    let result = operation(&mut flags, a, 1, size);
    flags.set_cf(carry);
    m.write(i, 0, result)?;
    m.cpu.flags = flags;
    Ok(())
}

fn inc(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    by_one(m, i, add)
}

fn dec(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    by_one(m, i, sub)
}

fn neg(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let (size, a) = (operand_size(i, 0), m.read(i, 0)?);
    let mut flags = m.cpu.flags;
    let result = sub(&mut flags, 0, a, size);
    m.write(i, 0, result)?;
    m.cpu.flags = flags;
    Ok(())
}

fn not(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let a = m.read(i, 0)?;
    m.write(i, 0, !a)
}
