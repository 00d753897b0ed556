//! Moves, extensions and byte swaps.
//!
//! Moves to and from segment registers: reading gives the constant selectors of
//! [`Machine::register`]; writing is refused before it gets here (`generic.rs`).

use iced_x86::{Instruction, Mnemonic, OpKind};

use crate::cpu::{RAX, RDX};
use crate::flags::{CF, OF};
use crate::machine::{Machine, Trap, mask, operand_size, sign_extend};
use crate::row::Row;

/// Everything with a condition is named once, here: move, set; `control` has the jumps.
pub(crate) const TABLE: &[Row] = &[
    (Mnemonic::Mov, mov),
    (Mnemonic::Movzx, mov),
    (Mnemonic::Movnti, mov),
    (Mnemonic::Movsx, movsx),
    (Mnemonic::Movsxd, movsx),
    (Mnemonic::Movbe, movbe),
    (Mnemonic::Bswap, bswap),
    (Mnemonic::Lea, lea),
    (Mnemonic::Xlatb, xlat),
    (Mnemonic::Cbw, |m, _| widen(m, 1)),
    (Mnemonic::Cwde, |m, _| widen(m, 2)),
    (Mnemonic::Cdqe, |m, _| widen(m, 4)),
    (Mnemonic::Cwd, |m, _| spread(m, 2)),
    (Mnemonic::Cdq, |m, _| spread(m, 4)),
    (Mnemonic::Cqo, |m, _| spread(m, 8)),
    (Mnemonic::Cmovo, cmov),
    (Mnemonic::Cmovno, cmov),
    (Mnemonic::Cmovb, cmov),
    (Mnemonic::Cmovae, cmov),
    (Mnemonic::Cmove, cmov),
    (Mnemonic::Cmovne, cmov),
    (Mnemonic::Cmovbe, cmov),
    (Mnemonic::Cmova, cmov),
    (Mnemonic::Cmovs, cmov),
    (Mnemonic::Cmovns, cmov),
    (Mnemonic::Cmovp, cmov),
    (Mnemonic::Cmovnp, cmov),
    (Mnemonic::Cmovl, cmov),
    (Mnemonic::Cmovge, cmov),
    (Mnemonic::Cmovle, cmov),
    (Mnemonic::Cmovg, cmov),
    (Mnemonic::Seto, setcc),
    (Mnemonic::Setno, setcc),
    (Mnemonic::Setb, setcc),
    (Mnemonic::Setae, setcc),
    (Mnemonic::Sete, setcc),
    (Mnemonic::Setne, setcc),
    (Mnemonic::Setbe, setcc),
    (Mnemonic::Seta, setcc),
    (Mnemonic::Sets, setcc),
    (Mnemonic::Setns, setcc),
    (Mnemonic::Setp, setcc),
    (Mnemonic::Setnp, setcc),
    (Mnemonic::Setl, setcc),
    (Mnemonic::Setge, setcc),
    (Mnemonic::Setle, setcc),
    (Mnemonic::Setg, setcc),
    (Mnemonic::Lahf, lahf),
    (Mnemonic::Sahf, sahf),
    (Mnemonic::Clc, |m, _| set_carry(m, false)),
    (Mnemonic::Stc, |m, _| set_carry(m, true)),
    (Mnemonic::Cmc, cmc),
    (Mnemonic::Cld, |m, _| set_direction(m, false)),
    (Mnemonic::Std, |m, _| set_direction(m, true)),
];

fn set_carry(m: &mut Machine<'_>, carry: bool) -> Result<(), Trap> {
    m.cpu.flags.set_cf(carry);
    Ok(())
}

fn set_direction(m: &mut Machine<'_>, down: bool) -> Result<(), Trap> {
    m.cpu.flags.set_df(down);
    Ok(())
}

fn mov(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let value = m.read(i, 1)?;
    m.write(i, 0, value)
}

fn movsx(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let value = m.read(i, 1)?;
    m.write(i, 0, sign_extend(value, operand_size(i, 1)))
}

fn swap(value: u64, size: usize) -> u64 {
    value.swap_bytes() >> (64 - 8 * size)
}

/// A byte swap between register and memory; as a mnemonic of its own it has no register-to-register
/// form.
fn movbe(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let value = m.read(i, 1)?;
    m.write(i, 0, swap(value, operand_size(i, 1)))
}

/// With 16 bits the result is undefined; Intel gives zero.
fn bswap(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let (value, size) = (m.read(i, 0)?, operand_size(i, 0));
    m.write(i, 0, if size == 2 { 0 } else { swap(value, size) })
}

fn lea(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let addr = m.offset(i);
    m.write(i, 0, addr)
}

/// iced's memory operand is already `[rbx + al]`, segment included.
fn xlat(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let value = m.load(m.address(i), 1)?;
    m.cpu.gpr[RAX] = m.cpu.gpr[RAX] & !mask(1) | value;
    Ok(())
}

/// `cbw`, `cwde`, `cdqe`: the accumulator's low `size` bytes to twice as many.
fn widen(m: &mut Machine<'_>, size: usize) -> Result<(), Trap> {
    let value = sign_extend(m.cpu.gpr[RAX], size);
    m.cpu.gpr[RAX] = match size {
        1 => m.cpu.gpr[RAX] & !mask(2) | value & mask(2),
        2 => value & mask(4),
        _ => value,
    };
    Ok(())
}

/// `cwd`, `cdq`, `cqo`: the accumulator's sign all over `dx`.
fn spread(m: &mut Machine<'_>, size: usize) -> Result<(), Trap> {
    let sign = (sign_extend(m.cpu.gpr[RAX], size) as i64 >> 63) as u64;
    m.cpu.gpr[RDX] = match size {
        2 => m.cpu.gpr[RDX] & !mask(2) | sign & mask(2),
        _ => sign & mask(size),
    };
    Ok(())
}

/// The condition of `i` in the numbering of the opcodes.
pub(crate) fn condition(i: &Instruction) -> u8 {
    // iced counts from `o` = 1 in the same order.
    i.condition_code() as u8 - 1
}

/// The source is read even when it is not moved; a 32-bit destination is always written.
///
/// So a `cmov` from an unmapped address faults even if the condition is false (SDM vol. 2, CMOVcc),
/// and the load is in the footprint either way.
fn cmov(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let value = m.read(i, 1)?;
    let old = m.read(i, 0)?;
    let holds = m.cpu.flags.condition(condition(i));
    m.write(i, 0, if holds { value } else { old })
}

fn setcc(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let holds = m.cpu.flags.condition(condition(i));
    debug_assert!(matches!(i.op0_kind(), OpKind::Register | OpKind::Memory));
    m.write(i, 0, u64::from(holds))
}

fn lahf(m: &mut Machine<'_>, _: &Instruction) -> Result<(), Trap> {
    let low = m.cpu.rflags() & 0xff;
    m.cpu.gpr[RAX] = m.cpu.gpr[RAX] & !0xff00 | low << 8;
    Ok(())
}

/// SF, ZF, AF, PF and CF only: overflow is not in the low byte.
fn sahf(m: &mut Machine<'_>, _: &Instruction) -> Result<(), Trap> {
    let overflow = m.cpu.flags.status() & OF;
    m.cpu.flags.set_status(m.cpu.gpr[RAX] >> 8 & 0xff & !OF | overflow);
    Ok(())
}

fn cmc(m: &mut Machine<'_>, _: &Instruction) -> Result<(), Trap> {
    let flipped = m.cpu.flags.status() & CF == 0;
    m.cpu.flags.set_cf(flipped);
    Ok(())
}
