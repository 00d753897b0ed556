//! The x87's transcendental instructions, by series in 128 bits and one rounding.
//!
//! A result is the correctly rounded one unless the true value lies within about 2^-60 of a unit in the last place from a
//! rounding boundary. Processors are allowed one unit in the last place (SDM volume 1, 8.3.10). Measured against one (Xeon of
//! 2023, 6000 corner-biased operands each): `fptan`, `fsincos`, `fpatan` differ in less than 1 of 100 cases, `f2xm1`, `fcos`,
//! `fsin`, `fyl2x`, `fyl2xp1` in 1 to 2; always by one unit in the last place, or only in C1, which says which way it was
//! rounded. No host library takes part: the bits are the same everywhere.
//!
//! Why not the host's: processors differ from each other in the last bit, and a verdict must not
//! depend on the machine. Why not a library: `libm` has no 80-bit results.

use super::wide::Wide;
use super::{Class, EXTENDED, Env, Float, INEXACT, UNDERFLOW, ZERO_DIVIDE};

/// The processor's value of pi/2 has 66 bits, in units of 2^-65; reducing by it, not by the true one, is what it documents
/// (SDM volume 1, 8.3.8).
const HALF_PI: u128 = 0x3_243f_6a88_85a3_08d3;

/// atan(k/8) for k from 1 to 8.
const ARC_TANGENTS: [Wide; 8] = [
    Wide::constant(-4, 0xfead_d4d5_617b_6e32_c897_989f_3e88_8ef7),
    Wide::constant(-3, 0xfadb_afc9_6406_eb15_6dc7_9ef5_f7a2_17e5),
    Wide::constant(-2, 0xb7b0_ca0f_26f7_8473_8aa3_2122_dcfe_4483),
    Wide::constant(-2, 0xed63_382b_0dda_7b45_6fe4_45ec_bc3a_8d03),
    Wide::constant(-1, 0x8f00_5d5e_f7f5_9f9b_5c83_5e16_65c4_3747),
    Wide::constant(-1, 0xa4bc_7d19_34f7_0924_19a8_7f2a_457d_ac9e),
    Wide::constant(-1, 0xb805_3e2b_c231_9e73_cb2d_a552_10a4_443d),
    Wide::constant(-1, 0xc90f_daa2_2168_c234_c4c6_628b_80dc_1cd1),
];

/// Below these exponents processors return the first term of the series, whatever the rounding mode.
const TINY_SINE: i32 = -68;
const TINY_TANGENT: i32 = -32;
const TINY_ARC_TANGENT: i32 = -40;

/// Processors cut these before the last rounding; with it, `fyl2x` gives their bits in 99 of 100 cases instead of 94.
const LOG_BITS: u32 = 67;
const POWER_BITS: u32 = 68;

const ONE: Float = Float { class: Class::Finite, sign: false, subnormal: false, exponent: 0, significand: 1 << 63 };

/// An angle as a multiple of pi/2 and a rest of at most pi/4.
struct Angle {
    quadrant: u32,
    rest: Wide,
}

impl Env {
    /// Sine and cosine; nothing if the angle is out of the range that the instruction takes.
    pub fn sine_cosine(&mut self, a: Float) -> Option<(Float, Float)> {
        let a = match self.angle(a) {
            Ok(a) => a,
            Err(nan) => return Some((nan, nan)),
        };
        if a.is_zero() {
            return Some((a, ONE));
        }
        if a.exponent < TINY_SINE {
            let sine = self.nearly(a);
            return Some((sine, ONE));
        }
        let angle = reduce(a)?;
        let sine = self.finish(angle.sine());
        Some((sine, self.finish(angle.cosine())))
    }

    /// The sine.
    pub fn sine(&mut self, a: Float) -> Option<Float> {
        self.of_angle(a, TINY_SINE, a, Angle::sine)
    }

    /// The cosine.
    pub fn cosine(&mut self, a: Float) -> Option<Float> {
        self.of_angle(a, TINY_SINE, ONE, Angle::cosine)
    }

    /// The tangent.
    pub fn tangent(&mut self, a: Float) -> Option<Float> {
        self.of_angle(a, TINY_TANGENT, a, Angle::tangent)
    }

    /// A function of an angle; `limit` is its value for zero, and nearly so for exponents below `tiny`.
    fn of_angle(&mut self, a: Float, tiny: i32, limit: Float, function: fn(&Angle) -> Wide) -> Option<Float> {
        let a = match self.angle(a) {
            Ok(a) => a,
            Err(nan) => return Some(nan),
        };
        if a.is_zero() {
            return Some(limit);
        }
        if a.exponent < tiny {
            return Some(self.nearly(limit));
        }
        let value = function(&reduce(a)?);
        Some(self.finish(value))
    }

    /// A result that differs from this number by too little to be rounded away from it.
    fn nearly(&mut self, a: Float) -> Float {
        let result = self.again(&EXTENDED, a);
        self.called_inexact(result)
    }

    /// Raises what an inexact result raises, even if this one happens to be exact.
    fn called_inexact(&mut self, result: Float) -> Float {
        self.flags |= INEXACT | if result.subnormal { UNDERFLOW } else { 0 };
        result
    }

    fn angle(&mut self, a: Float) -> Result<Float, Float> {
        let a = self.one(a)?;
        if a.is_infinite() {
            return Err(self.invalid());
        }
        self.note_denormal(a);
        Ok(a)
    }

    /// Rounds a value that is known to be irrational.
    fn finish(&mut self, value: Wide) -> Float {
        self.round(&EXTENDED, value.sign, value.exponent, value.significand | 1)
    }

    /// 2^a - 1 for a from -1 to 1; beyond, where the result is undefined, the operand.
    pub fn exp2_minus_1(&mut self, a: Float) -> Float {
        let a = match self.one(a) {
            Ok(a) => a,
            Err(nan) => return nan,
        };
        self.note_denormal(a);
        match a.class {
            Class::Infinite if a.sign => return Float::finite(true, 0, 1 << 63),
            Class::Zero | Class::Infinite => return a,
            _ if a.exponent > 0 || a.exponent == 0 && a.significand != 1 << 63 => return self.nearly(a),
            _ if a.exponent == 0 => return self.nearly(Float::finite(a.sign, -i32::from(a.sign), 1 << 63)),
            _ => {}
        }
        let t = Wide::from_float(a).times(Wide::LN_2);
        let sum = (2..38).rev().fold(Wide::ONE, |sum, n| Wide::ONE.plus(t.times(sum).over_small(n)));
        self.finish(t.times(sum).cut(POWER_BITS))
    }

    /// y * log2(x).
    pub fn y_log2_x(&mut self, x: Float, y: Float) -> Float {
        let (x, y) = match self.two(x, y) {
            Ok(pair) => pair,
            Err(nan) => return nan,
        };
        let one = x.class == Class::Finite && x.exponent == 0 && x.significand == 1 << 63;
        let positive = x.is_infinite() || x.class == Class::Finite && x.exponent >= 0;
        if x.sign && !x.is_zero() || y.is_zero() && (x.is_zero() || x.is_infinite()) || y.is_infinite() && one {
            return self.invalid();
        }
        if x.is_zero() {
            if !y.is_infinite() {
                self.flags |= ZERO_DIVIDE;
            }
            return Float::infinity(!y.sign);
        }
        self.note_denormal(x);
        self.note_denormal(y);
        if x.is_infinite() || y.is_infinite() {
            return Float::infinity(y.sign == positive);
        }
        if y.is_zero() || one {
            return Float::zero(y.sign == positive);
        }
        self.times_log2(y, x)
    }

    fn times_log2(&mut self, y: Float, x: Float) -> Float {
        if x.significand == 1 << 63 {
            // Exact, but called inexact all the same.
            let exponent = super::exact_integer(i64::from(x.exponent));
            let product = self.multiply(&EXTENDED, Float { subnormal: false, ..y }, exponent);
            return self.called_inexact(product);
        }
        let log = log2(Wide::from_float(x)).cut(LOG_BITS);
        self.finish(Wide::from_float(y).times(log))
    }

    /// y * log2(x + 1).
    pub fn y_log2_x_plus_1(&mut self, x: Float, y: Float) -> Float {
        let (x, y) = match self.two(x, y) {
            Ok(pair) => pair,
            Err(nan) => return nan,
        };
        if x.is_infinite() && (x.sign || y.is_zero()) || y.is_infinite() && x.is_zero() {
            return self.invalid();
        }
        self.note_denormal(x);
        self.note_denormal(y);
        let sign = x.sign != y.sign;
        if x.is_infinite() || y.is_infinite() {
            return Float::infinity(sign);
        }
        if x.is_zero() || y.is_zero() {
            return Float::zero(sign);
        }
        if x.sign && x.exponent >= 0 {
            // No logarithm, and nothing is promised: the operand comes back.
            return self.nearly(x);
        }
        let (x, y) = (Wide::from_float(x), Wide::from_float(y));
        // Near zero, adding one would lose digits.
        let log = match x.exponent {
            ..-2 => log2_by_ratio(x.over(Wide::from_integer(2).plus(x))),
            _ => log2(Wide::ONE.plus(x)),
        };
        if log.is_zero() {
            return Float::zero(sign);
        }
        self.finish(y.times(log.cut(LOG_BITS)))
    }

    /// The angle of the point (x, y).
    pub fn arc_tangent(&mut self, y: Float, x: Float) -> Float {
        let (y, x) = match self.two(y, x) {
            Ok(pair) => pair,
            Err(nan) => return nan,
        };
        self.note_denormal(y);
        self.note_denormal(x);
        let finite = y.class == Class::Finite && x.class == Class::Finite;
        if finite && !x.sign && y.exponent - x.exponent < TINY_ARC_TANGENT {
            let ratio = self.divide(&EXTENDED, y, x);
            return self.called_inexact(ratio);
        }
        let half_pi = Wide::PI.scaled(-1);
        let right = match (y.class, x.class) {
            (Class::Infinite, Class::Infinite) => Wide::PI.scaled(-2),
            (Class::Infinite, _) => half_pi,
            (Class::Zero, _) | (_, Class::Infinite) => Wide::ZERO,
            (_, Class::Zero) => half_pi,
            _ => first_quadrant(Wide::from_float(y).magnitude(), Wide::from_float(x).magnitude()),
        };
        let angle = if x.sign { Wide::PI.minus(right) } else { right };
        if angle.is_zero() {
            return Float::zero(y.sign);
        }
        self.finish(Wide { sign: y.sign, ..angle })
    }
}

/// Takes out multiples of pi/2.
///
/// Angles of 2^63 and more are refused with C2, as the instruction documents; programs are expected
/// to reduce them first.
fn reduce(a: Float) -> Option<Angle> {
    match a.exponent {
        63.. => None,
        -2..63 => {
            let units = u128::from(a.significand) << (a.exponent + 2);
            let (mut quadrant, rest) = (units / HALF_PI, units % HALF_PI);
            let mut rest = Wide::new(a.sign, 127 - 65, rest);
            if rest.is_larger(Wide::new(false, 127 - 66, HALF_PI)) {
                quadrant += 1;
                rest = rest.minus(Wide::new(a.sign, 127 - 65, HALF_PI));
            }
            let quadrant = (quadrant & 3) as u32;
            Some(Angle { quadrant: if a.sign { (4 - quadrant) & 3 } else { quadrant }, rest })
        }
        _ => Some(Angle { quadrant: 0, rest: Wide::from_float(a) }),
    }
}

impl Angle {
    fn sine(&self) -> Wide {
        let value = if self.quadrant & 1 == 0 { self.odd() } else { self.even() };
        if self.quadrant & 2 == 0 { value } else { value.negated() }
    }

    fn cosine(&self) -> Wide {
        Angle { quadrant: (self.quadrant + 1) & 3, rest: self.rest }.sine()
    }

    fn tangent(&self) -> Wide {
        self.sine().over(self.cosine())
    }

    /// r - r^3/3! + r^5/5! ...
    fn odd(&self) -> Wide {
        let square = self.rest.times(self.rest);
        let sum = (1..18u32)
            .rev()
            .fold(Wide::ONE, |sum, n| Wide::ONE.minus(square.times(sum).over_small(2 * n * (2 * n + 1))));
        self.rest.times(sum)
    }

    /// 1 - r^2/2! + r^4/4! ...
    fn even(&self) -> Wide {
        let square = self.rest.times(self.rest);
        (1..18u32).rev().fold(Wide::ONE, |sum, n| Wide::ONE.minus(square.times(sum).over_small(2 * n * (2 * n - 1))))
    }
}

/// The logarithm of a positive number.
fn log2(x: Wide) -> Wide {
    // A significand from sqrt(1/2) to sqrt(2), so that no digits cancel.
    let above = i32::from(x.significand >> 64 > 0xb504_f333_f9de_6484);
    let m = Wide { exponent: -above, ..x };
    let s = m.minus(Wide::ONE).over(m.plus(Wide::ONE));
    log2_by_ratio(s).plus(Wide::from_integer(x.exponent + above))
}

/// log2((1 + s) / (1 - s)) = 2 log2(e) (s + s^3/3 + s^5/5 ...).
fn log2_by_ratio(s: Wide) -> Wide {
    let square = s.times(s);
    let sum = (0..28u32).rev().fold(Wide::ZERO, |sum, n| Wide::ONE.over_small(2 * n + 1).plus(square.times(sum)));
    s.times(sum).times(Wide::LOG2_E).scaled(1)
}

/// The angle of a point with positive coordinates.
fn first_quadrant(y: Wide, x: Wide) -> Wide {
    if y.is_larger(x) {
        return Wide::PI.scaled(-1).minus(arc_tangent(x.over(y)));
    }
    arc_tangent(y.over(x))
}

/// atan(t) for t from 0 to 1: by the nearest eighth and a short series.
fn arc_tangent(t: Wide) -> Wide {
    let sixteenths = if t.exponent < -4 { 0 } else { (t.significand >> (123 - t.exponent)) as i32 };
    let eighths = (sixteenths + 1) / 2;
    if eighths == 0 {
        return arc_tangent_series(t);
    }
    let c = Wide::from_integer(eighths).scaled(-3);
    let u = t.minus(c).over(Wide::ONE.plus(t.times(c)));
    ARC_TANGENTS[eighths as usize - 1].plus(arc_tangent_series(u))
}

fn arc_tangent_series(u: Wide) -> Wide {
    let square = u.times(u);
    let sum = (0..18u32).rev().fold(Wide::ZERO, |sum, n| Wide::ONE.over_small(2 * n + 1).minus(square.times(sum)));
    u.times(sum)
}
