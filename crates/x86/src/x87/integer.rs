//! Integers and packed decimals, in and out.

use iced_x86::{Instruction, Mnemonic};

use super::unit::{Pop, Work, load_extended, push, source, store_extended, value};
use crate::machine::{Machine, Trap};
use crate::row::Row;
use crate::softfloat::{F80, Float, Real, Rounding, exact_integer};

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Fild, load),
    (Mnemonic::Fist, |m, i| store(m, i, Pop::None, None)),
    (Mnemonic::Fistp, |m, i| store(m, i, Pop::Once, None)),
    (Mnemonic::Fisttp, |m, i| store(m, i, Pop::Once, Some(Rounding::Zero))),
    (Mnemonic::Fbld, load_decimal),
    (Mnemonic::Fbstp, store_decimal),
];

/// The largest packed decimal: 18 digits.
const DECIMAL_MAX: i64 = 999_999_999_999_999_999;

fn load(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let work = Work::begin(m)?;
    let number = source(m, i)?.unwrap_or(Float::INDEFINITE);
    push(m, i, work, |_| F80::pack(number));
    Ok(())
}

/// The value is in memory before the stack is popped; a fault leaves the number where it is.
fn store(m: &mut Machine<'_>, i: &Instruction, pop: Pop, rounding: Option<Rounding>) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let size = i.memory_size().size();
    let bits = 8 * size as u32;
    let rounding = rounding.unwrap_or(work.env.rounding);
    let integer = match value(&m.cpu.x87, 0) {
        Some(number) => work.env.integer_of(rounding, bits, number),
        None => {
            work.underflow();
            None
        }
    };
    if work.gives_result() {
        m.store(m.address(i), size, integer.unwrap_or(-1 << (bits - 1)) as u64)?;
    }
    work.finish(m, i, |x| x.pop(pop));
    Ok(())
}

fn load_decimal(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let work = Work::begin(m)?;
    let packed = load_extended(m, m.address(i))?;
    let magnitude = (0..18).rev().fold(0, |sum, k| sum * 10 + i64::from((packed.bits() >> (4 * k)) as u8 & 15));
    let negative = packed.sign_exponent >> 15 != 0;
    push(m, i, work, |_| F80::pack(Float { sign: negative, ..exact_integer(magnitude) }));
    Ok(())
}

fn store_decimal(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let integer = match value(&m.cpu.x87, 0) {
        Some(number) => work.env.bounded_integer_of(DECIMAL_MAX, number),
        None => {
            work.underflow();
            None
        }
    };
    if work.gives_result() {
        store_extended(m, m.address(i), integer.map_or(INDEFINITE_DECIMAL, decimal))?;
    }
    work.finish(m, i, |x| x.pop(Pop::Once));
    Ok(())
}

/// What an invalid conversion to packed decimal stores.
const INDEFINITE_DECIMAL: F80 = F80 { sign_exponent: 0xffff, significand: 3 << 62 };

fn decimal((negative, mut magnitude): (bool, u64)) -> F80 {
    let mut packed = 0u128;
    for k in 0..18 {
        packed |= u128::from(magnitude % 10) << (4 * k);
        magnitude /= 10;
    }
    F80::from_bits(packed | u128::from(negative) << 79)
}
