//! Sine to logarithm.
//!
//! The functions themselves are in `softfloat/transcendental.rs`; here are operands, stack faults
//! and C2, which says that an argument is beyond 2^63 and was left alone.

use iced_x86::{Instruction, Mnemonic};

use super::unit::{Pop, Work, value};
use crate::machine::{Machine, Trap};
use crate::row::Row;
use crate::softfloat::{Env, F80, Float, Real};

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Fsin, |m, i| of_angle(m, i, Env::sine)),
    (Mnemonic::Fcos, |m, i| of_angle(m, i, Env::cosine)),
    (Mnemonic::Fsincos, |m, i| pair(m, i, Env::sine_cosine)),
    (Mnemonic::Fptan, |m, i| pair(m, i, |e, a| e.tangent(a).map(|t| (t, if t.is_nan() { t } else { ONE })))),
    (Mnemonic::Fpatan, |m, i| of_two(m, i, |e, x, y| e.arc_tangent(y, x))),
    (Mnemonic::Fyl2x, |m, i| of_two(m, i, Env::y_log2_x)),
    (Mnemonic::Fyl2xp1, |m, i| of_two(m, i, Env::y_log2_x_plus_1)),
    (Mnemonic::F2xm1, |m, i| of_angle(m, i, |e, a| Some(e.exp2_minus_1(a)))),
];

const ONE: Float =
    Float { class: crate::softfloat::Class::Finite, sign: false, subnormal: false, exponent: 0, significand: 1 << 63 };
/// Set when the operand is out of range and nothing was done.
const C2: u16 = 0x400;

/// A function of ST(0).
fn of_angle(m: &mut Machine<'_>, i: &Instruction, f: fn(&mut Env, Float) -> Option<Float>) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let clears_c2 = i.mnemonic() != Mnemonic::F2xm1;
    let result = match value(&m.cpu.x87, 0) {
        Some(a) => f(&mut work.env, a),
        None => Some(work.underflow()),
    };
    if clears_c2 {
        m.cpu.x87.set_codes(C2, if result.is_none() { C2 } else { 0 });
    }
    work.finish(m, i, |x| {
        if let Some(result) = result {
            x.set_st(0, F80::pack(result));
        }
    });
    Ok(())
}

/// A function of ST(0) with two results: the first replaces it, the second is pushed.
fn pair(m: &mut Machine<'_>, i: &Instruction, f: fn(&mut Env, Float) -> Option<(Float, Float)>) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let faulty = Some((Float::INDEFINITE, Float::INDEFINITE));
    let results = match value(&m.cpu.x87, 0) {
        None => {
            work.underflow();
            faulty
        }
        Some(_) if !work.check_room(&m.cpu.x87) => faulty,
        Some(a) => f(&mut work.env, a),
    };
    m.cpu.x87.set_codes(C2, if results.is_none() { C2 } else { 0 });
    work.finish(m, i, |x| {
        if let Some((first, second)) = results {
            x.set_st(0, F80::pack(first));
            x.push(F80::pack(second));
        }
    });
    Ok(())
}

/// A function of ST(0) and ST(1) that replaces both.
fn of_two(m: &mut Machine<'_>, i: &Instruction, f: fn(&mut Env, Float, Float) -> Float) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let result = match (value(&m.cpu.x87, 0), value(&m.cpu.x87, 1)) {
        (Some(x), Some(y)) => f(&mut work.env, x, y),
        _ => work.underflow(),
    };
    work.finish(m, i, |x| {
        x.set_st(1, F80::pack(result));
        x.pop(Pop::Once);
    });
    Ok(())
}
