//! Conversions between integers, singles and doubles.

use iced_x86::{Instruction, Mnemonic};

use super::float::{Context, Number};
use super::lane::Lane;
use super::operand::{merge, read, settle, width, write};
use crate::machine::{Machine, Trap, operand_size, sign_extend};
use crate::row::Row;
use crate::softfloat::{F32, F64, Rounding};

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Cvtsi2ss, from_register::<F32>),
    (Mnemonic::Cvtsi2sd, from_register::<F64>),
    (Mnemonic::Cvtss2si, |m, i| to_register::<F32>(m, i, Nearby::Rounded)),
    (Mnemonic::Cvtsd2si, |m, i| to_register::<F64>(m, i, Nearby::Rounded)),
    (Mnemonic::Cvttss2si, |m, i| to_register::<F32>(m, i, Nearby::Truncated)),
    (Mnemonic::Cvttsd2si, |m, i| to_register::<F64>(m, i, Nearby::Truncated)),
    (Mnemonic::Cvtss2sd, scalar::<F32, F64>),
    (Mnemonic::Cvtsd2ss, scalar::<F64, F32>),
    (Mnemonic::Cvtps2pd, packed::<F32, F64>),
    (Mnemonic::Cvtpd2ps, packed::<F64, F32>),
    (Mnemonic::Cvtdq2ps, |m, i| from_lanes::<F32>(m, i, 4)),
    (Mnemonic::Cvtdq2pd, |m, i| from_lanes::<F64>(m, i, 2)),
    (Mnemonic::Cvtpi2ps, |m, i| from_lanes::<F32>(m, i, 2)),
    (Mnemonic::Cvtpi2pd, |m, i| from_lanes::<F64>(m, i, 2)),
    (Mnemonic::Cvtps2dq, |m, i| to_lanes::<F32>(m, i, Nearby::Rounded)),
    (Mnemonic::Cvtpd2dq, |m, i| to_lanes::<F64>(m, i, Nearby::Rounded)),
    (Mnemonic::Cvttps2dq, |m, i| to_lanes::<F32>(m, i, Nearby::Truncated)),
    (Mnemonic::Cvttpd2dq, |m, i| to_lanes::<F64>(m, i, Nearby::Truncated)),
    (Mnemonic::Cvtps2pi, |m, i| to_lanes::<F32>(m, i, Nearby::Rounded)),
    (Mnemonic::Cvtpd2pi, |m, i| to_lanes::<F64>(m, i, Nearby::Rounded)),
    (Mnemonic::Cvttps2pi, |m, i| to_lanes::<F32>(m, i, Nearby::Truncated)),
    (Mnemonic::Cvttpd2pi, |m, i| to_lanes::<F64>(m, i, Nearby::Truncated)),
];

/// Which integer near a number is meant.
#[derive(Clone, Copy)]
enum Nearby {
    Rounded,
    Truncated,
}

impl Nearby {
    fn integer<T: Number>(self, c: &mut Context, bits: u32, value: T) -> i64 {
        let rounding = match self {
            Self::Rounded => c.env.rounding,
            Self::Truncated => Rounding::Zero,
        };
        // What does not fit gives the most negative integer.
        c.env.integer_of(rounding, bits, value.unpack()).unwrap_or(-1 << (bits - 1))
    }
}

fn from_register<T: Number>(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let value = sign_extend(read(m, i, 1)? as u64, operand_size(i, 1)) as i64;
    let a = read(m, i, 0)?;
    let mut c = Context::new(m);
    let result = T::pack(c.env.float_of(&T::FORMAT, value));
    c.finish(m)?;
    write(m, i, 0, merge(a, result.wide(), T::BITS))
}

fn to_register<T: Number>(m: &mut Machine<'_>, i: &Instruction, nearby: Nearby) -> Result<(), Trap> {
    let a = read(m, i, 1)?;
    let mut c = Context::new(m);
    let result = nearby.integer(&mut c, 8 * operand_size(i, 0) as u32, T::get(a, 0));
    c.finish(m)?;
    write(m, i, 0, u128::from(result as u64))
}

fn scalar<T: Number, U: Number>(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let (b, a) = (read(m, i, 1)?, read(m, i, 0)?);
    let mut c = Context::new(m);
    let result = U::pack(c.env.convert(&U::FORMAT, T::get(b, 0).unpack()));
    c.finish(m)?;
    write(m, i, 0, merge(a, result.wide(), U::BITS))
}

/// Two lanes; what is left of the destination becomes zero.
fn packed<T: Number, U: Number>(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let a = read(m, i, 1)?;
    let mut c = Context::new(m);
    let result = (0..2).fold(0, |result, k| {
        result | U::pack(c.env.convert(&U::FORMAT, T::get(a, k).unpack())).wide() << (k * U::BITS)
    });
    c.finish(m)?;
    write(m, i, 0, result)
}

/// From 32-bit integers; the rest of the destination stays.
fn from_lanes<T: Number>(m: &mut Machine<'_>, i: &Instruction, count: u32) -> Result<(), Trap> {
    let (b, a) = (read(m, i, 1)?, read(m, i, 0)?);
    settle(m, i);
    let mut c = Context::new(m);
    let result = (0..count).fold(0, |result, k| {
        let value = i64::from(i32::get(b, k));
        result | T::pack(c.env.float_of(&T::FORMAT, value)).wide() << (k * T::BITS)
    });
    c.finish(m)?;
    write(m, i, 0, merge(a, result, count * T::BITS))
}

/// To 32-bit integers, as many as there are numbers; the rest of the destination becomes zero.
fn to_lanes<T: Number>(m: &mut Machine<'_>, i: &Instruction, nearby: Nearby) -> Result<(), Trap> {
    let a = read(m, i, 1)?;
    settle(m, i);
    let count = (128 / T::BITS).min(width(i) as u32 / 4);
    let mut c = Context::new(m);
    let result =
        (0..count).fold(0, |result, k| result | (nearby.integer(&mut c, 32, T::get(a, k)) as i32).wide() << (32 * k));
    c.finish(m)?;
    write(m, i, 0, result)
}
