//! The x87 floating-point unit: state and every instruction, with true 80-bit results.

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
