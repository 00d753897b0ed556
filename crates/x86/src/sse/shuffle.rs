//! Lanes chosen by a control byte or by another vector.

use iced_x86::{Instruction, Mnemonic};

use super::lane::{Lane, build, build_some};
use super::operand::{combine, control, low, merge, read, width, write};
use crate::machine::{Machine, Trap};
use crate::row::Row;

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Pshufd, |m, i| choose(m, i, |a, c| build(|k| u32::get(a, pick(c, k))))),
    (Mnemonic::Pshufw, |m, i| choose(m, i, |a, c| build_some(4, |k| u16::get(a, pick(c, k))))),
    (Mnemonic::Pshuflw, |m, i| choose(m, i, low_words)),
    (Mnemonic::Pshufhw, |m, i| choose(m, i, |a, c| low_words(a.rotate_right(64), c).rotate_left(64))),
    (Mnemonic::Shufps, |m, i| {
        let c = control(i);
        combine(m, i, |a, b| build(|k| u32::get(if k < 2 { a } else { b }, pick(c, k))))
    }),
    (Mnemonic::Shufpd, |m, i| {
        let c = control(i);
        combine(m, i, |a, b| build(|k| u64::get(if k == 0 { a } else { b }, u32::from(c >> k & 1))))
    }),
    (Mnemonic::Pshufb, shuffle_bytes),
    (Mnemonic::Palignr, align),
    (Mnemonic::Insertps, insert),
];

/// `destination = function(source, control)`.
fn choose(m: &mut Machine<'_>, i: &Instruction, function: impl Fn(u128, u8) -> u128) -> Result<(), Trap> {
    let a = read(m, i, 1)?;
    write(m, i, 0, function(a, control(i)))
}

/// Two bits of the control byte for each lane.
fn pick(control: u8, k: u32) -> u32 {
    u32::from(control >> (2 * k) & 3)
}

fn low_words(a: u128, control: u8) -> u128 {
    merge(a, build_some(4, |k| u16::get(a, pick(control, k))), 64)
}

fn shuffle_bytes(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let last = width(i) as u32 - 1;
    combine(m, i, |a, b| {
        build(|k| {
            let by = u8::get(b, k);
            if by & 0x80 != 0 { 0 } else { u8::get(a, u32::from(by) & last) }
        })
    })
}

/// Destination above source, shifted right by bytes.
fn align(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let (bits, shift) = (8 * width(i) as u32, 8 * u32::from(control(i)));
    combine(m, i, |a, b| {
        let upper = if shift <= bits { a.checked_shl(bits - shift) } else { a.checked_shr(shift - bits) };
        let lower = b.checked_shr(shift);
        (upper.unwrap_or(0) | lower.unwrap_or(0)) & low(bits)
    })
}

fn insert(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let c = control(i);
    // From memory there is only one lane to take.
    let from = if i.op_register(1).is_xmm() { u32::from(c >> 6) } else { 0 };
    let to = u32::from(c >> 4 & 3);
    combine(m, i, |a, b| {
        build(|k| match k {
            _ if c >> k & 1 != 0 => 0,
            _ if k == to => u32::get(b, from),
            _ => u32::get(a, k),
        })
    })
}
