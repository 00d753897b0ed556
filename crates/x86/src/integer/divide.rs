//! Division: a double-width dividend by an operand, `#DE` when the quotient does not fit.
//!
//! Both remainders and quotients truncate towards zero, as Rust's operators do. All flags are
//! undefined after a division; they are left alone, as Intel processors do.

use iced_x86::{Instruction, Mnemonic};

use crate::cpu::{RAX, RDX};
use crate::machine::{Machine, Trap, mask, operand_size, sign_extend};
use crate::row::Row;

pub(crate) const TABLE: &[Row] = &[(Mnemonic::Div, div), (Mnemonic::Idiv, idiv)];

/// The dividend: `ax`, `dx:ax`, `edx:eax` or `rdx:rax`.
fn dividend(m: &Machine<'_>, size: usize) -> u128 {
    let (low, high) = (m.cpu.gpr[RAX], m.cpu.gpr[RDX]);
    match size {
        1 => u128::from(low & mask(2)),
        _ => u128::from(high & mask(size)) << (8 * size) | u128::from(low & mask(size)),
    }
}

/// Quotient and remainder to their registers.
///
/// For bytes the remainder goes to `ah`; `dx` is not touched.
fn commit(m: &mut Machine<'_>, size: usize, quotient: u64, remainder: u64) {
    let (quotient, remainder) = (quotient & mask(size), remainder & mask(size));
    let merge = |old: u64, new: u64| match size {
        2 => old & !mask(2) | new,
        _ => new,
    };
    if size == 1 {
        m.cpu.gpr[RAX] = m.cpu.gpr[RAX] & !mask(2) | remainder << 8 | quotient;
        return;
    }
    m.cpu.gpr[RAX] = merge(m.cpu.gpr[RAX], quotient);
    m.cpu.gpr[RDX] = merge(m.cpu.gpr[RDX], remainder);
}

fn div(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let size = operand_size(i, 0);
    let divisor = u128::from(m.read(i, 0)?);
    let dividend = dividend(m, size);
    let quotient = dividend.checked_div(divisor).ok_or(Trap::DivideError)?;
    if quotient > u128::from(mask(size)) {
        return Err(Trap::DivideError);
    }
    commit(m, size, quotient as u64, (dividend % divisor) as u64);
    Ok(())
}

/// `checked_div` covers a zero divisor and the most negative dividend by -1, which is a `#DE` on
/// the processor and would be a panic here.
fn idiv(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let size = operand_size(i, 0);
    let divisor = i128::from(sign_extend(m.read(i, 0)?, size) as i64);
    let unused = 128 - 16 * size;
    let dividend = (dividend(m, size) << unused) as i128 >> unused;
    let quotient = dividend.checked_div(divisor).ok_or(Trap::DivideError)?;
    if quotient != i128::from(sign_extend(quotient as u64, size) as i64) {
        return Err(Trap::DivideError);
    }
    commit(m, size, quotient as u64, (dividend % divisor) as u64);
    Ok(())
}
