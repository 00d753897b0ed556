//! Moves, extensions, addresses, and what depends on a condition.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use super::alu::{Chain, Form};
use crate::lower::uop::{Handler, handler};
use crate::lower::width::{
    Address, At, Based, BasedOnLast, Before, Immediate, Indexed, IndexedByLast, Register, Source, Width,
};

handler! {
    /// `d = source`, from size `F` to size `T`, zero-extended.
    fn load[F: Width, T: Width, S: Source, const C: bool](x: C) {
        match S::read::<F, C>(x) {
            Ok(value) => x.finish::<T>(value),
            Err(_) => x.retry(load::<F, T, S, true>),
        }
    }
}

handler! {
    /// `d = source`, sign-extended.
    fn load_signed[F: Width, T: Width, S: Source, const C: bool](x: C) {
        match S::read::<F, C>(x) {
            Ok(value) => x.finish::<T>(F::sign_extend(value)),
            Err(_) => x.retry(load_signed::<F, T, S, true>),
        }
    }
}

handler! {
    /// `memory = source`.
    fn store[T: Width, A: Address, S: Source, const C: bool](x: C) {
        let stored = S::read::<T, C>(x).and_then(|value| x.store::<T>(A::of(x), value));
        if stored.is_ok() { x.next_keeping() } else { x.retry(store::<T, A, S, true>) }
    }
}

handler! {
    fn lea[T: Width, A: Address](x: true) {
        x.finish::<T>(A::of(x))
    }
}

handler! {
    /// The source is read even when it is not moved.
    fn move_if[T: Width, S: Source, const C: bool](x: C) {
        let Ok(value) = S::read::<T, C>(x) else { return x.retry(move_if::<T, S, true>) };
        let old = x.get::<T>(x.uop().d);
        let holds = x.cpu().flags.condition(x.uop().extra);
        x.finish::<T>(if holds { value } else { old })
    }
}

handler! {
    fn set_if[const CODE: u8](x: true) {
        let holds = x.cpu().flags.condition(CODE);
        x.set::<u8>(x.uop().d, u64::from(holds));
        x.next()
    }
}

handler! {
    pub(in crate::lower) fn nothing[](x: true) {
        x.next_keeping()
    }
}

fn mov_sized<T: Width>(form: Form) -> Handler {
    match form {
        Form::Register => load::<T, T, Register, false>,
        Form::Immediate => load::<T, T, Immediate, false>,
        Form::Load => load::<T, T, At<Based>, false>,
        Form::LoadIndexed => load::<T, T, At<Indexed>, false>,
        Form::Store => store::<T, Based, Register, false>,
        Form::StoreIndexed => store::<T, Indexed, Register, false>,
        Form::StoreImmediate => store::<T, Based, Immediate, false>,
        Form::StoreImmediateIndexed => store::<T, Indexed, Immediate, false>,
    }
}

/// With an operand from the micro-operation before.
fn mov_chained<T: Width>(form: Form, chain: Chain) -> Handler {
    match (form, chain) {
        (Form::Register, Chain::Second) => load::<T, T, Before, false>,
        (Form::Load, Chain::Base) => load::<T, T, At<BasedOnLast>, false>,
        (Form::LoadIndexed, Chain::Index) => load::<T, T, At<IndexedByLast>, false>,
        _ => mov_sized::<T>(form),
    }
}

/// The handler for `mov`.
pub(in crate::lower) fn pick_mov(size: usize, form: Form, chain: Chain) -> Handler {
    match size {
        1 => mov_sized::<u8>(form),
        2 => mov_sized::<u16>(form),
        4 => mov_chained::<u32>(form, chain),
        _ => mov_chained::<u64>(form, chain),
    }
}

fn zero_from<F: Width>(form: Form, chain: Chain) -> Option<Handler> {
    Some(match (form, chain) {
        (Form::Register, Chain::Second) => load::<F, u32, Before, false>,
        (Form::Load, Chain::Base) => load::<F, u32, At<BasedOnLast>, false>,
        (Form::LoadIndexed, Chain::Index) => load::<F, u32, At<IndexedByLast>, false>,
        (Form::Register, _) => load::<F, u32, Register, false>,
        (Form::Load, _) => load::<F, u32, At<Based>, false>,
        (Form::LoadIndexed, _) => load::<F, u32, At<Indexed>, false>,
        _ => return None,
    })
}

/// The handler for `movzx` to 4 or 8 bytes, which are the same.
pub(in crate::lower) fn pick_movzx(from: usize, form: Form, chain: Chain) -> Option<Handler> {
    if from == 1 { zero_from::<u8>(form, chain) } else { zero_from::<u16>(form, chain) }
}

fn signed_from<F: Width, T: Width>(form: Form, chain: Chain) -> Option<Handler> {
    Some(match (form, chain) {
        (Form::Register, Chain::Second) => load_signed::<F, T, Before, false>,
        (Form::Load, Chain::Base) => load_signed::<F, T, At<BasedOnLast>, false>,
        (Form::LoadIndexed, Chain::Index) => load_signed::<F, T, At<IndexedByLast>, false>,
        (Form::Register, _) => load_signed::<F, T, Register, false>,
        (Form::Load, _) => load_signed::<F, T, At<Based>, false>,
        (Form::LoadIndexed, _) => load_signed::<F, T, At<Indexed>, false>,
        _ => return None,
    })
}

/// The handler for `movsx` and `movsxd` to 4 or 8 bytes.
pub(in crate::lower) fn pick_movsx(from: usize, to: usize, form: Form, chain: Chain) -> Option<Handler> {
    match (from, to) {
        (1, 4) => signed_from::<u8, u32>(form, chain),
        (1, 8) => signed_from::<u8, u64>(form, chain),
        (2, 4) => signed_from::<u16, u32>(form, chain),
        (2, 8) => signed_from::<u16, u64>(form, chain),
        (4, 8) => signed_from::<u32, u64>(form, chain),
        _ => None,
    }
}

fn lea_sized<T: Width>(indexed: bool, chain: Chain) -> Handler {
    match (indexed, chain) {
        (false, Chain::Base) => lea::<T, BasedOnLast>,
        (true, Chain::Index) => lea::<T, IndexedByLast>,
        (false, _) => lea::<T, Based>,
        (true, _) => lea::<T, Indexed>,
    }
}

/// The handler for `lea` to 4 or 8 bytes.
pub(in crate::lower) fn pick_lea(size: usize, indexed: bool, chain: Chain) -> Handler {
    if size == 4 { lea_sized::<u32>(indexed, chain) } else { lea_sized::<u64>(indexed, chain) }
}

/// The handler for `cmovcc` of 4 or 8 bytes; `extra` is the condition.
pub(in crate::lower) fn pick_cmov(size: usize, form: Form) -> Option<Handler> {
    Some(match (size, form) {
        (4, Form::Register) => move_if::<u32, Register, false>,
        (4, Form::Load | Form::LoadIndexed) => move_if::<u32, At<Indexed>, false>,
        (8, Form::Register) => move_if::<u64, Register, false>,
        (8, Form::Load | Form::LoadIndexed) => move_if::<u64, At<Indexed>, false>,
        _ => return None,
    })
}

/// The handler for `setcc` to a register.
pub(in crate::lower) fn pick_set(code: u8) -> Handler {
    const SETS: [Handler; 16] = [
        set_if::<0>,
        set_if::<1>,
        set_if::<2>,
        set_if::<3>,
        set_if::<4>,
        set_if::<5>,
        set_if::<6>,
        set_if::<7>,
        set_if::<8>,
        set_if::<9>,
        set_if::<10>,
        set_if::<11>,
        set_if::<12>,
        set_if::<13>,
        set_if::<14>,
        set_if::<15>,
    ];
    SETS[usize::from(code & 15)]
}
