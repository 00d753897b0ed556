//! Push and pop.
//!
//! `rsp` moves after the access, everywhere: a fault leaves it where it was, as on the processor,
//! and the kernel's stack growth (`MAP_GROWSDOWN`, or a handler on an alternate stack) sees the
//! address below the old top.

use iced_x86::{Code, Instruction, Mnemonic, OpKind};

use crate::cpu::{RBP, RSP};
use crate::flags::TF;
use crate::machine::{Machine, Trap, mask};
use crate::row::Row;

pub(crate) const TABLE: &[Row] = &[
    (Mnemonic::Push, push),
    (Mnemonic::Pop, pop),
    (Mnemonic::Pushf, |m, i| push_flags(m, i)),
    (Mnemonic::Pushfq, |m, i| push_flags(m, i)),
    (Mnemonic::Popf, |m, i| pop_flags(m, i)),
    (Mnemonic::Popfq, |m, i| pop_flags(m, i)),
    (Mnemonic::Enter, enter),
    (Mnemonic::Leave, leave),
];

/// Stores below the stack pointer and moves it there.
fn push_value(m: &mut Machine<'_>, size: usize, value: u64) -> Result<(), Trap> {
    let top = m.cpu.gpr[RSP].wrapping_sub(size as u64);
    m.store(top, size, value)?;
    m.cpu.gpr[RSP] = top;
    Ok(())
}

/// Bytes that `i` moves the stack pointer by.
///
/// 2 or 8, never 4: in 64-bit mode pushes have no 32-bit form (SDM vol. 2, PUSH).
fn slot(i: &Instruction) -> usize {
    i.stack_pointer_increment().unsigned_abs() as usize
}

fn push(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let value = m.read(i, 0)?;
    push_value(m, slot(i), value)
}

/// The address of a memory operand is computed with the stack pointer already moved.
///
/// `pop [rsp+8]` therefore stores above the new top. The store may fault with the stack pointer
/// moved already, so it is moved back.
fn pop(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let (top, size) = (m.cpu.gpr[RSP], slot(i));
    let value = m.load(top, size)?;
    m.cpu.gpr[RSP] = top.wrapping_add(size as u64);
    if i.op0_kind() == OpKind::Register {
        m.set_register(i.op0_register(), value);
        return Ok(());
    }
    let stored = m.store(m.address(i), size, value);
    if stored.is_err() {
        m.cpu.gpr[RSP] = top;
    }
    stored
}

fn push_flags(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    push_value(m, slot(i), m.cpu.rflags())
}

/// Single-stepping would change what every later instruction does: refused.
///
/// A 16-bit `popf` replaces the low half only.
fn pop_flags(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let (top, size) = (m.cpu.gpr[RSP], slot(i));
    let low = m.load(top, size)?;
    let bits = low | m.cpu.rflags() & !mask(size);
    if bits & TF != 0 {
        return Err(Trap::Unsupported);
    }
    m.cpu.set_rflags(bits);
    m.cpu.gpr[RSP] = top.wrapping_add(size as u64);
    Ok(())
}

/// Makes a stack frame, with copies of the outer frames' pointers when nested.
///
/// SDM vol. 2, ENTER, level 0 to 31. Compilers use level 0 at most; nested levels come from
/// hand-written code and tests.
fn enter(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let size = if i.code() == Code::Enterw_imm16_imm8 { 2 } else { 8 };
    let (locals, level) = (u64::from(i.immediate16()), i.immediate8_2nd() & 31);
    let step = size as u64;
    let mut top = m.cpu.gpr[RSP].wrapping_sub(step);
    m.store(top, size, m.cpu.gpr[RBP])?;
    let frame = top;
    let mut outer = m.cpu.gpr[RBP];
    for _ in 1..level {
        outer = outer.wrapping_sub(step);
        let pointer = m.load(outer, size)?;
        top = top.wrapping_sub(step);
        m.store(top, size, pointer)?;
    }
    if level > 0 {
        top = top.wrapping_sub(step);
        m.store(top, size, frame)?;
    }
    let top = top.wrapping_sub(locals);
    // The processor checks that the new top can be written, without writing it.
    let there = m.load(top, size)?;
    m.store(top, size, there)?;
    m.cpu.gpr[RSP] = top;
    m.cpu.gpr[RBP] = if size == 2 { m.cpu.gpr[RBP] & !mask(2) | frame & mask(2) } else { frame };
    Ok(())
}

fn leave(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let size = if i.code() == Code::Leavew { 2 } else { 8 };
    let frame = m.cpu.gpr[RBP];
    let value = m.load(frame, size)?;
    m.cpu.gpr[RBP] = if size == 2 { frame & !mask(2) | value } else { value };
    m.cpu.gpr[RSP] = frame.wrapping_add(size as u64);
    Ok(())
}
