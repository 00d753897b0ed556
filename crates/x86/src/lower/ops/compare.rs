//! Comparisons, alone and fused with the branch that follows.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use super::alu::{ADD, AND, Form, SUB, set_flags};
use crate::lower::uop::{Handler, handler};
use crate::lower::width::{At, Based, Destination, Half, Immediate, Indexed, Register, Source, Width};

handler! {
    /// `cmp` or `test` for its flags.
    fn compare[const OP: u8, T: Width, L: Source, R: Source, const C: bool](x: C) {
        let (Ok(a), Ok(b)) = (L::read::<T, C>(x), R::read::<T, C>(x)) else {
            return x.retry(compare::<OP, T, L, R, true>);
        };
        let result = if OP == SUB { a.wrapping_sub(b) } else { a & b };
        set_flags::<OP, T>(&mut x.cpu().flags, a, b, result);
        x.next_keeping()
    }
}

/// Whether `code` holds after comparing: no flags needed. Parity and overflow are not asked here.
///
/// `CODE` is the low nibble of the opcode (SDM vol. 1, appendix B.1). After `test`, carry and
/// overflow are zero, so "below" and "above" ask nothing new and have no handler.
#[inline(always)]
fn holds<const OP: u8, T: Width, const CODE: u8>(a: u64, b: u64) -> bool {
    let (sa, sb) = (T::sign_extend(a) as i64, T::sign_extend(b) as i64);
    if OP == AND {
        let result = T::sign_extend(a & b) as i64;
        return match CODE {
            4 => result == 0,
            5 => result != 0,
            8 => result < 0,
            9 => result >= 0,
            14 => result <= 0,
            _ => result > 0,
        };
    }
    match CODE {
        2 => a < b,
        3 => a >= b,
        4 => a == b,
        5 => a != b,
        6 => a <= b,
        7 => a > b,
        8 => (T::sign_extend(a.wrapping_sub(b)) as i64) < 0,
        9 => (T::sign_extend(a.wrapping_sub(b)) as i64) >= 0,
        12 => sa < sb,
        13 => sa >= sb,
        14 => sa <= sb,
        _ => sa > sb,
    }
}

handler! {
    /// `cmp` or `test` and the conditional jump behind it.
    fn fused[const OP: u8, T: Width, L: Source, R: Source, const CODE: u8, const LIVE: bool, const C: bool](x: C) {
        let (Ok(a), Ok(b)) = (L::read::<T, C>(x), R::read::<T, C>(x)) else {
            return x.retry(fused::<OP, T, L, R, CODE, LIVE, true>);
        };
        if LIVE {
            let result = if OP == SUB { a.wrapping_sub(b) } else { a & b };
            set_flags::<OP, T>(&mut x.cpu().flags, a, b, result);
        }
        if holds::<OP, T, CODE>(a, b) { x.branch_early() } else { x.next_keeping() }
    }
}

/// Whether `code` holds after an operation; [`pick_operation`] knows which can be asked.
#[inline(always)]
fn holds_after<const OP: u8, T: Width, const CODE: u8>(a: u64, b: u64, result: u64) -> bool {
    if OP == ADD { holds::<AND, T, CODE>(result, result) } else { holds::<OP, T, CODE>(a, b) }
}

handler! {
    /// An operation on a register and the conditional jump behind it.
    fn operate[const OP: u8, T: Width, S: Source, const CODE: u8, const LIVE: bool](x: true) {
        let a = x.get::<T>(x.uop().d);
        let Ok(b) = S::read::<T, _>(x) else { return x.stopped() };
        let result = match OP {
            ADD => a.wrapping_add(b),
            SUB => a.wrapping_sub(b),
            _ => a & b,
        };
        if LIVE {
            set_flags::<OP, T>(&mut x.cpu().flags, a, b, result);
        }
        if holds_after::<OP, T, CODE>(a, b, result) {
            x.set::<T>(x.uop().d, result);
            return x.branch_early();
        }
        x.finish::<T>(result)
    }
}

fn alone<const OP: u8, T: Width>(form: Form) -> Handler {
    match form {
        Form::Register => compare::<OP, T, Destination, Register, false>,
        Form::Immediate => compare::<OP, T, Destination, Immediate, false>,
        Form::Load => compare::<OP, T, Destination, At<Based>, false>,
        Form::LoadIndexed => compare::<OP, T, Destination, At<Indexed>, false>,
        Form::Store => compare::<OP, T, At<Based>, Register, false>,
        Form::StoreIndexed => compare::<OP, T, At<Indexed>, Register, false>,
        Form::StoreImmediate => compare::<OP, T, At<Based>, Immediate, false>,
        Form::StoreImmediateIndexed => compare::<OP, T, At<Indexed>, Immediate, false>,
    }
}

fn alone_sized<const OP: u8>(size: usize, form: Form) -> Handler {
    match size {
        1 => alone::<OP, u8>(form),
        2 => alone::<OP, u16>(form),
        4 => alone::<OP, u32>(form),
        _ => alone::<OP, u64>(form),
    }
}

/// The handler for `cmp` (`SUB`) or `test` (`AND`).
pub(in crate::lower) fn pick(op: u8, size: usize, form: Form) -> Handler {
    if op == SUB { alone_sized::<SUB>(size, form) } else { alone_sized::<AND>(size, form) }
}

fn with_code<const OP: u8, T: Width, L: Source, R: Source, const LIVE: bool>(code: u8) -> Option<Handler> {
    Some(match (OP, code) {
        (_, 4) => fused::<OP, T, L, R, 4, LIVE, false>,
        (_, 5) => fused::<OP, T, L, R, 5, LIVE, false>,
        (_, 8) => fused::<OP, T, L, R, 8, LIVE, false>,
        (_, 9) => fused::<OP, T, L, R, 9, LIVE, false>,
        (_, 14) => fused::<OP, T, L, R, 14, LIVE, false>,
        (_, 15) => fused::<OP, T, L, R, 15, LIVE, false>,
        (SUB, 2) => fused::<SUB, T, L, R, 2, LIVE, false>,
        (SUB, 3) => fused::<SUB, T, L, R, 3, LIVE, false>,
        (SUB, 6) => fused::<SUB, T, L, R, 6, LIVE, false>,
        (SUB, 7) => fused::<SUB, T, L, R, 7, LIVE, false>,
        (SUB, 12) => fused::<SUB, T, L, R, 12, LIVE, false>,
        (SUB, 13) => fused::<SUB, T, L, R, 13, LIVE, false>,
        _ => return None,
    })
}

/// Indexed addresses serve for all: an address without index has the zero register.
fn fused_form<const OP: u8, T: Width, const LIVE: bool>(form: Form, code: u8) -> Option<Handler> {
    match form {
        Form::Register => with_code::<OP, T, Destination, Register, LIVE>(code),
        Form::Immediate => with_code::<OP, T, Destination, Half, LIVE>(code),
        Form::Load | Form::LoadIndexed => with_code::<OP, T, Destination, At<Indexed>, LIVE>(code),
        Form::Store | Form::StoreIndexed => with_code::<OP, T, At<Indexed>, Register, LIVE>(code),
        Form::StoreImmediate | Form::StoreImmediateIndexed => with_code::<OP, T, At<Indexed>, Half, LIVE>(code),
    }
}

fn fused_sized<const OP: u8, const LIVE: bool>(size: usize, form: Form, code: u8) -> Option<Handler> {
    match size {
        1 => fused_form::<OP, u8, LIVE>(form, code),
        2 => fused_form::<OP, u16, LIVE>(form, code),
        4 => fused_form::<OP, u32, LIVE>(form, code),
        _ => fused_form::<OP, u64, LIVE>(form, code),
    }
}

/// The handler for a comparison with the jump on condition `code` behind it, where there is one.
pub(in crate::lower) fn pick_fused(op: u8, size: usize, form: Form, code: u8, live: bool) -> Option<Handler> {
    match (op == SUB, live) {
        (true, true) => fused_sized::<SUB, true>(size, form, code),
        (true, false) => fused_sized::<SUB, false>(size, form, code),
        (false, true) => fused_sized::<AND, true>(size, form, code),
        (false, false) => fused_sized::<AND, false>(size, form, code),
    }
}

fn operation_code<const OP: u8, T: Width, S: Source, const LIVE: bool>(code: u8) -> Option<Handler> {
    Some(match (OP, code) {
        (_, 4) => operate::<OP, T, S, 4, LIVE>,
        (_, 5) => operate::<OP, T, S, 5, LIVE>,
        (_, 8) => operate::<OP, T, S, 8, LIVE>,
        (_, 9) => operate::<OP, T, S, 9, LIVE>,
        (SUB, 2) => operate::<SUB, T, S, 2, LIVE>,
        (SUB, 3) => operate::<SUB, T, S, 3, LIVE>,
        _ => return None,
    })
}

fn operation_sized<const OP: u8, S: Source, const LIVE: bool>(size: usize, code: u8) -> Option<Handler> {
    match size {
        1 => operation_code::<OP, u8, S, LIVE>(code),
        4 => operation_code::<OP, u32, S, LIVE>(code),
        8 => operation_code::<OP, u64, S, LIVE>(code),
        _ => None,
    }
}

fn operation_form<const OP: u8>(size: usize, form: Form, code: u8, live: bool) -> Option<Handler> {
    match (form, live) {
        (Form::Register, false) => operation_sized::<OP, Register, false>(size, code),
        (Form::Register, true) => operation_sized::<OP, Register, true>(size, code),
        (Form::Immediate, false) => operation_sized::<OP, Half, false>(size, code),
        (Form::Immediate, true) => operation_sized::<OP, Half, true>(size, code),
        _ => None,
    }
}

/// The handler for an operation on a register with the jump on condition `code` behind it, where there is one.
pub(in crate::lower) fn pick_operation(op: u8, size: usize, form: Form, code: u8, live: bool) -> Option<Handler> {
    match op {
        ADD => operation_form::<ADD>(size, form, code, live),
        SUB => operation_form::<SUB>(size, form, code, live),
        AND => operation_form::<AND>(size, form, code, live),
        _ => None,
    }
}
