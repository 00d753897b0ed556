//! Multiplication.

use iced_x86::{Instruction, Mnemonic};

use crate::cpu::{RAX, RDX};
use crate::machine::{Machine, Trap, mask, operand_size, sign_extend};
use crate::row::Row;

pub(crate) const TABLE: &[Row] = &[(Mnemonic::Mul, mul), (Mnemonic::Imul, imul)];

/// Double-width product to `ax` or the `dx:ax` pair.
fn commit(m: &mut Machine<'_>, size: usize, product: u128) {
    let low = product as u64 & mask(size);
    let high = (product >> (8 * size)) as u64 & mask(size);
    let (rax, rdx) = (m.cpu.gpr[RAX], m.cpu.gpr[RDX]);
    (m.cpu.gpr[RAX], m.cpu.gpr[RDX]) = match size {
        1 => (rax & !mask(2) | high << 8 | low, rdx),
        2 => (rax & !mask(2) | low, rdx & !mask(2) | high),
        _ => (low, high),
    };
}

/// Carry and overflow say that the low half is not the whole product; Intel derives sign and parity from the low half and clears
/// zero.
fn set_flags(m: &mut Machine<'_>, size: usize, low: u64, overflow: bool) {
    m.cpu.flags.multiplied(sign_extend(low, size), overflow);
}

fn mul(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let size = operand_size(i, 0);
    let product = u128::from(m.cpu.gpr[RAX] & mask(size)) * u128::from(m.read(i, 0)?);
    commit(m, size, product);
    set_flags(m, size, product as u64, product > u128::from(mask(size)));
    Ok(())
}

/// With two or three operands the product is cut to the operand size; carry and overflow say that
/// something was lost.
fn imul(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let size = operand_size(i, 0);
    let signed = |value: u64| i128::from(sign_extend(value, size) as i64);
    let product = match i.op_count() {
        1 => signed(m.cpu.gpr[RAX]) * signed(m.read(i, 0)?),
        2 => signed(m.read(i, 0)?) * signed(m.read(i, 1)?),
        _ => signed(m.read(i, 1)?) * signed(m.read(i, 2)?),
    };
    if i.op_count() == 1 {
        commit(m, size, product as u128);
    } else {
        m.write(i, 0, product as u64)?;
    }
    set_flags(m, size, product as u64, product != signed(product as u64));
    Ok(())
}
