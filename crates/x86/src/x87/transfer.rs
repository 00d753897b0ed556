//! Loads, stores, constants, exchange and conditional moves.
//!
//! Constants have 128 bits of significand, so that each rounding mode gives the correctly rounded
//! 64: the control word decides, as the SDM says of `fldpi` and its kin. Loads of 32 and 64 bits
//! convert (and quieten a signalling NaN); the 80-bit format is copied bit for bit, even where it
//! is no number, since compilers spill with it.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::arithmetic::constant;
use super::unit::{Pop, Work, load_extended, push, source, stack_operand, store_extended, value};
use crate::machine::{Machine, Trap};
use crate::row::Row;
use crate::softfloat::{EXTENDED, F32, F64, F80, Float, Real};

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Fld, load),
    (Mnemonic::Fst, |m, i| store(m, i, Pop::None)),
    (Mnemonic::Fstp, |m, i| store(m, i, Pop::Once)),
    (Mnemonic::Fstpnce, store_no_check),
    (Mnemonic::Fld1, |m, i| constant(m, i, |_| Float::finite(false, 0, 1 << 63))),
    (Mnemonic::Fldz, |m, i| constant(m, i, |_| Float::zero(false))),
    (Mnemonic::Fldl2t, |m, i| {
        constant(m, i, |e| e.round(&EXTENDED, false, 1, 0xd49a_784b_cd1b_8afe_492b_f6ff_4daf_db4c))
    }),
    (Mnemonic::Fldl2e, |m, i| {
        constant(m, i, |e| e.round(&EXTENDED, false, 0, 0xb8aa_3b29_5c17_f0bb_be87_fed0_691d_3e88))
    }),
    (Mnemonic::Fldpi, |m, i| {
        constant(m, i, |e| e.round(&EXTENDED, false, 1, 0xc90f_daa2_2168_c234_c4c6_628b_80dc_1cd1))
    }),
    (Mnemonic::Fldlg2, |m, i| {
        constant(m, i, |e| e.round(&EXTENDED, false, -2, 0x9a20_9a84_fbcf_f798_8f89_59ac_0b7c_9178))
    }),
    (Mnemonic::Fldln2, |m, i| {
        constant(m, i, |e| e.round(&EXTENDED, false, -1, 0xb172_17f7_d1cf_79ab_c9e3_b398_03f2_f6af))
    }),
    (Mnemonic::Fxch, exchange),
    (Mnemonic::Fcmovb, |m, i| conditional(m, i, 2)),
    (Mnemonic::Fcmovnb, |m, i| conditional(m, i, 3)),
    (Mnemonic::Fcmove, |m, i| conditional(m, i, 4)),
    (Mnemonic::Fcmovne, |m, i| conditional(m, i, 5)),
    (Mnemonic::Fcmovbe, |m, i| conditional(m, i, 6)),
    (Mnemonic::Fcmovnbe, |m, i| conditional(m, i, 7)),
    (Mnemonic::Fcmovu, |m, i| conditional(m, i, 10)),
    (Mnemonic::Fcmovnu, |m, i| conditional(m, i, 11)),
];

fn load(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let work = Work::begin(m)?;
    if i.op_kind(i.op_count() - 1) == OpKind::Register {
        return duplicate(m, i, work);
    }
    if i.memory_size().size() == 10 {
        // The only format that is taken as it is, whatever it holds.
        let bits = load_extended(m, m.address(i))?;
        push(m, i, work, |_| bits);
        return Ok(());
    }
    let number = source(m, i)?.unwrap_or(Float::INDEFINITE);
    push(m, i, work.despite_denormals(), |work| F80::pack(work.env.convert(&EXTENDED, number)));
    Ok(())
}

/// `fld st(i)`; an empty source is a worse fault than a full stack.
fn duplicate(m: &mut Machine<'_>, i: &Instruction, mut work: Work) -> Result<(), Trap> {
    let from = stack_operand(i, i.op_count() - 1);
    if m.cpu.x87.empty(from) {
        let nan = F80::pack(work.underflow());
        work.finish(m, i, |x| x.push(nan));
        return Ok(());
    }
    let bits = m.cpu.x87.st(from);
    push(m, i, work, |_| bits);
    Ok(())
}

/// A result that does not fit raises overflow or underflow of the *narrow* format; with that
/// exception unmasked nothing is stored and nothing popped.
fn store(m: &mut Machine<'_>, i: &Instruction, pop: Pop) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let number = value(&m.cpu.x87, 0);
    if i.op_kind(0) == OpKind::Register || i.memory_size().size() == 10 {
        return store_exact(m, i, pop, work);
    }
    let addr = m.address(i);
    if i.memory_size().size() == 4 {
        let bits: F32 = narrow(&mut work, number);
        if work.gives_stored_result() {
            m.store(addr, 4, bits.0.into())?;
        }
    } else {
        let bits: F64 = narrow(&mut work, number);
        if work.gives_stored_result() {
            m.store(addr, 8, bits.0)?;
        }
    }
    work.finish_store(m, i, |x| x.pop(pop));
    Ok(())
}

fn narrow<T: Real>(work: &mut Work, number: Option<Float>) -> T {
    T::pack(match number {
        Some(number) => work.env.store(&T::FORMAT, number),
        None => work.underflow(),
    })
}

/// To a register, or to memory in the 80-bit format: the bits as they are.
fn store_exact(m: &mut Machine<'_>, i: &Instruction, pop: Pop, mut work: Work) -> Result<(), Trap> {
    let bits = if m.cpu.x87.empty(0) { F80::pack(work.underflow()) } else { m.cpu.x87.st(0) };
    if i.op_kind(0) == OpKind::Memory {
        if work.gives_result() {
            store_extended(m, m.address(i), bits)?;
        }
        work.finish(m, i, |x| x.pop(pop));
        return Ok(());
    }
    let to = stack_operand(i, 0);
    work.finish(m, i, |x| {
        x.set_st(to, bits);
        x.pop(pop);
    });
    Ok(())
}

/// `fstpnce`: as `fstp`, but an empty register is no exception, and is not stored.
fn store_no_check(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let work = Work::begin(m)?;
    let to = stack_operand(i, 0);
    work.finish(m, i, |x| {
        if !x.empty(0) {
            x.set_st(to, x.st(0));
        }
        x.pop(Pop::Once);
    });
    Ok(())
}

fn exchange(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let mut work = Work::begin(m)?;
    let with = stack_operand(i, 1);
    let x = m.cpu.x87;
    let mut take = |r: u8| if x.empty(r) { F80::pack(work.underflow()) } else { x.st(r) };
    let (a, b) = (take(0), take(with));
    work.finish(m, i, |x| {
        x.set_st(0, b);
        x.set_st(with, a);
    });
    Ok(())
}

/// `fcmovcc`; `code` numbers the condition as `jcc` does.
fn conditional(m: &mut Machine<'_>, i: &Instruction, code: u8) -> Result<(), Trap> {
    let mut work = Work::begin(m)?.keeping_c1();
    let from = stack_operand(i, 1);
    let holds = m.cpu.flags.condition(code);
    let x = &m.cpu.x87;
    let mut bits = x.st(if holds { from } else { 0 });
    if x.empty(0) || x.empty(from) {
        bits = F80::pack(work.underflow());
    }
    work.finish(m, i, |x| x.set_st(0, bits));
    Ok(())
}
