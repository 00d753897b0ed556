//! Shifts: all lanes by one count, or the whole register by bytes.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::lane::{Lane, zip};
use super::operand::{control, read, write};
use crate::machine::{Machine, Trap};
use crate::row::Row;

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Psllw, |m, i| shift(m, i, |a: u16, n| a.checked_shl(n).unwrap_or(0))),
    (Mnemonic::Pslld, |m, i| shift(m, i, |a: u32, n| a.checked_shl(n).unwrap_or(0))),
    (Mnemonic::Psllq, |m, i| shift(m, i, |a: u64, n| a.checked_shl(n).unwrap_or(0))),
    (Mnemonic::Psrlw, |m, i| shift(m, i, |a: u16, n| a.checked_shr(n).unwrap_or(0))),
    (Mnemonic::Psrld, |m, i| shift(m, i, |a: u32, n| a.checked_shr(n).unwrap_or(0))),
    (Mnemonic::Psrlq, |m, i| shift(m, i, |a: u64, n| a.checked_shr(n).unwrap_or(0))),
    (Mnemonic::Psraw, |m, i| shift(m, i, |a: i16, n| a >> n.min(15))),
    (Mnemonic::Psrad, |m, i| shift(m, i, |a: i32, n| a >> n.min(31))),
    (Mnemonic::Pslldq, |m, i| shift_bytes(m, i, |a, bits| a << bits)),
    (Mnemonic::Psrldq, |m, i| shift_bytes(m, i, |a, bits| a >> bits)),
];

fn shift<T: Lane>(m: &mut Machine<'_>, i: &Instruction, f: impl Fn(T, u32) -> T) -> Result<(), Trap> {
    // The count is the low 64 bits of the source; any large one acts alike.
    let count = match i.op_kind(1) {
        OpKind::Immediate8 => u64::from(control(i)),
        _ => read(m, i, 1)? as u64,
    };
    let count = count.min(128) as u32;
    let a = read(m, i, 0)?;
    write(m, i, 0, zip(a, 0, |a: T, _| f(a, count)))
}

fn shift_bytes(m: &mut Machine<'_>, i: &Instruction, f: impl Fn(u128, u32) -> u128) -> Result<(), Trap> {
    let bytes = u32::from(control(i));
    let a = read(m, i, 0)?;
    write(m, i, 0, if bytes < 16 { f(a, 8 * bytes) } else { 0 })
}
