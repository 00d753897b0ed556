//! `fprem`, `fprem1`, `fscale`, `fxtract`.
//!
//! `fprem` is the one x87 operation that loops in software: each step takes at most 63 off the
//! difference of exponents, and programs repeat it while C2 is set.

use super::{Class, EXTENDED, Env, Float, ZERO_DIVIDE};

/// How the quotient of a remainder is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quotient {
    /// Towards zero (`fprem`).
    Truncated,
    /// To nearest (`fprem1`, IEEE 754).
    Nearest,
}

/// What a remainder step gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remainder {
    /// The remainder, or the partly reduced dividend.
    pub value: Float,
    /// The three lowest bits of the quotient, if it is known.
    pub quotient: Option<u8>,
    /// Is the reduction complete?
    pub complete: bool,
}

impl Remainder {
    fn whole(value: Float) -> Self {
        Self { value, quotient: Some(0), complete: true }
    }

    fn invalid(value: Float) -> Self {
        Self { value, quotient: None, complete: true }
    }
}

impl Env {
    /// One step of `a` modulo `b`: complete if their exponents differ by less than 64.
    pub fn remainder(&mut self, kind: Quotient, a: Float, b: Float) -> Remainder {
        let (a, b) = match self.two(a, b) {
            Ok(pair) => pair,
            Err(nan) => return Remainder::invalid(nan),
        };
        if a.is_infinite() || b.is_zero() {
            return Remainder::invalid(self.invalid());
        }
        self.note_denormal(a);
        self.note_denormal(b);
        // Before an infinity a dividend comes back as it is, not even tiny; before a number it is rounded once more.
        if a.is_zero() || b.is_infinite() {
            return Remainder::whole(a);
        }
        match a.exponent - b.exponent {
            ..-1 => Remainder::whole(self.again(&EXTENDED, a)),
            apart @ -1..64 => self.reduce(kind, apart, a, b),
            apart => self.reduce_partly(apart, a, b),
        }
    }

    fn reduce(&mut self, kind: Quotient, apart: i32, a: Float, b: Float) -> Remainder {
        // In units of the last place of `b`, or half of it if `b` is up to twice as large.
        let divisor = u128::from(b.significand) << u32::from(apart < 0);
        let dividend = u128::from(a.significand) << apart.max(0);
        let (mut quotient, mut rest) = (dividend / divisor, dividend % divisor);
        let mut sign = a.sign;
        let more = rest * 2 > divisor || rest * 2 == divisor && quotient & 1 != 0;
        if kind == Quotient::Nearest && more {
            quotient += 1;
            rest = divisor - rest;
            sign = !sign;
        }
        let value = self.scaled(sign, b.exponent + apart.min(0), rest, a.sign);
        Remainder { value, quotient: Some((quotient & 7) as u8), complete: true }
    }

    /// The exponents come closer by 32 to 63; processors agree on which by taking the difference modulo 32.
    fn reduce_partly(&mut self, apart: i32, a: Float, b: Float) -> Remainder {
        let step = apart & 31 | 32;
        let rest = (u128::from(a.significand) << step) % u128::from(b.significand);
        let value = self.scaled(a.sign, b.exponent + apart - step, rest, a.sign);
        Remainder { value, quotient: Some(0), complete: false }
    }

    /// `rest` units of the last place of a 64-bit significand with this exponent; a zero has the dividend's sign.
    fn scaled(&mut self, sign: bool, exponent: i32, rest: u128, sign_of_zero: bool) -> Float {
        if rest == 0 {
            return Float::zero(sign_of_zero);
        }
        self.round(&EXTENDED, sign, exponent + 64, rest)
    }

    /// `fscale`: `a` times two to the power of `b` truncated.
    pub fn scale(&mut self, a: Float, b: Float) -> Float {
        let (a, b) = match self.two(a, b) {
            Ok(pair) => pair,
            Err(nan) => return nan,
        };
        let up = b.is_infinite() && !b.sign;
        let down = b.is_infinite() && b.sign;
        if a.is_zero() && up || a.is_infinite() && down {
            return self.invalid();
        }
        self.note_denormal(a);
        self.note_denormal(b);
        match a.class {
            Class::Zero | Class::Infinite => a,
            _ if up => Float::infinity(a.sign),
            _ if down => Float::zero(a.sign),
            _ => self.again(&EXTENDED, Float { exponent: a.exponent + truncated(b), ..a }),
        }
    }

    /// `fxtract`: exponent and significand, both as numbers.
    pub fn extract(&mut self, a: Float) -> (Float, Float) {
        let a = match self.one(a) {
            Ok(a) => a,
            Err(nan) => return (nan, nan),
        };
        self.note_denormal(a);
        match a.class {
            Class::Zero => {
                self.flags |= ZERO_DIVIDE;
                (Float::infinity(true), a)
            }
            Class::Infinite => (Float::infinity(false), a),
            _ => (super::exact_integer(i64::from(a.exponent)), Float { exponent: 0, subnormal: false, ..a }),
        }
    }
}

/// A scale as an integer, limited to what takes any number out of range.
fn truncated(b: Float) -> i32 {
    match b.exponent {
        _ if b.is_zero() => 0,
        ..0 => 0,
        0..=16 => {
            let magnitude = (b.significand >> (63 - b.exponent)) as i32;
            if b.sign { -magnitude } else { magnitude }
        }
        _ => {
            if b.sign {
                -0x1_0000
            } else {
                0x1_0000
            }
        }
    }
}
