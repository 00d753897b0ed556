//! The x87 floating-point unit: state and every instruction, with true 80-bit results.
//!
//! `long double` of the C library on x86-64 is this unit's format, so ordinary programs get here
//! (`printf` of a `long double`, `strtold`). Exceptions are *deferred*: an unmasked one is noted in
//! the status word, and the next waiting instruction reports it (`#MF`), SDM vol. 1, section 8.7.
//! That is why `Work::begin` comes first everywhere.

mod arithmetic;
mod compare;
mod control;
mod image;
mod integer;
mod state;
mod transcendental;
mod transfer;
mod unit;

pub(crate) use image::{restore_fx, save_fx};
pub use state::X87;

use iced_x86::{Code, EncodingKind};

use crate::Generic;
use crate::row::Row;

const FAMILIES: &[&[Row]] = &[
    arithmetic::TABLE,
    compare::TABLE,
    control::TABLE,
    image::TABLE,
    integer::TABLE,
    transcendental::TABLE,
    transfer::TABLE,
];

/// What an x87 instruction form does.
///
/// Mnemonics with `wait` in front (`fstcw`, `finit`) are not here: in machine code that prefix is an instruction of its own.
pub(crate) fn lookup(code: Code) -> Option<Generic> {
    if code.encoding() != EncodingKind::Legacy {
        return None;
    }
    let mnemonic = code.mnemonic();
    FAMILIES.iter().flat_map(|family| family.iter()).find(|row| row.0 == mnemonic).map(|row| row.1)
}
