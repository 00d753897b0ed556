//! Moves that change nothing but places.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::lane::{Lane, build};
use super::operand::{combine, low, merge, read, read_anywhere, write, write_anywhere};
use crate::machine::{Machine, Trap};
use crate::row::Row;

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Movaps, aligned),
    (Mnemonic::Movapd, aligned),
    (Mnemonic::Movdqa, aligned),
    (Mnemonic::Movntps, aligned),
    (Mnemonic::Movntpd, aligned),
    (Mnemonic::Movntdq, aligned),
    (Mnemonic::Movntdqa, aligned),
    (Mnemonic::Movntq, aligned),
    (Mnemonic::Movups, unaligned),
    (Mnemonic::Movupd, unaligned),
    (Mnemonic::Movdqu, unaligned),
    (Mnemonic::Lddqu, unaligned),
    (Mnemonic::Movd, |m, i| low_part(m, i, 32)),
    (Mnemonic::Movq, |m, i| low_part(m, i, 64)),
    (Mnemonic::Movq2dq, |m, i| low_part(m, i, 64)),
    (Mnemonic::Movdq2q, |m, i| low_part(m, i, 64)),
    (Mnemonic::Movss, |m, i| scalar(m, i, 32)),
    (Mnemonic::Movsd, |m, i| scalar(m, i, 64)),
    (Mnemonic::Movlps, low_half),
    (Mnemonic::Movlpd, low_half),
    (Mnemonic::Movhps, high_half),
    (Mnemonic::Movhpd, high_half),
    (Mnemonic::Movhlps, |m, i| combine(m, i, |a, b| merge(a, b >> 64, 64))),
    (Mnemonic::Movlhps, |m, i| combine(m, i, |a, b| merge(b << 64, a, 64))),
    (Mnemonic::Movddup, |m, i| duplicate(m, i, |b| build(|_| b as u64))),
    (Mnemonic::Movsldup, |m, i| duplicate(m, i, |b| build(|k| u32::get(b, k & !1)))),
    (Mnemonic::Movshdup, |m, i| duplicate(m, i, |b| build(|k| u32::get(b, k | 1)))),
    (Mnemonic::Emms, empty),
];

fn aligned(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let value = read(m, i, 1)?;
    write(m, i, 0, value)
}

fn unaligned(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let value = read_anywhere(m, i, 1)?;
    write_anywhere(m, i, 0, value)
}

/// The low bits, zero-extended.
fn low_part(m: &mut Machine<'_>, i: &Instruction, bits: u32) -> Result<(), Trap> {
    let value = read(m, i, 1)? & low(bits);
    write(m, i, 0, value)
}

/// Between registers the upper lanes stay; a load clears them.
fn scalar(m: &mut Machine<'_>, i: &Instruction, bits: u32) -> Result<(), Trap> {
    let new = read(m, i, 1)?;
    let both = i.op0_kind() == OpKind::Register && i.op1_kind() == OpKind::Register;
    let value = if both { merge(read(m, i, 0)?, new, bits) } else { new & low(bits) };
    write(m, i, 0, value)
}

fn low_half(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let new = read(m, i, 1)?;
    if i.op0_kind() == OpKind::Memory {
        return write(m, i, 0, new & low(64));
    }
    let old = read(m, i, 0)?;
    write(m, i, 0, merge(old, new, 64))
}

fn high_half(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let new = read(m, i, 1)?;
    if i.op0_kind() == OpKind::Memory {
        return write(m, i, 0, new >> 64);
    }
    let old = read(m, i, 0)?;
    write(m, i, 0, merge(new << 64, old, 64))
}

fn duplicate(m: &mut Machine<'_>, i: &Instruction, f: impl Fn(u128) -> u128) -> Result<(), Trap> {
    let source = read(m, i, 1)?;
    write(m, i, 0, f(source))
}

/// `emms`: the x87 stack is empty again.
fn empty(m: &mut Machine<'_>, _: &Instruction) -> Result<(), Trap> {
    if m.cpu.x87.pending() {
        return Err(Trap::X87Exception);
    }
    m.cpu.x87.enter_mmx();
    m.cpu.x87.used = 0;
    Ok(())
}
