//! Integer instructions: the reference meaning of each, one file per family.

mod arithmetic;
mod atomic;
mod bits;
mod bmi;
mod divide;
mod multiply;
mod rotate;
mod shift;
mod transfer;

pub(crate) use bmi::is_bmi1;
pub(crate) use rotate::{rol, ror};
pub(crate) use shift::{sar, shl, shr};
pub(crate) use transfer::condition;

use crate::row::Row;

/// The families, in no particular order: no mnemonic is in two of them.
pub(crate) const FAMILIES: &[&[Row]] = &[
    arithmetic::TABLE,
    atomic::TABLE,
    bits::TABLE,
    bmi::TABLE,
    divide::TABLE,
    multiply::TABLE,
    rotate::TABLE,
    shift::TABLE,
    transfer::TABLE,
];
