//! `roundps` and its kin.

use iced_x86::{Instruction, Mnemonic};

use super::float::{Context, Number, packed, scalar};
use super::operand::control;
use crate::row::Row;
use crate::softfloat::{F32, F64, Rounding};

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Roundps, |m, i| packed::<F32>(m, i, |c, _, b| round(c, i, b))),
    (Mnemonic::Roundpd, |m, i| packed::<F64>(m, i, |c, _, b| round(c, i, b))),
    (Mnemonic::Roundss, |m, i| scalar::<F32>(m, i, |c, _, b| round(c, i, b))),
    (Mnemonic::Roundsd, |m, i| scalar::<F64>(m, i, |c, _, b| round(c, i, b))),
];

/// The control byte: two bits of rounding mode, bit 2 to use MXCSR's instead, bit 3 to stay silent if inexact.
fn round<T: Number>(c: &mut Context, i: &Instruction, b: T) -> T {
    let control = control(i);
    let rounding = if control & 4 != 0 { c.env.rounding } else { Rounding::from_bits(control.into()) };
    T::pack(c.env.integral_of(rounding, control & 8 != 0, b.unpack()))
}
