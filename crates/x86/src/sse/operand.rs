//! Vector operands: XMM and MMX registers, general registers, memory, immediates.

use iced_x86::{Instruction, OpKind, Register};

use crate::machine::{Machine, Trap, xmm_index};

/// Bytes of the vectors that an instruction works on: 8 if its destination is an MMX register.
pub(super) fn width(i: &Instruction) -> usize {
    if i.op_register(0).is_mm() { 8 } else { 16 }
}

/// Reads operand `op`, zero-extended. Memory of 16 bytes must be aligned, as for all but the "unaligned" instructions.
pub(super) fn read(m: &mut Machine<'_>, i: &Instruction, op: u32) -> Result<u128, Trap> {
    mmx_ready(m, i)?;
    if i.op_kind(op) == OpKind::Memory && i.memory_size().size() == 16 {
        return m.load_aligned(m.address(i));
    }
    read_anywhere(m, i, op)
}

/// Reads operand `op`, zero-extended, from any address.
pub(super) fn read_anywhere(m: &mut Machine<'_>, i: &Instruction, op: u32) -> Result<u128, Trap> {
    match i.op_kind(op) {
        OpKind::Register => read_register(m, i.op_register(op)),
        OpKind::Memory => match i.memory_size().size() {
            16 => m.load_u128(m.address(i)),
            size => m.load(m.address(i), size).map(u128::from),
        },
        _ => Ok(u128::from(i.immediate(op))),
    }
}

fn read_register(m: &mut Machine<'_>, register: Register) -> Result<u128, Trap> {
    if register.is_xmm() {
        return Ok(m.cpu.xmm[xmm_index(register)]);
    }
    if register.is_mm() {
        m.cpu.x87.reset_top();
        return Ok(u128::from(m.cpu.x87.mm(mm_index(register))));
    }
    Ok(u128::from(m.register(register)))
}

/// Completes the instruction by writing operand `op`; memory of 16 bytes must be aligned.
///
/// Every instruction writes its result here, last: what stops before has changed no register.
pub(super) fn write(m: &mut Machine<'_>, i: &Instruction, op: u32, value: u128) -> Result<(), Trap> {
    if i.op_kind(op) == OpKind::Memory && i.memory_size().size() == 16 {
        return m.store_aligned(m.address(i), value);
    }
    write_anywhere(m, i, op, value)
}

/// Completes the instruction by writing operand `op` at any address.
pub(super) fn write_anywhere(m: &mut Machine<'_>, i: &Instruction, op: u32, value: u128) -> Result<(), Trap> {
    match i.op_kind(op) {
        OpKind::Memory => match i.memory_size().size() {
            16 => m.store_u128(m.address(i), value)?,
            size => m.store(m.address(i), size, value as u64)?,
        },
        _ => write_register(m, i.op_register(op), value),
    }
    settle(m, i);
    Ok(())
}

fn write_register(m: &mut Machine<'_>, register: Register, value: u128) {
    if register.is_xmm() {
        m.cpu.xmm[xmm_index(register)] = value;
    } else if register.is_mm() {
        m.cpu.x87.set_mm(mm_index(register), value as u64);
    } else {
        m.set_register(register, value as u64);
    }
}

fn mm_index(register: Register) -> usize {
    register as usize - Register::MM0 as usize
}

/// Does the instruction use an MMX register?
fn is_mmx(i: &Instruction) -> bool {
    (0..i.op_count()).any(|op| i.op_register(op).is_mm())
}

/// An MMX instruction first reports a waiting x87 exception (SDM volume 1, 9.5.2).
pub(super) fn mmx_ready(m: &Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    if m.cpu.x87.pending() && is_mmx(i) { Err(Trap::X87Exception) } else { Ok(()) }
}

/// An instruction with an MMX register leaves the x87 stack full; reading one has moved its top before.
pub(super) fn settle(m: &mut Machine<'_>, i: &Instruction) {
    if is_mmx(i) {
        m.cpu.x87.enter_mmx();
    }
}

/// `destination = function(destination, source)`.
pub(super) fn combine(m: &mut Machine<'_>, i: &Instruction, function: impl Fn(u128, u128) -> u128) -> Result<(), Trap> {
    let b = read(m, i, 1)?;
    let a = read(m, i, 0)?;
    write(m, i, 0, function(a, b))
}

/// The last operand, a control byte.
pub(super) fn control(i: &Instruction) -> u8 {
    i.immediate8()
}

/// `new` in the low `bits`, `old` above.
pub(super) fn merge(old: u128, new: u128, bits: u32) -> u128 {
    let mask = low(bits);
    old & !mask | new & mask
}

/// So many ones.
pub(super) fn low(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}
