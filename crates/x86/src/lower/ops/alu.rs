//! Addition, subtraction and logic, in registers and in memory.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use crate::flags::Flags;
use crate::lower::uop::{Handler, handler};
use crate::lower::width::{
    Address, At, Based, BasedOnLast, Before, Destination, Immediate, Indexed, IndexedByLast, Register, Source, Third,
    Width,
};

/// The operations in the order of their opcodes.
pub(in crate::lower) const ADD: u8 = 0;
pub(in crate::lower) const OR: u8 = 1;
pub(in crate::lower) const ADC: u8 = 2;
pub(in crate::lower) const SBB: u8 = 3;
pub(in crate::lower) const AND: u8 = 4;
pub(in crate::lower) const SUB: u8 = 5;
pub(in crate::lower) const XOR: u8 = 6;

/// The result; bits above the size are arbitrary.
#[inline(always)]
fn compute<const OP: u8>(flags: &Flags, a: u64, b: u64) -> u64 {
    match OP {
        ADD => a.wrapping_add(b),
        OR => a | b,
        ADC => a.wrapping_add(b).wrapping_add(u64::from(flags.cf())),
        SBB => a.wrapping_sub(b).wrapping_sub(u64::from(flags.cf())),
        AND => a & b,
        SUB => a.wrapping_sub(b),
        _ => a ^ b,
    }
}

#[inline(always)]
pub(in crate::lower) fn set_flags<const OP: u8, T: Width>(flags: &mut Flags, a: u64, b: u64, result: u64) {
    let result = T::sign_extend(result);
    match (OP, T::BITS) {
        (ADD | ADC, 8) => flags.add::<8>(a, b, result),
        (ADD | ADC, 16) => flags.add::<16>(a, b, result),
        (ADD | ADC, 32) => flags.add::<32>(a, b, result),
        (ADD | ADC, _) => flags.add::<64>(a, b, result),
        (SUB | SBB, 8) => flags.sub::<8>(a, b, result),
        (SUB | SBB, 16) => flags.sub::<16>(a, b, result),
        (SUB | SBB, 32) => flags.sub::<32>(a, b, result),
        (SUB | SBB, _) => flags.sub::<64>(a, b, result),
        _ => flags.logic(result),
    }
}

handler! {
    /// `d = d op source`.
    fn to_register[const OP: u8, T: Width, D: Source, S: Source, const LIVE: bool, const C: bool](x: C) {
        let (Ok(a), Ok(b)) = (D::read::<T, C>(x), S::read::<T, C>(x)) else {
            return x.retry(to_register::<OP, T, D, S, LIVE, true>);
        };
        let result = compute::<OP>(&x.cpu().flags, a, b);
        if LIVE {
            set_flags::<OP, T>(&mut x.cpu().flags, a, b, result);
        }
        x.finish::<T>(result)
    }
}

handler! {
    /// `memory = memory op source`.
    fn to_memory[const OP: u8, T: Width, A: Address, S: Source, const LIVE: bool, const C: bool](x: C) {
        let careful = to_memory::<OP, T, A, S, LIVE, true>;
        let addr = A::of(x);
        let (Ok(a), Ok(b)) = (x.load::<T>(addr), S::read::<T, C>(x)) else { return x.retry(careful) };
        let result = compute::<OP>(&x.cpu().flags, a, b);
        if x.store::<T>(addr, result).is_err() {
            return x.retry(careful);
        }
        if LIVE {
            set_flags::<OP, T>(&mut x.cpu().flags, a, b, result);
        }
        x.next()
    }
}

/// Where the operands are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::lower) enum Form {
    /// `d op s`
    Register,
    /// `d op imm`
    Immediate,
    /// `d op [base]`
    Load,
    /// `d op [base + index]`
    LoadIndexed,
    /// `[base] op s`
    Store,
    /// `[base + index] op s`
    StoreIndexed,
    /// `[base] op imm`
    StoreImmediate,
    /// `[base + index] op imm`
    StoreImmediateIndexed,
}

/// Which operand the micro-operation before has just written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::lower) enum Chain {
    Neither,
    /// The register that is read and written.
    First,
    /// The register that is only read.
    Second,
    /// The base of an address without index.
    Base,
    /// The index of an address.
    Index,
}

fn by_form<const OP: u8, T: Width, const LIVE: bool>(form: Form) -> Handler {
    match form {
        Form::Register => to_register::<OP, T, Destination, Register, LIVE, false>,
        Form::Immediate => to_register::<OP, T, Destination, Immediate, LIVE, false>,
        Form::Load => to_register::<OP, T, Destination, At<Based>, LIVE, false>,
        Form::LoadIndexed => to_register::<OP, T, Destination, At<Indexed>, LIVE, false>,
        Form::Store => to_memory::<OP, T, Based, Register, LIVE, false>,
        Form::StoreIndexed => to_memory::<OP, T, Indexed, Register, LIVE, false>,
        Form::StoreImmediate => to_memory::<OP, T, Based, Immediate, LIVE, false>,
        Form::StoreImmediateIndexed => to_memory::<OP, T, Indexed, Immediate, LIVE, false>,
    }
}

/// With an operand from the micro-operation before.
fn chained<const OP: u8, T: Width, const LIVE: bool>(form: Form, chain: Chain) -> Handler {
    match (form, chain) {
        (Form::Register, Chain::First) => to_register::<OP, T, Before, Register, LIVE, false>,
        (Form::Register, Chain::Second) => to_register::<OP, T, Destination, Before, LIVE, false>,
        (Form::Immediate, Chain::First) => to_register::<OP, T, Before, Immediate, LIVE, false>,
        (Form::Load, Chain::First) => to_register::<OP, T, Before, At<Based>, LIVE, false>,
        (Form::LoadIndexed, Chain::First) => to_register::<OP, T, Before, At<Indexed>, LIVE, false>,
        (Form::Load, Chain::Base) => to_register::<OP, T, Destination, At<BasedOnLast>, LIVE, false>,
        (Form::LoadIndexed, Chain::Index) => to_register::<OP, T, Destination, At<IndexedByLast>, LIVE, false>,
        _ => by_form::<OP, T, LIVE>(form),
    }
}

fn by_size<const OP: u8>(size: usize, form: Form, live: bool) -> Handler {
    match (size, live) {
        (1, false) => by_form::<OP, u8, false>(form),
        (1, true) => by_form::<OP, u8, true>(form),
        (2, _) => by_form::<OP, u16, true>(form),
        (4, false) => by_form::<OP, u32, false>(form),
        (4, true) => by_form::<OP, u32, true>(form),
        (_, false) => by_form::<OP, u64, false>(form),
        (_, true) => by_form::<OP, u64, true>(form),
    }
}

fn by_chain<const OP: u8>(size: usize, form: Form, chain: Chain, live: bool) -> Handler {
    match (size, live) {
        _ if chain == Chain::Neither => by_size::<OP>(size, form, live),
        (4, false) => chained::<OP, u32, false>(form, chain),
        (4, true) => chained::<OP, u32, true>(form, chain),
        (8, false) => chained::<OP, u64, false>(form, chain),
        (8, true) => chained::<OP, u64, true>(form, chain),
        _ => by_size::<OP>(size, form, live),
    }
}

/// The handler for an operation; `live` says whether the flags are live.
pub(in crate::lower) fn pick(op: u8, size: usize, form: Form, chain: Chain, live: bool) -> Handler {
    match op {
        ADD => by_chain::<ADD>(size, form, chain, live),
        OR => by_chain::<OR>(size, form, chain, live),
        ADC => by_size::<ADC>(size, form, live),
        SBB => by_size::<SBB>(size, form, live),
        AND => by_chain::<AND>(size, form, chain, live),
        SUB => by_chain::<SUB>(size, form, chain, live),
        _ => by_chain::<XOR>(size, form, chain, live),
    }
}

fn copied_form<const OP: u8, T: Width, const LIVE: bool>(form: Form, chained: bool) -> Option<Handler> {
    Some(match (form, chained) {
        (Form::Register, false) => to_register::<OP, T, Register, Third, LIVE, false>,
        (Form::Register, true) => to_register::<OP, T, Before, Third, LIVE, false>,
        (Form::Immediate, false) => to_register::<OP, T, Register, Immediate, LIVE, false>,
        (Form::Immediate, true) => to_register::<OP, T, Before, Immediate, LIVE, false>,
        _ => return None,
    })
}

fn copied_sized<const OP: u8>(size: usize, form: Form, chained: bool, live: bool) -> Option<Handler> {
    match (size, live) {
        (4, false) => copied_form::<OP, u32, false>(form, chained),
        (4, true) => copied_form::<OP, u32, true>(form, chained),
        (8, false) => copied_form::<OP, u64, false>(form, chained),
        (8, true) => copied_form::<OP, u64, true>(form, chained),
        _ => None,
    }
}

/// The handler for an operation on a copy: `d = s op imm`, or with the register that `base` names. `chained` says that `s` is
/// what the micro-operation before has written.
pub(in crate::lower) fn pick_copied(op: u8, size: usize, form: Form, chained: bool, live: bool) -> Option<Handler> {
    match op {
        ADD => copied_sized::<ADD>(size, form, chained, live),
        OR => copied_sized::<OR>(size, form, chained, live),
        AND => copied_sized::<AND>(size, form, chained, live),
        SUB => copied_sized::<SUB>(size, form, chained, live),
        XOR => copied_sized::<XOR>(size, form, chained, live),
        _ => None,
    }
}
