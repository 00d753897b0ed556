//! Integer instructions: the reference meaning of each, one file per family.

mod arithmetic;
mod atomic;
mod bits;
mod divide;
mod multiply;
mod rotate;
mod shift;
mod transfer;

pub(crate) use rotate::{rol, ror};
pub(crate) use shift::{sar, shl, shr};
pub(crate) use transfer::condition;

use crate::row::Row;

/// The families, in no particular order: no mnemonic is in two of them.
pub(crate) const FAMILIES: &[&[Row]] = &[
    arithmetic::TABLE,
    atomic::TABLE,
    bits::TABLE,
    divide::TABLE,
    multiply::TABLE,
    rotate::TABLE,
    shift::TABLE,
    transfer::TABLE,
];
