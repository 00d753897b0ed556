//! Between formats, and between numbers and integers.

use super::round::shift_right_sticky;
use super::{Class, DENORMAL, Env, Float, Format, INEXACT, INVALID, Rounding};

/// A finite number's magnitude as integer bits and what is rounded away.
struct Split {
    whole: u128,
    rest: u128,
}

/// Integers of 64 bits fit an 80-bit number.
pub fn exact_integer(value: i64) -> Float {
    if value == 0 {
        return Float::zero(false);
    }
    let magnitude = value.unsigned_abs();
    let shift = magnitude.leading_zeros();
    Float::finite(value < 0, 63 - shift as i32, magnitude << shift)
}

impl Env {
    /// A number in another format; denormals raise their exception.
    pub fn convert(&mut self, format: &Format, a: Float) -> Float {
        let a = match self.one(a) {
            Ok(a) => a,
            Err(nan) => return nan,
        };
        self.note_denormal(a);
        if a.class == Class::Finite { self.again(format, a) } else { a }
    }

    /// As `convert`, but a denormal operand is no exception (`fst`).
    pub fn store(&mut self, format: &Format, a: Float) -> Float {
        self.convert(format, Float { subnormal: false, ..a })
    }

    /// An integer as a number.
    pub fn float_of(&mut self, format: &Format, value: i64) -> Float {
        let exact = exact_integer(value);
        if exact.is_zero() { exact } else { self.again(format, exact) }
    }

    /// A number as a signed integer of so many bits, if it fits; otherwise "invalid" is raised.
    ///
    /// The caller stores the "integer indefinite", the most negative integer, for `None`.
    pub fn integer_of(&mut self, rounding: Rounding, bits: u32, a: Float) -> Option<i64> {
        let rounded = self.wide_integer_of(rounding, a)?;
        let limit = 1i128 << (bits - 1);
        if (-limit..limit).contains(&rounded.0) {
            self.finish_integer(rounded);
            return Some(rounded.0 as i64);
        }
        self.flags |= INVALID;
        None
    }

    /// A number as an integer of at most `limit` in magnitude, if it fits; otherwise "invalid" is raised.
    pub fn bounded_integer_of(&mut self, limit: i64, a: Float) -> Option<(bool, u64)> {
        let rounded = self.wide_integer_of(self.rounding, a)?;
        if rounded.0.unsigned_abs() <= u128::from(limit.unsigned_abs()) {
            self.finish_integer(rounded);
            return Some((a.sign, rounded.0.unsigned_abs() as u64));
        }
        self.flags |= INVALID;
        None
    }

    fn finish_integer(&mut self, (_, inexact, up): (i128, bool, bool)) {
        self.up = up;
        if inexact {
            self.flags |= INEXACT;
        }
    }

    fn wide_integer_of(&mut self, rounding: Rounding, a: Float) -> Option<(i128, bool, bool)> {
        let a = self.flush(a);
        match a.class {
            Class::Zero => Some((0, false, false)),
            Class::Finite if a.exponent < 64 => Some(self.nearest_integer(rounding, a)),
            _ => {
                self.flags |= INVALID;
                None
            }
        }
    }

    /// The integer, whether it is inexact, and whether its magnitude grew.
    fn nearest_integer(&self, rounding: Rounding, a: Float) -> (i128, bool, bool) {
        let Split { whole, rest } = split(a);
        let up = Env { rounding, ..*self }.goes_up(a.sign, whole & 1 != 0, rest);
        let magnitude = (whole + u128::from(up)) as i128;
        (if a.sign { -magnitude } else { magnitude }, rest != 0, up)
    }

    /// The number rounded to an integral one; `quietly` without the precision exception.
    pub fn integral_of(&mut self, rounding: Rounding, quietly: bool, a: Float) -> Float {
        let a = match self.one(a) {
            Ok(a) => a,
            Err(nan) => return nan,
        };
        if a.class != Class::Finite || a.exponent >= 63 {
            return a;
        }
        let (value, inexact, up) = self.nearest_integer(rounding, a);
        self.up = up;
        if inexact && !quietly {
            self.flags |= INEXACT;
        }
        let magnitude = value.unsigned_abs() as u64;
        if magnitude == 0 {
            return Float::zero(a.sign);
        }
        let shift = magnitude.leading_zeros();
        Float::finite(a.sign, 63 - shift as i32, magnitude << shift)
    }

    /// `frndint`: as the control word rounds, with the denormal exception.
    pub fn round_to_integral(&mut self, a: Float) -> Float {
        if a.subnormal {
            self.flags |= DENORMAL;
        }
        self.integral_of(self.rounding, false, a)
    }
}

/// The binary point goes between the two halves.
///
/// With the point between the halves, rounding to an integer is the same function as rounding a
/// significand.
fn split(a: Float) -> Split {
    let aligned = u128::from(a.significand) << 64;
    if a.exponent >= 0 {
        let shift = (a.exponent + 1) as u32;
        return Split { whole: aligned >> (128 - shift), rest: if shift >= 128 { 0 } else { aligned << shift } };
    }
    Split { whole: 0, rest: shift_right_sticky(aligned, (-1 - a.exponent) as u32) }
}
