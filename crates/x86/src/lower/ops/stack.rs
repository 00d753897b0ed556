//! Push, pop, leave.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use memory::Memory;

use crate::cpu::{Cpu, RBP, RSP};
use crate::lower::uop::{Exec, Handler, Uop, X};
use crate::lower::width::{At, Immediate, Indexed, Register, Source};

unsafe fn push<S: Source>(u: *const Uop, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) -> *const Uop {
    let x = X { u, cpu, memory, exec };
    let Ok(value) = S::read::<u64>(x) else { return x.stopped() };
    let top = x.cpu().gpr[RSP].wrapping_sub(8);
    if x.store::<u64>(top, value).is_err() {
        return x.stopped();
    }
    x.cpu().gpr[RSP] = top;
    x.next()
}

pub(in crate::lower) unsafe fn pop(u: *const Uop, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) -> *const Uop {
    let x = X { u, cpu, memory, exec };
    let top = x.cpu().gpr[RSP];
    let Ok(value) = x.load::<u64>(top) else { return x.stopped() };
    // In this order: `pop rsp` keeps the value.
    x.cpu().gpr[RSP] = top.wrapping_add(8);
    x.set::<u64>(x.uop().d, value);
    x.next()
}

pub(in crate::lower) unsafe fn leave(u: *const Uop, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) -> *const Uop {
    let x = X { u, cpu, memory, exec };
    let frame = x.cpu().gpr[RBP];
    let Ok(value) = x.load::<u64>(frame) else { return x.stopped() };
    x.cpu().gpr[RBP] = value;
    x.cpu().gpr[RSP] = frame.wrapping_add(8);
    x.next()
}

/// What is pushed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::lower) enum Pushed {
    Register,
    Immediate,
    Memory,
}

/// The handler for `push`.
pub(in crate::lower) fn pick_push(what: Pushed) -> Handler {
    match what {
        Pushed::Register => push::<Register>,
        Pushed::Immediate => push::<Immediate>,
        Pushed::Memory => push::<At<Indexed>>,
    }
}
