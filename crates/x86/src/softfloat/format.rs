//! The three storage formats: bits to [`Float`] and back.

use super::{Class, Float};

/// What a result is rounded to: how many bits, and which exponents are normal.
///
/// The x87's precision control asks for 24 or 53 bits with the exponents of 80-bit numbers, so this is not the storage format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Bits of the significand, the leading one included.
    pub precision: u32,
    /// Exponent of the smallest normal number.
    pub exponent_min: i32,
    /// Exponent of the largest number.
    pub exponent_max: i32,
}

/// 32-bit numbers.
pub const SINGLE: Format = Format { precision: 24, exponent_min: -126, exponent_max: 127 };
/// 64-bit numbers.
pub const DOUBLE: Format = Format { precision: 53, exponent_min: -1022, exponent_max: 1023 };
/// 80-bit numbers.
pub const EXTENDED: Format = Format { precision: 64, exponent_min: -16382, exponent_max: 16383 };

/// A stored number.
pub trait Real: Copy {
    /// Its format.
    const FORMAT: Format;
    /// Takes it apart.
    fn unpack(self) -> Float;
    /// Puts together a number that has been rounded to this format.
    fn pack(value: Float) -> Self;
}

/// The bits of a 32-bit number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct F32(pub u32);

/// The bits of a 64-bit number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct F64(pub u64);

/// An 80-bit number, as the x87 holds it.
///
/// The integer bit is explicit, so there are encodings that mean nothing (pseudo-infinities,
/// pseudo-NaNs, unnormals: SDM vol. 1, section 8.2.2); processors since the 387 treat them as
/// invalid operands, and so does [`Class::Unsupported`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct F80 {
    /// Sign in bit 15, biased exponent below.
    pub sign_exponent: u16,
    /// Integer bit in bit 63, fraction below.
    pub significand: u64,
}

impl F80 {
    /// Plus zero.
    pub const ZERO: Self = Self { sign_exponent: 0, significand: 0 };

    /// The biased exponent.
    pub fn exponent(self) -> u16 {
        self.sign_exponent & 0x7fff
    }

    /// From the ten bytes in memory.
    pub fn from_bits(bits: u128) -> Self {
        Self { sign_exponent: (bits >> 64) as u16, significand: bits as u64 }
    }

    /// The ten bytes in memory.
    pub fn bits(self) -> u128 {
        u128::from(self.sign_exponent) << 64 | u128::from(self.significand)
    }
}

impl Real for F32 {
    const FORMAT: Format = SINGLE;
    #[inline]
    fn unpack(self) -> Float {
        unpack::<23>(self.0 >> 31 != 0, u64::from(self.0) >> 23 & 0xff, u64::from(self.0), &SINGLE)
    }
    #[inline]
    fn pack(value: Float) -> Self {
        let (exponent, fraction) = fields::<23>(value, &SINGLE);
        Self(u32::from(value.sign) << 31 | (exponent << 23 | fraction) as u32)
    }
}

impl Real for F64 {
    const FORMAT: Format = DOUBLE;
    #[inline]
    fn unpack(self) -> Float {
        unpack::<52>(self.0 >> 63 != 0, self.0 >> 52 & 0x7ff, self.0, &DOUBLE)
    }
    #[inline]
    fn pack(value: Float) -> Self {
        let (exponent, fraction) = fields::<52>(value, &DOUBLE);
        Self(u64::from(value.sign) << 63 | exponent << 52 | fraction)
    }
}

impl Real for F80 {
    const FORMAT: Format = EXTENDED;
    fn unpack(self) -> Float {
        let sign = self.sign_exponent >> 15 != 0;
        match (self.exponent(), self.significand >> 63) {
            (0, _) if self.significand == 0 => Float::zero(sign),
            // A pseudo-denormal (integer bit set) counts as denormal too.
            (0, _) => subnormal(sign, EXTENDED.exponent_min, self.significand),
            (_, 0) => {
                Float { class: Class::Unsupported, sign, subnormal: false, exponent: 0, significand: self.significand }
            }
            (0x7fff, _) => special(sign, self.significand),
            (e, _) => Float::finite(sign, i32::from(e) - 16383, self.significand),
        }
    }
    fn pack(value: Float) -> Self {
        let (exponent, significand) = match value.class {
            Class::Zero => (0, 0),
            Class::Finite if value.exponent < EXTENDED.exponent_min => {
                (0, value.significand >> (EXTENDED.exponent_min - value.exponent).min(63))
            }
            Class::Finite => (value.exponent + 16383, value.significand),
            _ => (0x7fff, value.significand),
        };
        Self { sign_exponent: u16::from(value.sign) << 15 | exponent as u16 & 0x7fff, significand }
    }
}

#[inline]
fn unpack<const FRACTION: u32>(sign: bool, exponent: u64, bits: u64, format: &Format) -> Float {
    let aligned = bits << (63 - FRACTION) & (u64::MAX >> 1);
    let top = 2 * format.exponent_max as u64 + 1;
    match exponent {
        0 if aligned == 0 => Float::zero(sign),
        0 => subnormal(sign, format.exponent_min, aligned),
        e if e == top => special(sign, aligned | 1 << 63),
        e => Float::finite(sign, e as i32 - format.exponent_max, aligned | 1 << 63),
    }
}

fn subnormal(sign: bool, exponent: i32, significand: u64) -> Float {
    let shift = significand.leading_zeros();
    Float { subnormal: true, ..Float::finite(sign, exponent - shift as i32, significand << shift) }
}

fn special(sign: bool, significand: u64) -> Float {
    let class = match (significand << 1, significand >> 62 & 1) {
        (0, _) => Class::Infinite,
        (_, 1) => Class::Quiet,
        _ => Class::Signaling,
    };
    Float { class, sign, subnormal: false, exponent: 0, significand }
}

#[inline]
fn fields<const FRACTION: u32>(value: Float, format: &Format) -> (u64, u64) {
    let fraction = |significand: u64| significand << 1 >> (64 - FRACTION);
    match value.class {
        Class::Zero => (0, 0),
        Class::Finite if value.exponent < format.exponent_min => {
            (0, fraction(value.significand >> (format.exponent_min - value.exponent).min(63)))
        }
        Class::Finite => ((value.exponent + format.exponent_max) as u64, fraction(value.significand)),
        _ => (2 * format.exponent_max as u64 + 1, fraction(value.significand)),
    }
}
