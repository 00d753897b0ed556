//! Floating point by integer arithmetic: the same bits and the same flags on every host.
//!
//! Every operation goes *unpack -> exact (or sticky) result -> round -> pack*. A [`Float`] is a number taken apart; an [`Env`] is
//! the part of MXCSR or of the x87 control word that steers it, and collects the exception flags. The manual's tables are Intel
//! SDM volume 1, chapters 4.8, 4.9, 8.5 and 11.5.

mod arithmetic;
mod compare;
mod convert;
mod format;
mod remainder;
mod round;
#[cfg(test)]
mod tests;
mod transcendental;
mod wide;

pub use compare::{Order, Quiet};
pub use convert::exact_integer;
pub use format::{EXTENDED, F32, F64, F80, Format, Real};
pub use remainder::{Quotient, Remainder};

/// Invalid operation, as MXCSR and the x87 status word number it.
pub const INVALID: u8 = 1;
/// An operand is denormal.
pub const DENORMAL: u8 = 2;
/// Division by zero.
pub const ZERO_DIVIDE: u8 = 4;
/// The result is too large.
pub const OVERFLOW: u8 = 8;
/// The result is tiny.
pub const UNDERFLOW: u8 = 16;
/// The result was rounded.
pub const INEXACT: u8 = 32;
/// Exceptions found by looking at the operands; an unmasked one stops the operation before a result exists.
pub const BEFORE: u8 = INVALID | DENORMAL | ZERO_DIVIDE;

/// Where a result between two numbers goes; numbered as the RC fields are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// To the nearer, ties to even.
    Nearest,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
    /// Towards zero.
    Zero,
}

impl Rounding {
    /// From the two bits of an RC field.
    pub fn from_bits(bits: u32) -> Self {
        [Self::Nearest, Self::Down, Self::Up, Self::Zero][bits as usize & 3]
    }
}

/// Which of two NaN operands becomes the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NanRule {
    /// SSE: the first one.
    First,
    /// x87: a quiet one before a signaling one, then the larger significand, then the positive one.
    Larger,
}

/// What kind of datum a [`Float`] is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Plus or minus zero.
    Zero,
    /// A nonzero number, normal or not.
    Finite,
    /// Plus or minus infinity.
    Infinite,
    /// A NaN that passes through silently.
    Quiet,
    /// A NaN whose use is invalid.
    Signaling,
    /// An 80-bit pattern with exponent but no integer bit: invalid since the 387.
    Unsupported,
}

/// A number taken apart: `significand / 2^63 * 2^exponent`, the significand's top bit set if finite.
///
/// For a NaN the significand is the payload, left-aligned, with the quiet bit at 62.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Float {
    /// Its kind.
    pub class: Class,
    /// Is it negative?
    pub sign: bool,
    /// Was it stored with the lowest exponent and shifted down? Raises the denormal exception when used.
    pub subnormal: bool,
    /// The exponent of the top bit.
    pub exponent: i32,
    /// The bits, left-aligned.
    pub significand: u64,
}

impl Float {
    /// The NaN that an invalid operation gives ("real indefinite").
    pub const INDEFINITE: Self =
        Self { class: Class::Quiet, sign: true, subnormal: false, exponent: 0, significand: 3 << 62 };

    /// A zero of the given sign.
    pub fn zero(sign: bool) -> Self {
        Self { class: Class::Zero, sign, subnormal: false, exponent: 0, significand: 0 }
    }

    /// An infinity of the given sign.
    pub fn infinity(sign: bool) -> Self {
        Self { class: Class::Infinite, sign, subnormal: false, exponent: 0, significand: 1 << 63 }
    }

    /// A finite number.
    pub fn finite(sign: bool, exponent: i32, significand: u64) -> Self {
        Self { class: Class::Finite, sign, subnormal: false, exponent, significand }
    }

    /// Is it a NaN of either kind?
    pub fn is_nan(self) -> bool {
        matches!(self.class, Class::Quiet | Class::Signaling)
    }

    /// Is it a zero?
    pub fn is_zero(self) -> bool {
        self.class == Class::Zero
    }

    /// Is it an infinity?
    pub fn is_infinite(self) -> bool {
        self.class == Class::Infinite
    }

    /// The same NaN, quiet.
    pub fn quieted(self) -> Self {
        Self { class: Class::Quiet, significand: self.significand | 3 << 62, ..self }
    }

    /// With the other sign.
    pub fn negated(self) -> Self {
        Self { sign: !self.sign, ..self }
    }
}

/// How to compute, and what went wrong so far.
#[derive(Clone, Copy, Debug)]
pub struct Env {
    /// Rounding mode.
    pub rounding: Rounding,
    /// Exceptions that are masked, numbered as the flags.
    pub masks: u8,
    /// Flags raised; only ever added to.
    pub flags: u8,
    /// Did the last rounding enlarge the magnitude? (C1 of the x87.)
    pub up: bool,
    /// Take denormal operands as zeros.
    pub daz: bool,
    /// Give zeros instead of denormal results, where underflow is masked.
    pub ftz: bool,
    /// Which NaN wins.
    pub nans: NanRule,
}

impl Env {
    /// As MXCSR says.
    pub fn from_mxcsr(mxcsr: u32) -> Self {
        Self {
            rounding: Rounding::from_bits(mxcsr >> 13),
            masks: (mxcsr >> 7 & 0x3f) as u8,
            flags: 0,
            up: false,
            daz: mxcsr & 0x40 != 0,
            ftz: mxcsr & 0x8000 != 0,
            nans: NanRule::First,
        }
    }

    /// As an x87 control word says.
    pub fn from_control(control: u16) -> Self {
        Self {
            rounding: Rounding::from_bits(u32::from(control) >> 10),
            masks: (control & 0x3f) as u8,
            flags: 0,
            up: false,
            daz: false,
            ftz: false,
            nans: NanRule::Larger,
        }
    }

    /// Flags raised and not masked.
    pub fn unmasked(&self) -> u8 {
        self.flags & !self.masks
    }

    /// Is this exception masked?
    pub fn masked(&self, flag: u8) -> bool {
        self.masks & flag != 0
    }

    /// Raises "invalid" and gives the default NaN.
    pub fn invalid(&mut self) -> Float {
        self.flags |= INVALID;
        Float::INDEFINITE
    }

    /// The operand as arithmetic sees it: zero for a denormal under DAZ.
    pub fn flush(&self, a: Float) -> Float {
        if self.daz && a.subnormal { Float::zero(a.sign) } else { a }
    }

    /// Raises "denormal" for such an operand.
    pub fn note_denormal(&mut self, a: Float) {
        if a.subnormal {
            self.flags |= DENORMAL;
        }
    }

    /// One operand ready for arithmetic, or the NaN that is the result already.
    pub(crate) fn one(&mut self, a: Float) -> Result<Float, Float> {
        match a.class {
            Class::Unsupported => Err(self.invalid()),
            Class::Quiet => Err(a),
            Class::Signaling => {
                self.flags |= INVALID;
                Err(a.quieted())
            }
            _ => Ok(self.flush(a)),
        }
    }

    /// Two operands ready for arithmetic, or the NaN that is the result already.
    pub(crate) fn two(&mut self, a: Float, b: Float) -> Result<(Float, Float), Float> {
        if a.class == Class::Unsupported || b.class == Class::Unsupported {
            return Err(self.invalid());
        }
        if !a.is_nan() && !b.is_nan() {
            return Ok((self.flush(a), self.flush(b)));
        }
        if a.class == Class::Signaling || b.class == Class::Signaling {
            self.flags |= INVALID;
        }
        Err(self.choose_nan(a, b).quieted())
    }

    fn choose_nan(&self, a: Float, b: Float) -> Float {
        match (a.is_nan(), b.is_nan()) {
            (true, false) => a,
            (false, _) => b,
            _ if self.nans == NanRule::First => a,
            _ => larger_nan(a, b),
        }
    }
}

/// SDM volume 1, table 4-7, the x87 column.
fn larger_nan(a: Float, b: Float) -> Float {
    match (a.class, b.class) {
        (Class::Signaling, Class::Quiet) => return b,
        (Class::Quiet, Class::Signaling) => return a,
        _ => {}
    }
    match a.significand.cmp(&b.significand) {
        std::cmp::Ordering::Greater => a,
        std::cmp::Ordering::Less => b,
        std::cmp::Ordering::Equal => {
            if a.sign {
                b
            } else {
                a
            }
        }
    }
}
