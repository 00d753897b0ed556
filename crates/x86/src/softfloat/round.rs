//! From an exact result to a representable one, with the flags that this raises.
//!
//! Two choices that implementations of IEEE 754 may make are made as x86 does: tininess is detected
//! after rounding, and an unmasked underflow or overflow of the x87 delivers a result with a
//! wrapped exponent for the handler.

use super::{EXTENDED, Env, Float, Format, INEXACT, OVERFLOW, Rounding, UNDERFLOW};

/// What is added to or taken from the exponent of an 80-bit result when its overflow or underflow is not masked
/// (SDM volume 1, 8.5.4 and 8.5.5).
const WRAP: i32 = 24576;

/// A significand cut to fewer bits.
struct Cut {
    significand: u64,
    carry: bool,
    inexact: bool,
    up: bool,
}

impl Cut {
    /// The cut significand with its top bit set again after a carry, and the exponent to go with it.
    fn normal(&self, exponent: i32) -> (i32, u64) {
        if self.carry { (exponent + 1, 1 << 63) } else { (exponent, self.significand) }
    }
}

impl Env {
    /// Rounds the nonzero number `significand / 2^127 * 2^exponent`, whose lowest bit is sticky: set if any bit below it is.
    ///
    /// Every operation ends here, so this is the only place that decides on inexact, underflow and
    /// overflow.
    pub fn round(&mut self, format: &Format, sign: bool, exponent: i32, significand: u128) -> Float {
        let shift = significand.leading_zeros();
        let (exponent, significand) = (exponent - shift as i32, significand << shift);
        let cut = self.cut(sign, significand, format.precision);
        let (e, s) = cut.normal(exponent);
        // Tiny is decided after rounding, as if exponents had no bound.
        if e < format.exponent_min {
            return self.tiny(format, sign, exponent, significand, &cut);
        }
        if e > format.exponent_max {
            return self.huge(format, sign, e, s, &cut);
        }
        self.note(&cut);
        Float::finite(sign, e, s)
    }

    fn note(&mut self, cut: &Cut) {
        self.up = cut.up;
        if cut.inexact {
            self.flags |= INEXACT;
        }
    }

    fn cut(&self, sign: bool, significand: u128, precision: u32) -> Cut {
        let unit = 1u64 << (64 - precision);
        let kept = (significand >> 64) as u64 & !(unit - 1);
        let rest = significand << precision;
        let inexact = rest != 0;
        let up = self.goes_up(sign, kept & unit != 0, rest);
        let (significand, carry) = if up { kept.overflowing_add(unit) } else { (kept, false) };
        Cut { significand, carry, inexact, up }
    }

    /// Does the magnitude grow when `rest` (its top bit worth one half) is rounded away?
    pub(super) fn goes_up(&self, sign: bool, odd: bool, rest: u128) -> bool {
        const HALF: u128 = 1 << 127;
        match self.rounding {
            Rounding::Nearest => rest > HALF || rest == HALF && odd,
            Rounding::Down => sign && rest != 0,
            Rounding::Up => !sign && rest != 0,
            Rounding::Zero => false,
        }
    }

    /// Masked underflow raises its flag only if the result is inexact as well (SDM vol. 1, section
    /// 4.9.1.5); unmasked, tininess alone is enough.
    fn tiny(&mut self, format: &Format, sign: bool, exponent: i32, significand: u128, unbounded: &Cut) -> Float {
        if !self.masked(UNDERFLOW) {
            self.flags |= UNDERFLOW;
            self.note(unbounded);
            let (e, s) = unbounded.normal(exponent);
            return self.wrapped(format, sign, e + WRAP, s);
        }
        if self.ftz {
            self.flags |= UNDERFLOW | INEXACT;
            return Float::zero(sign);
        }
        let shifted = shift_right_sticky(significand, (format.exponent_min - exponent) as u32);
        let cut = self.cut(sign, shifted, format.precision);
        self.note(&cut);
        if cut.inexact {
            self.flags |= UNDERFLOW;
        }
        denormalised(format, sign, cut.significand)
    }

    fn huge(&mut self, format: &Format, sign: bool, exponent: i32, significand: u64, cut: &Cut) -> Float {
        self.flags |= OVERFLOW;
        if !self.masked(OVERFLOW) {
            self.note(cut);
            return self.wrapped(format, sign, exponent - WRAP, significand);
        }
        self.flags |= INEXACT;
        self.up = match self.rounding {
            Rounding::Nearest => true,
            Rounding::Down => sign,
            Rounding::Up => !sign,
            Rounding::Zero => false,
        };
        if self.up { Float::infinity(sign) } else { Float::largest(format, sign) }
    }
}

impl Env {
    /// A result whose exponent was wrapped; `fscale` can still be out of range then.
    fn wrapped(&mut self, format: &Format, sign: bool, exponent: i32, significand: u64) -> Float {
        let small = exponent < format.exponent_min;
        let narrow = format.exponent_max != EXTENDED.exponent_max;
        if narrow || !small && exponent <= format.exponent_max {
            // In the narrow formats this result is not used.
            return Float::finite(sign, exponent, significand);
        }
        self.flags |= INEXACT;
        self.up = !small;
        if small { Float::zero(sign) } else { Float::infinity(sign) }
    }
}

fn denormalised(format: &Format, sign: bool, significand: u64) -> Float {
    if significand == 0 {
        return Float::zero(sign);
    }
    let shift = significand.leading_zeros();
    let value = Float::finite(sign, format.exponent_min - shift as i32, significand << shift);
    Float { subnormal: shift > 0, ..value }
}

impl Float {
    /// The largest finite number.
    fn largest(format: &Format, sign: bool) -> Self {
        Self::finite(sign, format.exponent_max, u64::MAX << (64 - format.precision))
    }
}

/// Shifts right; bits that fall off leave a one at the bottom.
pub(super) fn shift_right_sticky(value: u128, by: u32) -> u128 {
    match by {
        0 => value,
        1..=127 => value >> by | u128::from(value << (128 - by) != 0),
        _ => u128::from(value != 0),
    }
}
