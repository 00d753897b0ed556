//! BMI1 without `tzcnt`, which shares its bytes with `bsf`: the only instructions with VEX prefixes.

use iced_x86::{Code, CpuidFeature, Instruction, Mnemonic};

use crate::flags::{CF, SF, STATUS, ZF};
use crate::machine::{Machine, Trap, mask, operand_size};
use crate::row::Row;

pub(crate) const TABLE: &[Row] = &[
    (Mnemonic::Andn, andn),
    (Mnemonic::Bextr, bextr),
    (Mnemonic::Blsi, |m, i| lowest(m, i, |value| value & value.wrapping_neg(), |value| value != 0)),
    (Mnemonic::Blsmsk, |m, i| lowest(m, i, |value| value ^ value.wrapping_sub(1), |value| value == 0)),
    (Mnemonic::Blsr, |m, i| lowest(m, i, |value| value & value.wrapping_sub(1), |value| value == 0)),
];

/// Whether a form is of this family: AMD's TBM has a `bextr`, too.
pub(crate) fn is_bmi1(code: Code) -> bool {
    code.cpuid_features().contains(&CpuidFeature::BMI1)
}

fn andn(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let value = m.read(i, 2)?;
    let kept = !m.read(i, 1)? & value;
    finish(m, i, kept, false)
}

/// The lowest byte of the last operand says where the field starts, the next one how long it is.
fn bextr(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let (value, control) = (m.read(i, 1)?, m.read(i, 2)?);
    let (start, length) = ((control & 0xff) as u32, (control >> 8 & 0xff) as u32);
    let field = value.checked_shr(start).unwrap_or(0);
    let kept = 1u64.checked_shl(length).map_or(field, |end| field & (end - 1));
    finish(m, i, kept, false)
}

/// What the lowest bit that is set leads to; the carry tells whether there is one, or that there is none.
fn lowest(m: &mut Machine<'_>, i: &Instruction, make: fn(u64) -> u64, carry: fn(u64) -> bool) -> Result<(), Trap> {
    let value = m.read(i, 1)?;
    finish(m, i, make(value), carry(value))
}

/// AF and PF are undefined, SF too after `bextr`.
fn finish(m: &mut Machine<'_>, i: &Instruction, result: u64, carry: bool) -> Result<(), Trap> {
    let size = operand_size(i, 0);
    let result = result & mask(size);
    m.write(i, 0, result)?;
    let flag = |on: bool, bit: u64| if on { bit } else { 0 };
    let sign = result >> (8 * size - 1) & 1 == 1;
    m.cpu.flags.replace(STATUS, flag(result == 0, ZF) | flag(sign, SF) | flag(carry, CF));
    Ok(())
}
