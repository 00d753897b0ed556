//! Exchanges. One host thread runs one world, so that a `lock` prefix changes nothing here.
//!
//! Atomicity is a matter of schedules instead: with `lock`, or `xchg` with memory, the checker
//! stops before the instruction ([`crate::Stops`]) and takes load and store as one step. Without
//! `lock`, a read-modify-write of a word that others access is two steps
//! (`checker/src/system/watchpoint.rs`), since on a processor another one may come in between (SDM
//! vol. 3, "Locked Atomic Operations").

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::arithmetic::{add, sub};
use crate::cpu::{RAX, RBX, RCX, RDX};
use crate::flags::ZF;
use crate::machine::{Machine, Trap, mask, operand_size};
use crate::row::Row;

pub(crate) const TABLE: &[Row] = &[
    (Mnemonic::Xchg, xchg),
    (Mnemonic::Xadd, xadd),
    (Mnemonic::Cmpxchg, cmpxchg),
    (Mnemonic::Cmpxchg8b, cmpxchg8b),
    (Mnemonic::Cmpxchg16b, cmpxchg16b),
];

/// `xchg` with memory is locked with or without the prefix.
fn xchg(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let (a, b) = (m.read(i, 0)?, m.read(i, 1)?);
    // At most one operand is in memory: write that one first, for it may fault.
    if i.op_kind(0) == OpKind::Memory {
        m.write(i, 0, b)?;
        m.write(i, 1, a)
    } else {
        m.write(i, 1, a)?;
        m.write(i, 0, b)
    }
}

fn xadd(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let (a, b) = (m.read(i, 0)?, m.read(i, 1)?);
    let mut flags = m.cpu.flags;
    let sum = add(&mut flags, a, b, operand_size(i, 0));
    if i.op_kind(0) == OpKind::Memory {
        m.write(i, 0, sum)?;
        m.write(i, 1, a)?;
    } else {
        // With both operands the same register, the sum stays.
        m.write(i, 1, a)?;
        m.write(i, 0, sum)?;
    }
    m.cpu.flags = flags;
    Ok(())
}

fn accumulator(size: usize) -> Register {
    match size {
        1 => Register::AL,
        2 => Register::AX,
        4 => Register::EAX,
        _ => Register::RAX,
    }
}

/// The write in the failing case makes the footprint of every `cmpxchg` a write. That is coarser
/// than the data flow, and what the processor does: SDM vol. 2, CMPXCHG, "the destination operand
/// receives a write cycle without regard to the result of the comparison".
fn cmpxchg(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let size = operand_size(i, 0);
    let register = accumulator(size);
    let (expected, found, new) = (m.register(register), m.read(i, 0)?, m.read(i, 1)?);
    let mut flags = m.cpu.flags;
    sub(&mut flags, expected, found, size);
    if expected == found {
        m.write(i, 0, new)?;
    } else {
        if i.op0_kind() == OpKind::Memory {
            // Written in either case: a read-only page faults even when the comparison fails.
            m.write(i, 0, found)?;
        }
        m.set_register(register, found);
    }
    m.cpu.flags = flags;
    Ok(())
}

fn cmpxchg8b(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let low_half = |high: u64, low: u64| high << 32 | low & mask(4);
    let addr = m.address(i);
    let found = m.load(addr, 8)?;
    let equal = found == low_half(m.cpu.gpr[RDX], m.cpu.gpr[RAX]);
    let new = low_half(m.cpu.gpr[RCX], m.cpu.gpr[RBX]);
    m.store(addr, 8, if equal { new } else { found })?;
    if !equal {
        m.cpu.gpr[RAX] = found & mask(4);
        m.cpu.gpr[RDX] = found >> 32;
    }
    m.cpu.flags.replace(ZF, if equal { ZF } else { 0 });
    Ok(())
}

/// Misaligned operands are `#GP`; the 8-byte form has no such rule.
fn cmpxchg16b(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let whole = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
    let addr = m.address(i);
    let found = m.load_aligned(addr)?;
    let equal = found == whole(m.cpu.gpr[RDX], m.cpu.gpr[RAX]);
    let new = whole(m.cpu.gpr[RCX], m.cpu.gpr[RBX]);
    m.store_aligned(addr, if equal { new } else { found })?;
    if !equal {
        m.cpu.gpr[RAX] = found as u64;
        m.cpu.gpr[RDX] = (found >> 64) as u64;
    }
    m.cpu.flags.replace(ZF, if equal { ZF } else { 0 });
    Ok(())
}
