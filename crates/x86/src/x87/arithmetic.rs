//! Sum to quotient, square root, remainder, scaling, sign.
//!
//! Precision and rounding come from the control word; the exponent always has its full range, so
//! results in single precision still differ from SSE's where they overflow (precision control: SDM
//! volume 1, 8.1.5.2).

use iced_x86::{Instruction, Mnemonic};

use super::unit::{Pop, Work, push, source, stack_operand, value};
use crate::machine::{Machine, Trap};
use crate::row::Row;
use crate::softfloat::{Env, F80, Float, Format, Quotient, Real, Remainder};

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Fadd, |m, i| binary(m, i, Pop::None, Env::add)),
    (Mnemonic::Faddp, |m, i| binary(m, i, Pop::Once, Env::add)),
    (Mnemonic::Fiadd, |m, i| binary(m, i, Pop::None, Env::add)),
    (Mnemonic::Fsub, |m, i| binary(m, i, Pop::None, Env::subtract)),
    (Mnemonic::Fsubp, |m, i| binary(m, i, Pop::Once, Env::subtract)),
    (Mnemonic::Fisub, |m, i| binary(m, i, Pop::None, Env::subtract)),
    (Mnemonic::Fsubr, |m, i| binary(m, i, Pop::None, |e, f, a, b| e.subtract(f, b, a))),
    (Mnemonic::Fsubrp, |m, i| binary(m, i, Pop::Once, |e, f, a, b| e.subtract(f, b, a))),
    (Mnemonic::Fisubr, |m, i| binary(m, i, Pop::None, |e, f, a, b| e.subtract(f, b, a))),
    (Mnemonic::Fmul, |m, i| binary(m, i, Pop::None, Env::multiply)),
    (Mnemonic::Fmulp, |m, i| binary(m, i, Pop::Once, Env::multiply)),
    (Mnemonic::Fimul, |m, i| binary(m, i, Pop::None, Env::multiply)),
    (Mnemonic::Fdiv, |m, i| binary(m, i, Pop::None, Env::divide)),
    (Mnemonic::Fdivp, |m, i| binary(m, i, Pop::Once, Env::divide)),
    (Mnemonic::Fidiv, |m, i| binary(m, i, Pop::None, Env::divide)),
    (Mnemonic::Fdivr, |m, i| binary(m, i, Pop::None, |e, f, a, b| e.divide(f, b, a))),
    (Mnemonic::Fdivrp, |m, i| binary(m, i, Pop::Once, |e, f, a, b| e.divide(f, b, a))),
    (Mnemonic::Fidivr, |m, i| binary(m, i, Pop::None, |e, f, a, b| e.divide(f, b, a))),
    (Mnemonic::Fsqrt, |m, i| unary(m, i, Env::square_root)),
    (Mnemonic::Frndint, |m, i| unary(m, i, |e, _, a| e.round_to_integral(a))),
    (Mnemonic::Fscale, scale),
    (Mnemonic::Fprem, |m, i| remainder(m, i, Quotient::Truncated)),
    (Mnemonic::Fprem1, |m, i| remainder(m, i, Quotient::Nearest)),
    (Mnemonic::Fxtract, extract),
    (Mnemonic::Fchs, |m, i| sign(m, i, |s| s ^ 0x8000)),
    (Mnemonic::Fabs, |m, i| sign(m, i, |s| s & 0x7fff)),
];

type Binary = fn(&mut Env, &Format, Float, Float) -> Float;

/// The first operand, or ST(0) where only a memory operand is named, combined with the last.
fn binary(m: &mut Machine<'_>, i: &Instruction, pop: Pop, f: Binary) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let b = source(m, i)?;
    let to = stack_operand(i, 0);
    let result = match (value(&m.cpu.x87, to), b) {
        (Some(a), Some(b)) => f(&mut work.env, &m.cpu.x87.format(), a, b),
        _ => work.underflow(),
    };
    work.finish(m, i, |x| {
        x.set_st(to, F80::pack(result));
        x.pop(pop);
    });
    Ok(())
}

fn unary(m: &mut Machine<'_>, i: &Instruction, f: fn(&mut Env, &Format, Float) -> Float) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let result = match value(&m.cpu.x87, 0) {
        Some(a) => f(&mut work.env, &m.cpu.x87.format(), a),
        None => work.underflow(),
    };
    work.finish(m, i, |x| x.set_st(0, F80::pack(result)));
    Ok(())
}

fn scale(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let result = match (value(&m.cpu.x87, 0), value(&m.cpu.x87, 1)) {
        (Some(a), Some(b)) => work.env.scale(a, b),
        _ => work.underflow(),
    };
    work.finish(m, i, |x| x.set_st(0, F80::pack(result)));
    Ok(())
}

/// C2 says that the reduction is not complete; otherwise C0, C3, C1 are the quotient's bits 2, 1, 0, if there is one.
///
/// `fprem` reduces the exponent by at most 63 in one execution; programs loop on C2. The quotient
/// bits let argument reduction of angles know the octant.
fn remainder(m: &mut Machine<'_>, i: &Instruction, kind: Quotient) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let step = match (value(&m.cpu.x87, 0), value(&m.cpu.x87, 1)) {
        (Some(a), Some(b)) => work.env.remainder(kind, a, b),
        _ => Remainder { value: work.underflow(), quotient: None, complete: true },
    };
    m.cpu.x87.set_codes(0x400, 0);
    work.finish(m, i, |x| {
        x.set_codes(0x400, if step.complete { 0 } else { 0x400 });
        if let Some(quotient) = step.quotient {
            x.set_codes(0x4300, quotient_codes(quotient));
        }
        x.set_st(0, F80::pack(step.value));
    });
    Ok(())
}

fn quotient_codes(quotient: u8) -> u16 {
    let q = u16::from(quotient);
    (q >> 2 & 1) << 8 | (q >> 1 & 1) << 14 | (q & 1) << 9
}

/// ST(0) becomes the exponent, and the significand is pushed.
fn extract(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let Some(a) = value(&m.cpu.x87, 0) else {
        let nan = F80::pack(work.underflow());
        work.finish(m, i, |x| {
            x.set_st(0, nan);
            x.push(nan);
        });
        return Ok(());
    };
    if !work.check_room(&m.cpu.x87) {
        let nan = F80::pack(Float::INDEFINITE);
        work.finish(m, i, |x| {
            x.set_st(0, nan);
            x.push(nan);
        });
        return Ok(());
    }
    let (exponent, significand) = work.env.extract(a);
    work.finish(m, i, |x| {
        x.set_st(0, F80::pack(exponent));
        x.push(F80::pack(significand));
    });
    Ok(())
}

/// `fchs`, `fabs`: no operand is too odd for them.
fn sign(m: &mut Machine<'_>, i: &Instruction, f: fn(u16) -> u16) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let mut value = m.cpu.x87.st(0);
    value.sign_exponent = f(value.sign_exponent);
    if m.cpu.x87.empty(0) {
        value = F80::pack(work.underflow());
    }
    work.finish(m, i, |x| x.set_st(0, value));
    Ok(())
}

/// Constants are rounded as the control word says.
pub(super) fn constant(m: &mut Machine<'_>, i: &Instruction, f: fn(&mut Env) -> Float) -> Result<(), Trap> {
    let work = Work::begin(m)?;
    push(m, i, work, |work| {
        // Loading one is never inexact, whatever its last bit.
        let mut env = work.env;
        F80::pack(f(&mut env))
    });
    Ok(())
}
