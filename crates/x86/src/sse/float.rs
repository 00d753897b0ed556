//! Floating-point arithmetic, packed and scalar.

use iced_x86::{Instruction, Mnemonic};

use super::fast::{self, Operation};
use super::operand::{merge, read, write};
use crate::machine::{Machine, Trap};
use crate::row::Row;
use crate::softfloat::{BEFORE, Env, F32, F64, Float, Real};

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Addps, |m, i| packed(m, i, |e, a, b| basic::<F32>(e, Operation::Add, a, b))),
    (Mnemonic::Addpd, |m, i| packed(m, i, |e, a, b| basic::<F64>(e, Operation::Add, a, b))),
    (Mnemonic::Addss, |m, i| scalar(m, i, |e, a, b| basic::<F32>(e, Operation::Add, a, b))),
    (Mnemonic::Addsd, |m, i| scalar(m, i, |e, a, b| basic::<F64>(e, Operation::Add, a, b))),
    (Mnemonic::Subps, |m, i| packed(m, i, |e, a, b| basic::<F32>(e, Operation::Subtract, a, b))),
    (Mnemonic::Subpd, |m, i| packed(m, i, |e, a, b| basic::<F64>(e, Operation::Subtract, a, b))),
    (Mnemonic::Subss, |m, i| scalar(m, i, |e, a, b| basic::<F32>(e, Operation::Subtract, a, b))),
    (Mnemonic::Subsd, |m, i| scalar(m, i, |e, a, b| basic::<F64>(e, Operation::Subtract, a, b))),
    (Mnemonic::Mulps, |m, i| packed(m, i, |e, a, b| basic::<F32>(e, Operation::Multiply, a, b))),
    (Mnemonic::Mulpd, |m, i| packed(m, i, |e, a, b| basic::<F64>(e, Operation::Multiply, a, b))),
    (Mnemonic::Mulss, |m, i| scalar(m, i, |e, a, b| basic::<F32>(e, Operation::Multiply, a, b))),
    (Mnemonic::Mulsd, |m, i| scalar(m, i, |e, a, b| basic::<F64>(e, Operation::Multiply, a, b))),
    (Mnemonic::Divps, |m, i| packed(m, i, |e, a, b| basic::<F32>(e, Operation::Divide, a, b))),
    (Mnemonic::Divpd, |m, i| packed(m, i, |e, a, b| basic::<F64>(e, Operation::Divide, a, b))),
    (Mnemonic::Divss, |m, i| scalar(m, i, |e, a, b| basic::<F32>(e, Operation::Divide, a, b))),
    (Mnemonic::Divsd, |m, i| scalar(m, i, |e, a, b| basic::<F64>(e, Operation::Divide, a, b))),
    (Mnemonic::Minps, |m, i| packed(m, i, |e, a, b| soft::<F32>(e, Env::minimum, a, b))),
    (Mnemonic::Minpd, |m, i| packed(m, i, |e, a, b| soft::<F64>(e, Env::minimum, a, b))),
    (Mnemonic::Minss, |m, i| scalar(m, i, |e, a, b| soft::<F32>(e, Env::minimum, a, b))),
    (Mnemonic::Minsd, |m, i| scalar(m, i, |e, a, b| soft::<F64>(e, Env::minimum, a, b))),
    (Mnemonic::Maxps, |m, i| packed(m, i, |e, a, b| soft::<F32>(e, Env::maximum, a, b))),
    (Mnemonic::Maxpd, |m, i| packed(m, i, |e, a, b| soft::<F64>(e, Env::maximum, a, b))),
    (Mnemonic::Maxss, |m, i| scalar(m, i, |e, a, b| soft::<F32>(e, Env::maximum, a, b))),
    (Mnemonic::Maxsd, |m, i| scalar(m, i, |e, a, b| soft::<F64>(e, Env::maximum, a, b))),
    (Mnemonic::Sqrtps, |m, i| packed(m, i, root::<F32>)),
    (Mnemonic::Sqrtpd, |m, i| packed(m, i, root::<F64>)),
    (Mnemonic::Sqrtss, |m, i| scalar(m, i, root::<F32>)),
    (Mnemonic::Sqrtsd, |m, i| scalar(m, i, root::<F64>)),
    (Mnemonic::Rcpps, |m, i| packed(m, i, |_, _, b| reciprocal(b))),
    (Mnemonic::Rcpss, |m, i| scalar(m, i, |_, _, b| reciprocal(b))),
    (Mnemonic::Rsqrtps, |m, i| packed(m, i, |_, _, b| reciprocal_root(b))),
    (Mnemonic::Rsqrtss, |m, i| scalar(m, i, |_, _, b| reciprocal_root(b))),
];

/// What computes, with the register that steers it at hand for the fast way.
pub(super) struct Context {
    pub env: Env,
    mxcsr: u32,
}

impl Context {
    pub fn new(m: &Machine<'_>) -> Self {
        Self { env: Env::from_mxcsr(m.cpu.mxcsr), mxcsr: m.cpu.mxcsr }
    }

    /// Puts the flags into MXCSR; an unmasked one stops the instruction. Exceptions of the operands come first, in all lanes.
    ///
    /// SDM vol. 1, section 11.5: pre-computation exceptions (invalid, denormal, divide by zero) of
    /// any lane suppress post-computation ones of all lanes. The destination is not written when
    /// one is unmasked, since the caller writes behind this.
    pub fn finish(mut self, m: &mut Machine<'_>) -> Result<(), Trap> {
        let stops = self.env.unmasked();
        if stops & BEFORE != 0 {
            self.env.flags &= BEFORE;
        }
        m.cpu.mxcsr |= u32::from(self.env.flags);
        if stops == 0 { Ok(()) } else { Err(Trap::SimdException) }
    }
}

/// A number that a vector is made of.
pub(super) trait Number: Real {
    const BITS: u32;
    fn get(vector: u128, k: u32) -> Self;
    fn wide(self) -> u128;
    fn fast(mxcsr: u32, operation: Operation, a: Self, b: Self) -> Option<Self>;
    fn fast_root(mxcsr: u32, a: Self) -> Option<Self>;
}

impl Number for F32 {
    const BITS: u32 = 32;
    fn get(vector: u128, k: u32) -> Self {
        Self((vector >> (32 * k)) as u32)
    }
    fn wide(self) -> u128 {
        self.0.into()
    }
    #[inline(always)]
    fn fast(mxcsr: u32, operation: Operation, a: Self, b: Self) -> Option<Self> {
        fast::single(mxcsr, operation, a.0, b.0).map(Self)
    }
    fn fast_root(mxcsr: u32, a: Self) -> Option<Self> {
        fast::single_root(mxcsr, a.0).map(Self)
    }
}

impl Number for F64 {
    const BITS: u32 = 64;
    fn get(vector: u128, k: u32) -> Self {
        Self((vector >> (64 * k)) as u64)
    }
    fn wide(self) -> u128 {
        self.0.into()
    }
    #[inline(always)]
    fn fast(mxcsr: u32, operation: Operation, a: Self, b: Self) -> Option<Self> {
        fast::double(mxcsr, operation, a.0, b.0).map(Self)
    }
    fn fast_root(mxcsr: u32, a: Self) -> Option<Self> {
        fast::double_root(mxcsr, a.0).map(Self)
    }
}

/// Addition to division: the fast way, or the sure one.
#[inline(always)]
pub(super) fn basic<T: Number>(c: &mut Context, operation: Operation, a: T, b: T) -> T {
    if let Some(result) = T::fast(c.mxcsr, operation, a, b) {
        return result;
    }
    let function = match operation {
        Operation::Add => Env::add,
        Operation::Subtract => Env::subtract,
        Operation::Multiply => Env::multiply,
        Operation::Divide => Env::divide,
    };
    T::pack(function(&mut c.env, &T::FORMAT, a.unpack(), b.unpack()))
}

fn soft<T: Number>(c: &mut Context, f: fn(&mut Env, Float, Float) -> Float, a: T, b: T) -> T {
    T::pack(f(&mut c.env, a.unpack(), b.unpack()))
}

fn root<T: Number>(c: &mut Context, _: T, b: T) -> T {
    T::fast_root(c.mxcsr, b).unwrap_or_else(|| T::pack(c.env.square_root(&T::FORMAT, b.unpack())))
}

/// All lanes.
#[inline(always)]
pub(super) fn packed<T: Number>(
    m: &mut Machine<'_>,
    i: &Instruction,
    f: impl Fn(&mut Context, T, T) -> T,
) -> Result<(), Trap> {
    let (b, a) = (read(m, i, 1)?, read(m, i, 0)?);
    let mut c = Context::new(m);
    let result =
        (0..128 / T::BITS).fold(0, |result, k| result | f(&mut c, T::get(a, k), T::get(b, k)).wide() << (k * T::BITS));
    c.finish(m)?;
    write(m, i, 0, result)
}

/// The lowest lane; the destination's others stay.
#[inline(always)]
pub(super) fn scalar<T: Number>(
    m: &mut Machine<'_>,
    i: &Instruction,
    f: impl Fn(&mut Context, T, T) -> T,
) -> Result<(), Trap> {
    let (b, a) = (read(m, i, 1)?, read(m, i, 0)?);
    let mut c = Context::new(m);
    let result = f(&mut c, T::get(a, 0), T::get(b, 0));
    c.finish(m)?;
    write(m, i, 0, merge(a, result.wide(), T::BITS))
}

/// `rcpps` as Intel's processors do: the 13-bit number nearest to the inverse of the middle of 2048 intervals.
///
/// SDM vol. 2 promises a relative error below 1.5 * 2^-12 and no bits. This is what Intel's
/// processors compute, as a formula; AMD's have another table.
fn reciprocal(x: F32) -> F32 {
    let (sign, exponent) = (x.0 & 1 << 31, x.0 >> 23 & 0xff);
    match exponent {
        0 => F32(sign | 0x7f80_0000),
        0xff => of_special(x, sign),
        // The result would be denormal.
        253.. => F32(sign),
        _ => {
            let middle = 2 * (2048 + (x.0 >> 12 & 0x7ff)) + 1;
            let nearest = ((1 << 26) / middle).div_ceil(2);
            F32(sign | (253 - exponent) << 23 | (nearest - 4096) << 11)
        }
    }
}

fn of_special(x: F32, infinity_gives: u32) -> F32 {
    if x.0 << 9 == 0 { F32(infinity_gives) } else { F32(x.0 | 1 << 22) }
}

/// `rsqrtps`: the same for the square root, with 1024 intervals for each parity of the exponent.
fn reciprocal_root(x: F32) -> F32 {
    let (sign, exponent) = (x.0 & 1 << 31, x.0 >> 23 & 0xff);
    match exponent {
        0 => F32(sign | 0x7f80_0000),
        0xff if sign == 0 || x.0 << 9 != 0 => of_special(x, 0),
        _ if sign != 0 => F32(0xffc0_0000),
        _ => {
            let odd = (exponent + 1) & 1;
            let middle = u64::from(2 * (1024 + (x.0 >> 13 & 0x3ff)) + 1) << odd;
            let root = ((1 << 37) / middle).isqrt();
            let up = (2 * root + 1).pow(2) * middle <= 1 << 39;
            let nearest = root as u32 + u32::from(up);
            let half = (exponent as i32 - 127 - odd as i32) / 2;
            F32(((126 - half) as u32) << 23 | (nearest - 4096) << 11)
        }
    }
}
