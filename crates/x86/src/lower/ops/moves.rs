//! Moves, extensions, addresses, and what depends on a condition.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use memory::Memory;

use super::alu::Form;
use crate::cpu::Cpu;
use crate::lower::uop::{Exec, Handler, Uop, X};
use crate::lower::width::{Address, At, Based, Immediate, Indexed, Register, Source, Width};

/// `d = source`, from size `F` to size `T`, zero-extended.
unsafe fn load<F: Width, T: Width, S: Source>(
    u: *const Uop,
    cpu: *mut Cpu,
    memory: *mut Memory,
    exec: *mut Exec,
) -> *const Uop {
    let x = X { u, cpu, memory, exec };
    let Ok(value) = S::read::<F>(x) else { return x.stopped() };
    x.set::<T>(x.uop().d, value);
    x.next()
}

/// `d = source`, sign-extended.
unsafe fn load_signed<F: Width, T: Width, S: Source>(
    u: *const Uop,
    cpu: *mut Cpu,
    memory: *mut Memory,
    exec: *mut Exec,
) -> *const Uop {
    let x = X { u, cpu, memory, exec };
    let Ok(value) = S::read::<F>(x) else { return x.stopped() };
    x.set::<T>(x.uop().d, F::sign_extend(value));
    x.next()
}

/// `memory = source`.
unsafe fn store<T: Width, A: Address, S: Source>(
    u: *const Uop,
    cpu: *mut Cpu,
    memory: *mut Memory,
    exec: *mut Exec,
) -> *const Uop {
    let x = X { u, cpu, memory, exec };
    let Ok(value) = S::read::<T>(x) else { return x.stopped() };
    if x.store::<T>(A::of(x), value).is_err() {
        return x.stopped();
    }
    x.next()
}

unsafe fn lea<T: Width, A: Address>(u: *const Uop, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) -> *const Uop {
    let x = X { u, cpu, memory, exec };
    x.set::<T>(x.uop().d, A::of(x));
    x.next()
}

/// The source is read even when it is not moved.
unsafe fn move_if<T: Width, S: Source>(
    u: *const Uop,
    cpu: *mut Cpu,
    memory: *mut Memory,
    exec: *mut Exec,
) -> *const Uop {
    let x = X { u, cpu, memory, exec };
    let Ok(value) = S::read::<T>(x) else { return x.stopped() };
    let old = x.get::<T>(x.uop().d);
    let holds = x.cpu().flags.condition(x.uop().extra);
    x.set::<T>(x.uop().d, if holds { value } else { old });
    x.next()
}

unsafe fn set_if<const CODE: u8>(u: *const Uop, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) -> *const Uop {
    let x = X { u, cpu, memory, exec };
    let holds = x.cpu().flags.condition(CODE);
    x.set::<u8>(x.uop().d, u64::from(holds));
    x.next()
}

pub(in crate::lower) unsafe fn nothing(
    u: *const Uop,
    cpu: *mut Cpu,
    memory: *mut Memory,
    exec: *mut Exec,
) -> *const Uop {
    X { u, cpu, memory, exec }.next()
}

fn mov_sized<T: Width>(form: Form) -> Handler {
    match form {
        Form::Register => load::<T, T, Register>,
        Form::Immediate => load::<T, T, Immediate>,
        Form::Load => load::<T, T, At<Based>>,
        Form::LoadIndexed => load::<T, T, At<Indexed>>,
        Form::Store => store::<T, Based, Register>,
        Form::StoreIndexed => store::<T, Indexed, Register>,
        Form::StoreImmediate => store::<T, Based, Immediate>,
        Form::StoreImmediateIndexed => store::<T, Indexed, Immediate>,
    }
}

/// The handler for `mov`.
pub(in crate::lower) fn pick_mov(size: usize, form: Form) -> Handler {
    match size {
        1 => mov_sized::<u8>(form),
        2 => mov_sized::<u16>(form),
        4 => mov_sized::<u32>(form),
        _ => mov_sized::<u64>(form),
    }
}

fn zero_from<F: Width>(form: Form) -> Option<Handler> {
    Some(match form {
        Form::Register => load::<F, u32, Register>,
        Form::Load => load::<F, u32, At<Based>>,
        Form::LoadIndexed => load::<F, u32, At<Indexed>>,
        _ => return None,
    })
}

/// The handler for `movzx` to 4 or 8 bytes, which are the same.
pub(in crate::lower) fn pick_movzx(from: usize, form: Form) -> Option<Handler> {
    if from == 1 { zero_from::<u8>(form) } else { zero_from::<u16>(form) }
}

fn signed_from<F: Width, T: Width>(form: Form) -> Option<Handler> {
    Some(match form {
        Form::Register => load_signed::<F, T, Register>,
        Form::Load => load_signed::<F, T, At<Based>>,
        Form::LoadIndexed => load_signed::<F, T, At<Indexed>>,
        _ => return None,
    })
}

/// The handler for `movsx` and `movsxd` to 4 or 8 bytes.
pub(in crate::lower) fn pick_movsx(from: usize, to: usize, form: Form) -> Option<Handler> {
    match (from, to) {
        (1, 4) => signed_from::<u8, u32>(form),
        (1, 8) => signed_from::<u8, u64>(form),
        (2, 4) => signed_from::<u16, u32>(form),
        (2, 8) => signed_from::<u16, u64>(form),
        (4, 8) => signed_from::<u32, u64>(form),
        _ => None,
    }
}

/// The handler for `lea` to 4 or 8 bytes.
pub(in crate::lower) fn pick_lea(size: usize, indexed: bool) -> Handler {
    match (size, indexed) {
        (4, false) => lea::<u32, Based>,
        (4, true) => lea::<u32, Indexed>,
        (_, false) => lea::<u64, Based>,
        (_, true) => lea::<u64, Indexed>,
    }
}

/// The handler for `cmovcc` of 4 or 8 bytes; `extra` is the condition.
pub(in crate::lower) fn pick_cmov(size: usize, form: Form) -> Option<Handler> {
    Some(match (size, form) {
        (4, Form::Register) => move_if::<u32, Register>,
        (4, Form::Load | Form::LoadIndexed) => move_if::<u32, At<Indexed>>,
        (8, Form::Register) => move_if::<u64, Register>,
        (8, Form::Load | Form::LoadIndexed) => move_if::<u64, At<Indexed>>,
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
