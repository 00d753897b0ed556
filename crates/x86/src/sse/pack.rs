//! Packing with saturation, interleaving, widening.

use iced_x86::{Instruction, Mnemonic};

use super::lane::{Lane, build, build_some};
use super::operand::{combine, read, width, write};
use crate::machine::{Machine, Trap};
use crate::row::Row;

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Packsswb, |m, i| pack(m, i, |a: i16| a.clamp(-128, 127) as u8)),
    (Mnemonic::Packuswb, |m, i| pack(m, i, |a: i16| a.clamp(0, 255) as u8)),
    (Mnemonic::Packssdw, |m, i| pack(m, i, |a: i32| a.clamp(-32768, 32767) as u16)),
    (Mnemonic::Packusdw, |m, i| pack(m, i, |a: i32| a.clamp(0, 65535) as u16)),
    (Mnemonic::Punpcklbw, |m, i| interleave::<u8>(m, i, 0)),
    (Mnemonic::Punpcklwd, |m, i| interleave::<u16>(m, i, 0)),
    (Mnemonic::Punpckldq, |m, i| interleave::<u32>(m, i, 0)),
    (Mnemonic::Punpcklqdq, |m, i| interleave::<u64>(m, i, 0)),
    (Mnemonic::Punpckhbw, |m, i| interleave::<u8>(m, i, 1)),
    (Mnemonic::Punpckhwd, |m, i| interleave::<u16>(m, i, 1)),
    (Mnemonic::Punpckhdq, |m, i| interleave::<u32>(m, i, 1)),
    (Mnemonic::Punpckhqdq, |m, i| interleave::<u64>(m, i, 1)),
    (Mnemonic::Unpcklps, |m, i| interleave::<u32>(m, i, 0)),
    (Mnemonic::Unpcklpd, |m, i| interleave::<u64>(m, i, 0)),
    (Mnemonic::Unpckhps, |m, i| interleave::<u32>(m, i, 1)),
    (Mnemonic::Unpckhpd, |m, i| interleave::<u64>(m, i, 1)),
    (Mnemonic::Pmovsxbw, |m, i| widen(m, i, |a: i8| i16::from(a))),
    (Mnemonic::Pmovsxbd, |m, i| widen(m, i, |a: i8| i32::from(a))),
    (Mnemonic::Pmovsxbq, |m, i| widen(m, i, |a: i8| i64::from(a))),
    (Mnemonic::Pmovsxwd, |m, i| widen(m, i, |a: i16| i32::from(a))),
    (Mnemonic::Pmovsxwq, |m, i| widen(m, i, |a: i16| i64::from(a))),
    (Mnemonic::Pmovsxdq, |m, i| widen(m, i, |a: i32| i64::from(a))),
    (Mnemonic::Pmovzxbw, |m, i| widen(m, i, |a: u8| u16::from(a))),
    (Mnemonic::Pmovzxbd, |m, i| widen(m, i, |a: u8| u32::from(a))),
    (Mnemonic::Pmovzxbq, |m, i| widen(m, i, |a: u8| u64::from(a))),
    (Mnemonic::Pmovzxwd, |m, i| widen(m, i, |a: u16| u32::from(a))),
    (Mnemonic::Pmovzxwq, |m, i| widen(m, i, |a: u16| u64::from(a))),
    (Mnemonic::Pmovzxdq, |m, i| widen(m, i, |a: u32| u64::from(a))),
];

/// The destination's lanes narrowed into the lower half, the source's into the upper.
fn pack<T: Lane, U: Lane>(m: &mut Machine<'_>, i: &Instruction, narrow: impl Fn(T) -> U) -> Result<(), Trap> {
    let bits = 8 * width(i) as u32;
    let half = bits / T::BITS;
    combine(m, i, |a, b| build_some(2 * half, |k| narrow(if k < half { T::get(a, k) } else { T::get(b, k - half) })))
}

/// Lanes of the lower (0) or upper (1) half, in turn from destination and source.
fn interleave<T: Lane>(m: &mut Machine<'_>, i: &Instruction, half: u32) -> Result<(), Trap> {
    let count = 8 * width(i) as u32 / T::BITS;
    let first = half * count / 2;
    combine(m, i, |a, b| build_some(count, |k| T::get(if k % 2 == 0 { a } else { b }, first + k / 2)))
}

fn widen<T: Lane, U: Lane>(m: &mut Machine<'_>, i: &Instruction, wide: impl Fn(T) -> U) -> Result<(), Trap> {
    let a = read(m, i, 1)?;
    write(m, i, 0, build(|k| wide(T::get(a, k))))
}
