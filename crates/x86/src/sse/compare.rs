//! Floating-point comparison, into masks or into flags.

use iced_x86::{Instruction, Mnemonic};

use super::float::{Context, Number, packed, scalar};
use super::operand::{control, read};
use crate::flags::{AF, CF, OF, PF, SF, ZF};
use crate::machine::{Machine, Trap};
use crate::row::Row;
use crate::softfloat::{F32, F64, Order, Quiet};

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Cmpps, |m, i| packed(m, i, |c, a, b| F32(mask(c, control(i), a, b) as u32))),
    (Mnemonic::Cmppd, |m, i| packed(m, i, |c, a, b| F64(mask(c, control(i), a, b)))),
    (Mnemonic::Cmpss, |m, i| scalar(m, i, |c, a, b| F32(mask(c, control(i), a, b) as u32))),
    (Mnemonic::Cmpsd, |m, i| scalar(m, i, |c, a, b| F64(mask(c, control(i), a, b)))),
    (Mnemonic::Comiss, |m, i| flags::<F32>(m, i, Quiet::Invalid)),
    (Mnemonic::Comisd, |m, i| flags::<F64>(m, i, Quiet::Invalid)),
    (Mnemonic::Ucomiss, |m, i| flags::<F32>(m, i, Quiet::Passes)),
    (Mnemonic::Ucomisd, |m, i| flags::<F64>(m, i, Quiet::Passes)),
];

/// All ones where the predicate holds: equal, less, less or equal, unordered, and their opposites.
fn mask<T: Number>(c: &mut Context, predicate: u8, a: T, b: T) -> u64 {
    let quiet = if matches!(predicate & 3, 1 | 2) { Quiet::Invalid } else { Quiet::Passes };
    let order = c.env.compare(quiet, a.unpack(), b.unpack());
    let holds = match predicate & 3 {
        0 => order == Order::Equal,
        1 => order == Order::Less,
        2 => matches!(order, Order::Less | Order::Equal),
        _ => order == Order::Unordered,
    };
    if holds != (predicate & 4 != 0) { u64::MAX } else { 0 }
}

fn flags<T: Number>(m: &mut Machine<'_>, i: &Instruction, quiet: Quiet) -> Result<(), Trap> {
    let (a, b) = (read(m, i, 0)?, read(m, i, 1)?);
    let mut c = Context::new(m);
    let order = c.env.compare(quiet, T::get(a, 0).unpack(), T::get(b, 0).unpack());
    c.finish(m)?;
    m.cpu.flags.replace(ZF | PF | CF | OF | SF | AF, flags_of(order));
    Ok(())
}

/// As `comiss` and `fcomi` show an order.
pub(crate) fn flags_of(order: Order) -> u64 {
    match order {
        Order::Greater => 0,
        Order::Less => CF,
        Order::Equal => ZF,
        Order::Unordered => ZF | PF | CF,
    }
}
