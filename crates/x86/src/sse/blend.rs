//! Blending by a control byte or by the sign bits of XMM0, and the bit test of vectors.

use iced_x86::{Instruction, Mnemonic};

use super::lane::{Lane, build};
use super::operand::{combine, control, read};
use crate::flags::{AF, CF, OF, PF, SF, ZF};
use crate::machine::{Machine, Trap};
use crate::row::Row;

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Blendps, |m, i| by_control::<u32>(m, i)),
    (Mnemonic::Blendpd, |m, i| by_control::<u64>(m, i)),
    (Mnemonic::Pblendw, |m, i| by_control::<u16>(m, i)),
    (Mnemonic::Blendvps, |m, i| by_sign::<u32>(m, i)),
    (Mnemonic::Blendvpd, |m, i| by_sign::<u64>(m, i)),
    (Mnemonic::Pblendvb, |m, i| by_sign::<u8>(m, i)),
    (Mnemonic::Ptest, test),
];

fn by_control<T: Lane>(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let c = control(i);
    combine(m, i, |a, b| build(|k| T::get(if c >> k & 1 != 0 { b } else { a }, k)))
}

fn by_sign<T: Lane>(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let mask = m.cpu.xmm[0];
    let sign = |k: u32| mask >> (k * T::BITS + T::BITS - 1) & 1 != 0;
    combine(m, i, |a, b| build(|k| T::get(if sign(k) { b } else { a }, k)))
}

fn test(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let (a, b) = (read(m, i, 0)?, read(m, i, 1)?);
    let zero = if a & b == 0 { ZF } else { 0 };
    let carry = if !a & b == 0 { CF } else { 0 };
    m.cpu.flags.replace(ZF | CF | OF | SF | AF | PF, zero | carry);
    Ok(())
}
