//! Sum, product, quotient, square root, scaling.
//!
//! All results are exact to the last bit, with a *sticky* bit standing for everything that was
//! shifted out: as J. Hauser's SoftFloat does it, rounding needs only "zero, below half, half,
//! above half". 128 bits are enough for products of two 64-bit significands.

use super::round::shift_right_sticky;
use super::{Class, Env, Float, Format, Rounding, ZERO_DIVIDE};

impl Env {
    /// `a + b`.
    ///
    /// Order of checks: NaNs (SDM vol. 1, section 4.8.3.5, which operand's payload wins), then
    /// infinities of opposite sign, then the denormal flag, then values.
    pub fn add(&mut self, format: &Format, a: Float, b: Float) -> Float {
        let (a, b) = match self.two(a, b) {
            Ok(pair) => pair,
            Err(nan) => return nan,
        };
        if a.is_infinite() && b.is_infinite() && a.sign != b.sign {
            return self.invalid();
        }
        self.note_denormal(a);
        self.note_denormal(b);
        match (a.class, b.class) {
            (Class::Infinite, _) => a,
            (_, Class::Infinite) => b,
            (Class::Zero, Class::Zero) => Float::zero(self.sign_of_zero(a.sign, b.sign)),
            (Class::Zero, _) => self.again(format, b),
            (_, Class::Zero) => self.again(format, a),
            _ => self.add_finite(format, a, b),
        }
    }

    /// `a - b`.
    pub fn subtract(&mut self, format: &Format, a: Float, b: Float) -> Float {
        // A NaN keeps its sign.
        let b = if b.is_nan() { b } else { b.negated() };
        self.add(format, a, b)
    }

    /// The sign of an exact zero sum of terms with these signs.
    fn sign_of_zero(&self, a: bool, b: bool) -> bool {
        if a == b { a } else { self.rounding == Rounding::Down }
    }

    /// Rounds a finite number to `format`: the sum with zero, or a conversion.
    pub(super) fn again(&mut self, format: &Format, a: Float) -> Float {
        self.round(format, a.sign, a.exponent, u128::from(a.significand) << 64)
    }

    /// Cancellation is exact: if the exponents differ by more than one bit, the result loses at
    /// most one leading bit, and the sticky bit stays below the rounding position.
    fn add_finite(&mut self, format: &Format, a: Float, b: Float) -> Float {
        let (a, b) = if (b.exponent, b.significand) > (a.exponent, a.significand) { (b, a) } else { (a, b) };
        // One bit of room for the carry at the top, 63 below for what is shifted out.
        let high = u128::from(a.significand) << 63;
        let low = shift_right_sticky(u128::from(b.significand) << 63, (a.exponent - b.exponent) as u32);
        let sum = if a.sign == b.sign { high + low } else { high - low };
        if sum == 0 {
            return Float::zero(self.rounding == Rounding::Down);
        }
        self.round(format, a.sign, a.exponent + 1, sum)
    }

    /// `a * b`.
    pub fn multiply(&mut self, format: &Format, a: Float, b: Float) -> Float {
        let (a, b) = match self.two(a, b) {
            Ok(pair) => pair,
            Err(nan) => return nan,
        };
        let sign = a.sign != b.sign;
        if a.is_infinite() && b.is_zero() || a.is_zero() && b.is_infinite() {
            return self.invalid();
        }
        self.note_denormal(a);
        self.note_denormal(b);
        if a.is_infinite() || b.is_infinite() {
            return Float::infinity(sign);
        }
        if a.is_zero() || b.is_zero() {
            return Float::zero(sign);
        }
        let product = u128::from(a.significand) * u128::from(b.significand);
        self.round(format, sign, a.exponent + b.exponent + 1, product)
    }

    /// `a / b`.
    pub fn divide(&mut self, format: &Format, a: Float, b: Float) -> Float {
        let (a, b) = match self.two(a, b) {
            Ok(pair) => pair,
            Err(nan) => return nan,
        };
        let sign = a.sign != b.sign;
        if a.is_infinite() && b.is_infinite() || a.is_zero() && b.is_zero() {
            return self.invalid();
        }
        if b.is_zero() && !a.is_infinite() {
            self.flags |= ZERO_DIVIDE;
            return Float::infinity(sign);
        }
        self.note_denormal(a);
        self.note_denormal(b);
        if a.is_infinite() {
            return Float::infinity(sign);
        }
        if a.is_zero() || b.is_infinite() {
            return Float::zero(sign);
        }
        let quotient = quotient_sticky(a.significand, b.significand);
        self.round(format, sign, a.exponent - b.exponent + 61, quotient)
    }

    /// The square root.
    pub fn square_root(&mut self, format: &Format, a: Float) -> Float {
        let a = match self.one(a) {
            Ok(a) => a,
            Err(nan) => return nan,
        };
        if a.is_zero() {
            return a;
        }
        if a.sign {
            return self.invalid();
        }
        self.note_denormal(a);
        if a.is_infinite() {
            return a;
        }
        // An even exponent, so that it can be halved.
        let odd = a.exponent & 1;
        let radicand = u128::from(a.significand) << (63 + odd);
        let root = radicand.isqrt();
        let rest = radicand - root * root;
        // (root + 1/2)^2 = root^2 + root + 1/4, so `rest > root` says that the next bit is set; it is never exact there.
        let below = u128::from(rest > root) << 1 | u128::from(rest != 0);
        self.round(format, false, (a.exponent - odd) / 2 + 62, root << 2 | below)
    }
}

/// `a / b * 2^66`, the lowest bit sticky.
fn quotient_sticky(a: u64, b: u64) -> u128 {
    let b = u128::from(b);
    let high = u128::from(a) << 64;
    let rest = (high % b) << 2;
    ((high / b) << 2) | (rest / b) | u128::from(rest % b != 0)
}
