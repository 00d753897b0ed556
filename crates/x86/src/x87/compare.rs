//! Comparison into condition codes or flags, and classification.

use iced_x86::{Instruction, Mnemonic};

use super::X87;
use super::unit::{Pop, Work, source, value};
use crate::flags::{AF, CF, OF, PF, SF, ZF};
use crate::machine::{Machine, Trap};
use crate::row::Row;
use crate::softfloat::{Class, Float, Order, Quiet, Real};
use crate::sse::flags_of;

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Fcom, |m, i| codes(m, i, Quiet::Invalid, Pop::None)),
    (Mnemonic::Fcomp, |m, i| codes(m, i, Quiet::Invalid, Pop::Once)),
    (Mnemonic::Fcompp, |m, i| codes(m, i, Quiet::Invalid, Pop::Twice)),
    (Mnemonic::Ficom, |m, i| codes(m, i, Quiet::Invalid, Pop::None)),
    (Mnemonic::Ficomp, |m, i| codes(m, i, Quiet::Invalid, Pop::Once)),
    (Mnemonic::Fucom, |m, i| codes(m, i, Quiet::Passes, Pop::None)),
    (Mnemonic::Fucomp, |m, i| codes(m, i, Quiet::Passes, Pop::Once)),
    (Mnemonic::Fucompp, |m, i| codes(m, i, Quiet::Passes, Pop::Twice)),
    (Mnemonic::Fcomi, |m, i| flags(m, i, Quiet::Invalid, Pop::None)),
    (Mnemonic::Fcomip, |m, i| flags(m, i, Quiet::Invalid, Pop::Once)),
    (Mnemonic::Fucomi, |m, i| flags(m, i, Quiet::Passes, Pop::None)),
    (Mnemonic::Fucomip, |m, i| flags(m, i, Quiet::Passes, Pop::Once)),
    (Mnemonic::Ftst, test),
    (Mnemonic::Fxam, examine),
];

/// C0, C2, C3.
const CODES: u16 = 0x4500;

fn codes_of(order: Order) -> u16 {
    match order {
        Order::Greater => 0,
        Order::Less => 0x100,
        Order::Equal => 0x4000,
        Order::Unordered => CODES,
    }
}

fn compare(work: &mut Work, quiet: Quiet, a: Option<Float>, b: Option<Float>) -> Order {
    match (a, b) {
        (Some(a), Some(b)) => work.env.compare(quiet, a, b),
        _ => {
            work.underflow();
            Order::Unordered
        }
    }
}

/// The other operand: the one named, or ST(1) for the forms that name none.
fn other(m: &mut Machine<'_>, i: &Instruction) -> Result<Option<Float>, Trap> {
    match i.mnemonic() {
        Mnemonic::Fcompp | Mnemonic::Fucompp => Ok(value(&m.cpu.x87, 1)),
        _ => source(m, i),
    }
}

/// Ordered comparisons (`fcom`) raise invalid for a quiet NaN, unordered ones (`fucom`) only for a
/// signalling one.
fn codes(m: &mut Machine<'_>, i: &Instruction, quiet: Quiet, pop: Pop) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let b = other(m, i)?;
    let order = compare(&mut work, quiet, value(&m.cpu.x87, 0), b);
    // The answer is there even if an unmasked exception keeps the operands on the stack.
    m.cpu.x87.set_codes(CODES, codes_of(order));
    work.finish(m, i, |x| x.pop(pop));
    Ok(())
}

fn flags(m: &mut Machine<'_>, i: &Instruction, quiet: Quiet, pop: Pop) -> Result<(), Trap> {
    let mut work = Work::begin(m)?.keeping_c1();
    let b = source(m, i)?;
    let order = compare(&mut work, quiet, value(&m.cpu.x87, 0), b);
    m.cpu.flags.replace(ZF | PF | CF | OF | SF | AF, flags_of(order));
    work.finish(m, i, |x| x.pop(pop));
    Ok(())
}

/// `ftst`: against zero.
fn test(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let order = compare(&mut work, Quiet::Invalid, value(&m.cpu.x87, 0), Some(Float::zero(false)));
    m.cpu.x87.set_codes(CODES, codes_of(order));
    work.finish(m, i, |_| ());
    Ok(())
}

/// `fxam`: what ST(0) is, with its sign in C1.
fn examine(m: &mut Machine<'_>, _: &Instruction) -> Result<(), Trap> {
    super::unit::ready(m)?;
    let x = &mut m.cpu.x87;
    let sign = x.st(0).sign_exponent >> 15 << 9;
    let class = class_codes(x);
    x.set_codes(CODES | 0x200, class | sign);
    Ok(())
}

fn class_codes(x: &X87) -> u16 {
    let (c0, c2, c3) = (0x100, 0x400, 0x4000);
    let number = x.st(0).unpack();
    match number.class {
        _ if x.empty(0) => c3 | c0,
        Class::Unsupported => 0,
        Class::Quiet | Class::Signaling => c0,
        Class::Finite if number.subnormal => c3 | c2,
        Class::Finite => c2,
        Class::Infinite => c2 | c0,
        Class::Zero => c3,
    }
}
