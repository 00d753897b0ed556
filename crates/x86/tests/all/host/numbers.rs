//! Operands that find mistakes: corners of every format, and neighbours of each other.

use crate::host::random::Random;

/// What the lanes of a vector are taken for.
#[derive(Clone, Copy)]
pub enum Style {
    Integers,
    Singles,
    Doubles,
    Text,
}

impl Style {
    pub fn any(random: &mut Random) -> Self {
        random.pick(&[Self::Integers, Self::Singles, Self::Singles, Self::Doubles, Self::Doubles, Self::Text])
    }
}

/// An integer near a power of two, near zero, or anything.
pub fn integer(random: &mut Random) -> u64 {
    let power = 1u64 << random.below(64);
    match random.below(8) {
        0 => random.below(4),
        1 => power,
        2 => power - 1,
        3 => power.wrapping_neg(),
        4 => random.next() >> random.below(64),
        5 => (random.next() as i64 >> random.below(64)) as u64,
        6 => random.pick(&[
            0,
            1,
            u64::MAX,
            0x80,
            0xff,
            0x7f,
            0x8000,
            0x7fff,
            1 << 31,
            (1 << 31) - 1,
            1 << 63,
            (1 << 63) - 1,
        ]),
        _ => random.next(),
    }
}

/// A floating-point number by its fields: exponents near the ends, near the middle or anywhere; fractions sparse or dense.
fn fields(random: &mut Random, exponent_bits: u32, fraction_bits: u32) -> (u64, u64, u64) {
    let top = (1u64 << exponent_bits) - 1;
    let middle = top / 2;
    let near = |random: &mut Random, centre: u64, spread: u64| {
        (centre + random.below(2 * spread + 1)).saturating_sub(spread) & top
    };
    let exponent = match random.below(16) {
        0..2 => 0,
        2 => 1,
        3 => top,
        4 => top - 1,
        5..9 => near(random, middle, 3),
        9..11 => near(random, middle, u64::from(fraction_bits)),
        11 => near(random, middle / 2, 2 * u64::from(fraction_bits)),
        12 => near(random, middle + middle / 2, 2 * u64::from(fraction_bits)),
        13 => near(random, u64::from(fraction_bits), u64::from(fraction_bits)),
        14 => middle + random.pick(&[14, 15, 16, 30, 31, 32, 62, 63, 64]),
        _ => random.next() & top,
    };
    (random.next() & 1, exponent & top, fraction(random, fraction_bits))
}

fn fraction(random: &mut Random, bits: u32) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    mask & match random.below(8) {
        0..2 => 0,
        2 => mask,
        3 => 1,
        4 => 1 << random.below(bits.into()),
        5 => mask << random.below(bits.into()),
        6 => 1 << (bits - 1) | random.below(4),
        _ => random.next(),
    }
}

pub fn single(random: &mut Random) -> u32 {
    let (sign, exponent, fraction) = fields(random, 8, 23);
    (sign << 31 | exponent << 23 | fraction) as u32
}

pub fn double(random: &mut Random) -> u64 {
    let (sign, exponent, fraction) = fields(random, 11, 52);
    sign << 63 | exponent << 52 | fraction
}

/// An 80-bit number, mostly with the integer bit that its exponent asks for.
pub fn extended(random: &mut Random) -> u128 {
    let (sign, mut exponent, fraction) = fields(random, 15, 63);
    if random.percent(30) {
        exponent = 16383 + random.below(70) - 3;
    }
    let normal = u64::from(exponent != 0);
    let integer = if random.percent(97) { normal } else { 1 - normal };
    u128::from(sign << 15 | exponent) << 64 | u128::from(integer << 63 | fraction)
}

/// A vector of lanes in some style.
pub fn vector(random: &mut Random, style: Style) -> u128 {
    match style {
        Style::Integers => u128::from(integer(random)) << 64 | u128::from(integer(random)),
        Style::Singles => (0..4).fold(0, |v, _| v << 32 | u128::from(single(random))),
        Style::Doubles => u128::from(double(random)) << 64 | u128::from(double(random)),
        // Few letters and some ends, so that strings match.
        Style::Text => (0..16).fold(0, |v, _| v << 8 | u128::from(random.pick(b"aabbc\0z\xff"))),
    }
}

/// The same vector, or one that differs a little: for sums that cancel and comparisons that hold.
pub fn neighbour(random: &mut Random, of: u128) -> u128 {
    let signs = 0x8000_0000_8000_0000_8000_0000_8000_0000;
    match random.below(5) {
        0 => of,
        1 => of ^ signs,
        2 => of ^ 1u128 << random.below(128),
        3 => of.wrapping_add(1 << (32 * random.below(4))),
        _ => of.rotate_left(64) ^ 1 << 63,
    }
}
