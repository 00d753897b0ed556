//! What can be checked on any host: against Rust's own arithmetic, and against known digits.

use super::*;

/// Operands near each other, near the ends, and anywhere.
fn operands() -> Vec<u64> {
    let mut seed = 1u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        seed ^ seed >> 29
    };
    let corners = [0.0, 1.0, 1.5, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY, 5e-324, 2.5e-310, 1e300, 3.0, 0.1];
    let mut all: Vec<u64> = corners.iter().flat_map(|x: &f64| [x.to_bits(), (-x).to_bits()]).collect();
    for _ in 0..60 {
        let bits = next();
        all.extend([bits, bits & !(0x7ff << 52) | (1000 + next() % 50) << 52]);
    }
    all
}

fn env() -> Env {
    Env::from_mxcsr(0x1f80)
}

/// NaNs aside, whose payload Rust does not promise.
fn same(ours: F64, host: f64) -> bool {
    ours.0 == host.to_bits() || host.is_nan() && ours.unpack().is_nan()
}

#[test]
fn doubles_are_added_multiplied_and_divided_as_rust_does() {
    let (all, format) = (operands(), F64::FORMAT);
    for &a in &all {
        for &b in &all {
            let (x, y) = (F64(a).unpack(), F64(b).unpack());
            let (p, q) = (f64::from_bits(a), f64::from_bits(b));
            assert!(same(F64::pack(env().add(&format, x, y)), p + q), "{p:e} + {q:e}");
            assert!(same(F64::pack(env().subtract(&format, x, y)), p - q), "{p:e} - {q:e}");
            assert!(same(F64::pack(env().multiply(&format, x, y)), p * q), "{p:e} * {q:e}");
            assert!(same(F64::pack(env().divide(&format, x, y)), p / q), "{p:e} / {q:e}");
        }
        let root = F64::pack(env().square_root(&format, F64(a).unpack()));
        assert!(same(root, f64::from_bits(a).sqrt()), "sqrt {:e}", f64::from_bits(a));
    }
}

#[test]
fn doubles_become_singles_and_integers_as_rust_does() {
    for a in operands() {
        let (x, p) = (F64(a).unpack(), f64::from_bits(a));
        let single = F32::pack(env().convert(&F32::FORMAT, x));
        assert!(single.0 == (p as f32).to_bits() || p.is_nan(), "{p:e}");
        let truncated = env().integer_of(Rounding::Zero, 64, x);
        let fits = p.trunc() >= -9223372036854775808.0 && p.trunc() < 9223372036854775808.0;
        assert_eq!(truncated, fits.then_some(p as i64), "{p:e}");
        let integral = F64::pack(env().integral_of(Rounding::Nearest, true, x));
        assert!(same(integral, p.round_ties_even()), "{p:e}");
    }
}

#[test]
fn an_inexact_sum_raises_precision_and_an_exact_one_nothing() {
    let sum = |a: f64, b: f64| {
        let mut env = env();
        env.add(&F64::FORMAT, F64(a.to_bits()).unpack(), F64(b.to_bits()).unpack());
        env.flags
    };
    assert_eq!(sum(1.0, 2.0), 0);
    assert_eq!(sum(1.0, 1e-30), INEXACT);
    assert_eq!(sum(f64::MAX, f64::MAX), OVERFLOW | INEXACT);
    assert_eq!(sum(5e-324, 1.0), DENORMAL | INEXACT);
}

#[test]
fn transcendental_functions_have_the_digits_of_the_tables() {
    let mut env = Env::from_control(0x37f);
    let one = Float::finite(false, 0, 1 << 63);
    // sin 1, cos 1, log2 3, sqrt 2 - 1, pi / 4, each cut to 64 bits and rounded.
    assert_eq!(env.sine(one).map(|s| s.significand), Some(0xd76a_a478_4867_7021));
    assert_eq!(env.cosine(one).map(|c| c.significand), Some(0x8a51_407d_a834_5c92));
    let three = Float::finite(false, 1, 3 << 62);
    assert_eq!(env.y_log2_x(three, one).significand, 0xcae0_0d1c_fdeb_43d0);
    let half = Float::finite(false, -1, 1 << 63);
    assert_eq!(env.exp2_minus_1(half).significand, 0xd413_cccf_e779_9211);
    assert_eq!(env.arc_tangent(one, one).significand, 0xc90f_daa2_2168_c235);
}

#[test]
fn a_sine_of_a_huge_angle_is_refused() {
    let mut env = Env::from_control(0x37f);
    assert_eq!(env.sine(Float::finite(false, 63, 1 << 63)), None);
}
