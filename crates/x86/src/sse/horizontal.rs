//! Sums within a vector: horizontal additions, dot products, sums of differences.

use iced_x86::{Instruction, Mnemonic};

use super::fast::Operation;
use super::float::{Context, Number, basic};
use super::lane::{Lane, build, build_some};
use super::operand::{combine, control, read, width, write};
use crate::machine::{Machine, Trap};
use crate::row::Row;
use crate::softfloat::{F32, F64};

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Phaddw, |m, i| integers(m, i, i16::wrapping_add)),
    (Mnemonic::Phaddd, |m, i| integers(m, i, i32::wrapping_add)),
    (Mnemonic::Phaddsw, |m, i| integers(m, i, i16::saturating_add)),
    (Mnemonic::Phsubw, |m, i| integers(m, i, i16::wrapping_sub)),
    (Mnemonic::Phsubd, |m, i| integers(m, i, i32::wrapping_sub)),
    (Mnemonic::Phsubsw, |m, i| integers(m, i, i16::saturating_sub)),
    (Mnemonic::Haddps, |m, i| numbers::<F32>(m, i, Operation::Add)),
    (Mnemonic::Haddpd, |m, i| numbers::<F64>(m, i, Operation::Add)),
    (Mnemonic::Hsubps, |m, i| numbers::<F32>(m, i, Operation::Subtract)),
    (Mnemonic::Hsubpd, |m, i| numbers::<F64>(m, i, Operation::Subtract)),
    (Mnemonic::Addsubps, alternate::<F32>),
    (Mnemonic::Addsubpd, alternate::<F64>),
    (Mnemonic::Dpps, |m, i| dot::<F32>(m, i)),
    (Mnemonic::Dppd, |m, i| dot::<F64>(m, i)),
    (Mnemonic::Mpsadbw, sums_of_differences),
    (Mnemonic::Phminposuw, smallest),
];

/// Neighbours of the destination, then of the source.
fn integers<T: Lane>(m: &mut Machine<'_>, i: &Instruction, f: impl Fn(T, T) -> T) -> Result<(), Trap> {
    let count = 8 * width(i) as u32 / T::BITS;
    let half = count / 2;
    combine(m, i, |a, b| {
        build_some(count, |k| {
            let (from, k) = if k < half { (a, k) } else { (b, k - half) };
            f(T::get(from, 2 * k), T::get(from, 2 * k + 1))
        })
    })
}

/// Collects lanes that are computed one after the other.
fn collect<T: Number>(count: u32, mut f: impl FnMut(u32) -> T) -> u128 {
    (0..count).fold(0, |result, k| result | f(k).wide() << (k * T::BITS))
}

fn numbers<T: Number>(m: &mut Machine<'_>, i: &Instruction, operation: Operation) -> Result<(), Trap> {
    let (b, a) = (read(m, i, 1)?, read(m, i, 0)?);
    let count = 128 / T::BITS;
    let half = count / 2;
    let mut c = Context::new(m);
    let result = collect(count, |k| {
        let (from, k) = if k < half { (a, k) } else { (b, k - half) };
        basic(&mut c, operation, T::get(from, 2 * k), T::get(from, 2 * k + 1))
    });
    c.finish(m)?;
    write(m, i, 0, result)
}

/// Even lanes subtract, odd ones add.
fn alternate<T: Number>(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let (b, a) = (read(m, i, 1)?, read(m, i, 0)?);
    let mut c = Context::new(m);
    let result = collect(128 / T::BITS, |k| {
        let operation = if k % 2 == 0 { Operation::Subtract } else { Operation::Add };
        basic(&mut c, operation, T::get(a, k), T::get(b, k))
    });
    c.finish(m)?;
    write(m, i, 0, result)
}

/// Products of the lanes that the upper control bits choose, summed in pairs, into the lanes that the lower ones choose.
fn dot<T: Number>(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let (b, a) = (read(m, i, 1)?, read(m, i, 0)?);
    let (control, count) = (control(i), 128 / T::BITS);
    let mut c = Context::new(m);
    let products = collect(count, |k| {
        let (a, b) =
            if control >> (4 + k) & 1 != 0 { (T::get(a, k), T::get(b, k)) } else { (T::get(0, 0), T::get(0, 0)) };
        basic(&mut c, Operation::Multiply, a, b)
    });
    // Each stage reports its exceptions before the next begins.
    c.finish(m)?;
    let sums = pairs::<T>(m, products, count)?;
    write(m, i, 0, collect(count, |k| if control >> k & 1 != 0 { T::get(sums, k) } else { T::get(0, 0) }))
}

/// All lanes get the sum of all. Which of two NaNs it is depends on their order: where there are four terms, each lane first
/// takes its neighbour plus itself, then its own pair plus the other one.
fn pairs<T: Number>(m: &mut Machine<'_>, terms: u128, count: u32) -> Result<u128, Trap> {
    let mut sums = terms;
    let mut apart = 1;
    while apart < count {
        let mut c = Context::new(m);
        let before = sums;
        let (first, second) = if count == 4 && apart == 1 { (1, 0) } else { (0, apart) };
        sums = collect(count, |k| basic(&mut c, Operation::Add, T::get(before, k ^ first), T::get(before, k ^ second)));
        c.finish(m)?;
        apart *= 2;
    }
    Ok(sums)
}

/// `mpsadbw`: four bytes of the source against each of eight windows of the destination.
fn sums_of_differences(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let c = u32::from(control(i));
    let (from, to) = (4 * (c >> 2 & 1), 4 * (c & 3));
    combine(m, i, |a, b| {
        build(|k| (0..4).map(|n| u16::from(u8::get(a, from + k + n).abs_diff(u8::get(b, to + n)))).sum::<u16>())
    })
}

/// `phminposuw`: the smallest word and where it is.
fn smallest(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let a = read(m, i, 1)?;
    let (value, index) = (0..8).map(|k| (u16::get(a, k), k)).min().unwrap_or_default();
    write(m, i, 0, u128::from(value) | u128::from(index) << 16)
}
