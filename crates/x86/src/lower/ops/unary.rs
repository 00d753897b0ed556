//! Increments, negations, multiplication and other operations with one or two operands.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use super::alu::{ADD, Chain, Form, SUB, set_flags};
use crate::cpu::{RAX, RDX};
use crate::lower::uop::{Handler, Uop, X, handler};
use crate::lower::width::{Address, At, Based, Before, Destination, Immediate, Indexed, Register, Source, Width};

/// The new value of `inc` (`ADD`) and `dec` (`SUB`).
#[inline(always)]
fn stepped<const OP: u8>(value: u64) -> u64 {
    if OP == ADD { value.wrapping_add(1) } else { value.wrapping_sub(1) }
}

/// All flags but the carry.
#[inline(always)]
unsafe fn flags_but_carry<const OP: u8, T: Width, const C: bool>(x: X<C>, value: u64, result: u64) {
    let carry = x.cpu().flags.cf();
    set_flags::<OP, T>(&mut x.cpu().flags, value, 1, result);
    x.cpu().flags.set_cf(carry);
}

handler! {
    fn by_one[const OP: u8, T: Width, const LIVE: bool](x: true) {
        let value = x.get::<T>(x.uop().d);
        let result = stepped::<OP>(value);
        if LIVE {
            flags_but_carry::<OP, T, _>(x, value, result);
        }
        x.finish::<T>(result)
    }
}

handler! {
    fn by_one_in_memory[const OP: u8, T: Width, A: Address, const C: bool](x: C) {
        let careful = by_one_in_memory::<OP, T, A, true>;
        let addr = A::of(x);
        let Ok(value) = x.load::<T>(addr) else { return x.retry(careful) };
        let result = stepped::<OP>(value);
        if x.store::<T>(addr, result).is_err() {
            return x.retry(careful);
        }
        flags_but_carry::<OP, T, _>(x, value, result);
        x.next()
    }
}

handler! {
    fn neg[T: Width](x: true) {
        let value = x.get::<T>(x.uop().d);
        let result = value.wrapping_neg();
        set_flags::<SUB, T>(&mut x.cpu().flags, 0, value, result);
        x.finish::<T>(result)
    }
}

handler! {
    fn not[T: Width](x: true) {
        let value = x.get::<T>(x.uop().d);
        x.finish::<T>(!value)
    }
}

/// `d = l * r`, signed.
#[inline(always)]
unsafe fn product<T: Width, const LIVE: bool, const C: bool>(x: X<C>, l: u64, r: u64) -> *const Uop {
    let (l, r) = (T::sign_extend(l) as i64, T::sign_extend(r) as i64);
    let result = l.wrapping_mul(r) as u64;
    if LIVE {
        // For 32 bits the 64-bit product is exact.
        let overflow = match T::BITS {
            64 => l.checked_mul(r).is_none(),
            _ => T::sign_extend(result) != result,
        };
        x.cpu().flags.multiplied(T::sign_extend(result), overflow);
    }
    x.finish::<T>(result)
}

handler! {
    fn imul[T: Width, L: Source, R: Source, const LIVE: bool, const C: bool](x: C) {
        let (Ok(l), Ok(r)) = (L::read::<T, C>(x), R::read::<T, C>(x)) else {
            return x.retry(imul::<T, L, R, LIVE, true>);
        };
        product::<T, LIVE, C>(x, l, r)
    }
}

handler! {
    /// `cdq`, `cqo`.
    fn spread[T: Width](x: true) {
        let sign = (T::sign_extend(x.cpu().gpr[RAX]) as i64 >> 63) as u64;
        x.cpu().gpr[RDX] = T::zero_extend(sign);
        x.next()
    }
}

handler! {
    /// `cwde`, `cdqe`: from half of `T`.
    fn widen[F: Width, T: Width](x: true) {
        x.cpu().gpr[RAX] = T::zero_extend(F::sign_extend(x.cpu().gpr[RAX]));
        x.next()
    }
}

handler! {
    fn swap_bytes[T: Width](x: true) {
        let value = x.get::<T>(x.uop().d);
        x.finish::<T>(value.swap_bytes() >> (64 - T::BITS))
    }
}

/// The handler for `inc` and `dec` of any size.
pub(in crate::lower) fn pick_step(op: u8, size: usize, form: Form, live: bool) -> Option<Handler> {
    if op == ADD { step_sized::<ADD>(size, form, live) } else { step_sized::<SUB>(size, form, live) }
}

fn step_sized<const OP: u8>(size: usize, form: Form, live: bool) -> Option<Handler> {
    match size {
        1 => step_form::<OP, u8>(form, live),
        2 => step_form::<OP, u16>(form, live),
        4 => step_form::<OP, u32>(form, live),
        8 => step_form::<OP, u64>(form, live),
        _ => None,
    }
}

fn step_form<const OP: u8, T: Width>(form: Form, live: bool) -> Option<Handler> {
    Some(match (form, live) {
        (Form::Register, true) => by_one::<OP, T, true>,
        (Form::Register, false) => by_one::<OP, T, false>,
        (Form::Load, _) => by_one_in_memory::<OP, T, Based, false>,
        (Form::LoadIndexed, _) => by_one_in_memory::<OP, T, Indexed, false>,
        _ => return None,
    })
}

/// The handler for `neg` (true) and `not` of a register.
pub(in crate::lower) fn pick_negation(arithmetic: bool, size: usize) -> Handler {
    match (arithmetic, size) {
        (true, 1) => neg::<u8>,
        (true, 2) => neg::<u16>,
        (true, 4) => neg::<u32>,
        (true, _) => neg::<u64>,
        (false, 1) => not::<u8>,
        (false, 2) => not::<u16>,
        (false, 4) => not::<u32>,
        (false, _) => not::<u64>,
    }
}

/// The handler for `imul` with two or three operands of 4 or 8 bytes.
pub(in crate::lower) fn pick_imul(size: usize, form: Form, chain: Chain, three: bool, live: bool) -> Option<Handler> {
    match (size, live) {
        (4, true) => imul_form::<u32, true>(form, chain, three),
        (4, false) => imul_form::<u32, false>(form, chain, three),
        (8, true) => imul_form::<u64, true>(form, chain, three),
        (8, false) => imul_form::<u64, false>(form, chain, three),
        _ => None,
    }
}

fn imul_form<T: Width, const LIVE: bool>(form: Form, chain: Chain, three: bool) -> Option<Handler> {
    Some(match (form, chain, three) {
        (Form::Register, Chain::First, false) => imul::<T, Before, Register, LIVE, false>,
        (Form::Register, Chain::Second, false) => imul::<T, Destination, Before, LIVE, false>,
        (Form::Register, _, false) => imul::<T, Destination, Register, LIVE, false>,
        (Form::Load | Form::LoadIndexed, _, false) => imul::<T, Destination, At<Indexed>, LIVE, false>,
        (Form::Register, Chain::Second, true) => imul::<T, Before, Immediate, LIVE, false>,
        (Form::Register, _, true) => imul::<T, Register, Immediate, LIVE, false>,
        (Form::Load | Form::LoadIndexed, _, true) => imul::<T, At<Indexed>, Immediate, LIVE, false>,
        _ => return None,
    })
}

/// The handler for `cdq` and `cqo`.
pub(in crate::lower) fn pick_spread(size: usize) -> Handler {
    if size == 4 { spread::<u32> } else { spread::<u64> }
}

/// The handler for `cwde` and `cdqe`.
pub(in crate::lower) fn pick_widen(to: usize) -> Handler {
    if to == 4 { widen::<u16, u32> } else { widen::<u32, u64> }
}

/// The handler for `bswap` of 4 or 8 bytes.
pub(in crate::lower) fn pick_swap(size: usize) -> Handler {
    if size == 4 { swap_bytes::<u32> } else { swap_bytes::<u64> }
}
