//! Numbers with 128 bits and no bounds on the exponent: what series are summed in before one rounding to 64 bits.
//!
//! Truncation after each operation loses less than one unit of 2^-127, and the series have some
//! forty terms: more than fifty bits behind the 64 that are kept are right.

use super::Float;
use super::round::shift_right_sticky;

/// `significand / 2^127 * 2^exponent`, truncated after each operation; zero has significand 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Wide {
    pub sign: bool,
    pub exponent: i32,
    pub significand: u128,
}

impl Wide {
    pub const ZERO: Self = Self { sign: false, exponent: 0, significand: 0 };
    pub const ONE: Self = Self::constant(0, 1 << 127);
    pub const PI: Self = Self::constant(1, 0xc90f_daa2_2168_c234_c4c6_628b_80dc_1cd1);
    pub const LN_2: Self = Self::constant(-1, 0xb172_17f7_d1cf_79ab_c9e3_b398_03f2_f6af);
    pub const LOG2_E: Self = Self::constant(0, 0xb8aa_3b29_5c17_f0bb_be87_fed0_691d_3e88);

    pub const fn constant(exponent: i32, significand: u128) -> Self {
        Self { sign: false, exponent, significand }
    }

    /// `significand / 2^127 * 2^exponent` for any significand.
    pub fn new(sign: bool, exponent: i32, significand: u128) -> Self {
        if significand == 0 {
            return Self::ZERO;
        }
        let shift = significand.leading_zeros();
        Self { sign, exponent: exponent - shift as i32, significand: significand << shift }
    }

    pub fn from_float(a: Float) -> Self {
        Self::new(a.sign, a.exponent, u128::from(a.significand) << 64)
    }

    pub fn from_integer(value: i32) -> Self {
        Self::new(value < 0, 127, u128::from(value.unsigned_abs()))
    }

    pub fn is_zero(self) -> bool {
        self.significand == 0
    }

    pub fn negated(self) -> Self {
        Self { sign: !self.sign, ..self }
    }

    pub fn magnitude(self) -> Self {
        Self { sign: false, ..self }
    }

    /// Its first so many bits.
    pub fn cut(self, bits: u32) -> Self {
        Self { significand: self.significand & (u128::MAX << (128 - bits)), ..self }
    }

    /// Times two to the power of `by`.
    pub fn scaled(self, by: i32) -> Self {
        Self { exponent: self.exponent + by, ..self }
    }

    pub fn times(self, other: Self) -> Self {
        let high = high_product(self.significand, other.significand);
        Self::new(self.sign != other.sign, self.exponent + other.exponent + 1, high)
    }

    pub fn over_small(self, divisor: u32) -> Self {
        Self::new(self.sign, self.exponent, self.significand / u128::from(divisor))
    }

    pub fn plus(self, other: Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return if self.is_zero() { other } else { self };
        }
        let (a, b) = if other.is_larger(self) { (other, self) } else { (self, other) };
        let high = a.significand >> 1;
        // Sticky, so that one minus very little stays below one.
        let low = shift_right_sticky(b.significand >> 1, (a.exponent - b.exponent) as u32);
        let sum = if a.sign == b.sign { high + low } else { high - low };
        Self::new(a.sign, a.exponent + 1, sum)
    }

    pub fn minus(self, other: Self) -> Self {
        self.plus(other.negated())
    }

    /// Is its magnitude larger?
    pub fn is_larger(self, other: Self) -> bool {
        match (self.is_zero(), other.is_zero()) {
            (true, _) => false,
            (_, true) => true,
            _ => (self.exponent, self.significand) > (other.exponent, other.significand),
        }
    }

    /// Long division, one bit at a time; the divisor is not zero.
    pub fn over(self, other: Self) -> Self {
        let smaller = self.significand < other.significand;
        let (mut rest, mut carry, mut quotient) = (self.significand, false, 0u128);
        for _ in 0..128 + i32::from(smaller) {
            let fits = carry || rest >= other.significand;
            if fits {
                rest = rest.wrapping_sub(other.significand);
            }
            quotient = quotient << 1 | u128::from(fits);
            carry = rest >> 127 != 0;
            rest <<= 1;
        }
        Self::new(self.sign != other.sign, self.exponent - other.exponent - i32::from(smaller), quotient)
    }
}

/// The upper half of a 256-bit product.
fn high_product(a: u128, b: u128) -> u128 {
    const LOW: u128 = u64::MAX as u128;
    let (ah, al, bh, bl) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let middle = ((al * bl) >> 64) + ((ah * bl) & LOW) + ((al * bh) & LOW);
    ah * bh + ((ah * bl) >> 64) + ((al * bh) >> 64) + (middle >> 64)
}
