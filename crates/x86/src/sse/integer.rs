//! Integer arithmetic, logic and comparison, lane by lane.

use iced_x86::{Instruction, Mnemonic};

use super::lane::{Lane, zip};
use super::operand::combine;
use crate::machine::{Machine, Trap};
use crate::row::Row;

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Paddb, |m, i| lanes(m, i, u8::wrapping_add)),
    (Mnemonic::Paddw, |m, i| lanes(m, i, u16::wrapping_add)),
    (Mnemonic::Paddd, |m, i| lanes(m, i, u32::wrapping_add)),
    (Mnemonic::Paddq, |m, i| lanes(m, i, u64::wrapping_add)),
    (Mnemonic::Psubb, |m, i| lanes(m, i, u8::wrapping_sub)),
    (Mnemonic::Psubw, |m, i| lanes(m, i, u16::wrapping_sub)),
    (Mnemonic::Psubd, |m, i| lanes(m, i, u32::wrapping_sub)),
    (Mnemonic::Psubq, |m, i| lanes(m, i, u64::wrapping_sub)),
    (Mnemonic::Paddsb, |m, i| lanes(m, i, i8::saturating_add)),
    (Mnemonic::Paddsw, |m, i| lanes(m, i, i16::saturating_add)),
    (Mnemonic::Paddusb, |m, i| lanes(m, i, u8::saturating_add)),
    (Mnemonic::Paddusw, |m, i| lanes(m, i, u16::saturating_add)),
    (Mnemonic::Psubsb, |m, i| lanes(m, i, i8::saturating_sub)),
    (Mnemonic::Psubsw, |m, i| lanes(m, i, i16::saturating_sub)),
    (Mnemonic::Psubusb, |m, i| lanes(m, i, u8::saturating_sub)),
    (Mnemonic::Psubusw, |m, i| lanes(m, i, u16::saturating_sub)),
    (Mnemonic::Pmullw, |m, i| lanes(m, i, u16::wrapping_mul)),
    (Mnemonic::Pmulld, |m, i| lanes(m, i, u32::wrapping_mul)),
    (Mnemonic::Pmulhw, |m, i| lanes(m, i, |a: i16, b: i16| ((i32::from(a) * i32::from(b)) >> 16) as i16)),
    (Mnemonic::Pmulhuw, |m, i| lanes(m, i, |a: u16, b: u16| ((u32::from(a) * u32::from(b)) >> 16) as u16)),
    (Mnemonic::Pmulhrsw, |m, i| lanes(m, i, multiply_round)),
    (Mnemonic::Pmuludq, |m, i| lanes(m, i, |a: u64, b: u64| u64::from(a as u32) * u64::from(b as u32))),
    (Mnemonic::Pmuldq, |m, i| lanes(m, i, |a: i64, b: i64| i64::from(a as i32) * i64::from(b as i32))),
    (Mnemonic::Pmaddwd, |m, i| lanes(m, i, multiply_add_words)),
    (Mnemonic::Pmaddubsw, |m, i| lanes(m, i, multiply_add_bytes)),
    (Mnemonic::Psadbw, |m, i| lanes(m, i, sum_of_differences)),
    (Mnemonic::Pavgb, |m, i| lanes(m, i, |a: u8, b: u8| ((u16::from(a) + u16::from(b) + 1) >> 1) as u8)),
    (Mnemonic::Pavgw, |m, i| lanes(m, i, |a: u16, b: u16| ((u32::from(a) + u32::from(b) + 1) >> 1) as u16)),
    (Mnemonic::Pminub, |m, i| lanes(m, i, u8::min)),
    (Mnemonic::Pminuw, |m, i| lanes(m, i, u16::min)),
    (Mnemonic::Pminud, |m, i| lanes(m, i, u32::min)),
    (Mnemonic::Pminsb, |m, i| lanes(m, i, i8::min)),
    (Mnemonic::Pminsw, |m, i| lanes(m, i, i16::min)),
    (Mnemonic::Pminsd, |m, i| lanes(m, i, i32::min)),
    (Mnemonic::Pmaxub, |m, i| lanes(m, i, u8::max)),
    (Mnemonic::Pmaxuw, |m, i| lanes(m, i, u16::max)),
    (Mnemonic::Pmaxud, |m, i| lanes(m, i, u32::max)),
    (Mnemonic::Pmaxsb, |m, i| lanes(m, i, i8::max)),
    (Mnemonic::Pmaxsw, |m, i| lanes(m, i, i16::max)),
    (Mnemonic::Pmaxsd, |m, i| lanes(m, i, i32::max)),
    (Mnemonic::Pcmpeqb, |m, i| lanes(m, i, |a: i8, b: i8| -i8::from(a == b))),
    (Mnemonic::Pcmpeqw, |m, i| lanes(m, i, |a: i16, b: i16| -i16::from(a == b))),
    (Mnemonic::Pcmpeqd, |m, i| lanes(m, i, |a: i32, b: i32| -i32::from(a == b))),
    (Mnemonic::Pcmpeqq, |m, i| lanes(m, i, |a: i64, b: i64| -i64::from(a == b))),
    (Mnemonic::Pcmpgtb, |m, i| lanes(m, i, |a: i8, b: i8| -i8::from(a > b))),
    (Mnemonic::Pcmpgtw, |m, i| lanes(m, i, |a: i16, b: i16| -i16::from(a > b))),
    (Mnemonic::Pcmpgtd, |m, i| lanes(m, i, |a: i32, b: i32| -i32::from(a > b))),
    (Mnemonic::Pcmpgtq, |m, i| lanes(m, i, |a: i64, b: i64| -i64::from(a > b))),
    (Mnemonic::Psignb, |m, i| lanes(m, i, |a: i8, b: i8| a.wrapping_mul(b.signum()))),
    (Mnemonic::Psignw, |m, i| lanes(m, i, |a: i16, b: i16| a.wrapping_mul(b.signum()))),
    (Mnemonic::Psignd, |m, i| lanes(m, i, |a: i32, b: i32| a.wrapping_mul(b.signum()))),
    (Mnemonic::Pabsb, |m, i| lanes(m, i, |_: i8, b: i8| b.wrapping_abs())),
    (Mnemonic::Pabsw, |m, i| lanes(m, i, |_: i16, b: i16| b.wrapping_abs())),
    (Mnemonic::Pabsd, |m, i| lanes(m, i, |_: i32, b: i32| b.wrapping_abs())),
    (Mnemonic::Pand, and),
    (Mnemonic::Andps, and),
    (Mnemonic::Andpd, and),
    (Mnemonic::Pandn, and_not),
    (Mnemonic::Andnps, and_not),
    (Mnemonic::Andnpd, and_not),
    (Mnemonic::Por, or),
    (Mnemonic::Orps, or),
    (Mnemonic::Orpd, or),
    (Mnemonic::Pxor, xor),
    (Mnemonic::Xorps, xor),
    (Mnemonic::Xorpd, xor),
];

fn lanes<T: Lane>(m: &mut Machine<'_>, i: &Instruction, f: impl Fn(T, T) -> T) -> Result<(), Trap> {
    combine(m, i, |a, b| zip(a, b, &f))
}

fn and(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    combine(m, i, |a, b| a & b)
}

fn and_not(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    combine(m, i, |a, b| !a & b)
}

fn or(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    combine(m, i, |a, b| a | b)
}

fn xor(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    combine(m, i, |a, b| a ^ b)
}

fn multiply_round(a: i16, b: i16) -> i16 {
    ((((i32::from(a) * i32::from(b)) >> 14) + 1) >> 1) as i16
}

fn multiply_add_words(a: i32, b: i32) -> i32 {
    let low = i32::from(a as i16) * i32::from(b as i16);
    let high = (a >> 16) * (b >> 16);
    low.wrapping_add(high)
}

/// Unsigned bytes of the first times signed bytes of the second, saturated.
fn multiply_add_bytes(a: i16, b: i16) -> i16 {
    let low = i16::from(a as u8) * i16::from(b as i8);
    let high = (a as u16 >> 8) as i16 * (b >> 8);
    low.saturating_add(high)
}

fn sum_of_differences(a: u64, b: u64) -> u64 {
    (0..8).map(|k| u64::from(u8::get(a.into(), k).abs_diff(u8::get(b.into(), k)))).sum()
}
