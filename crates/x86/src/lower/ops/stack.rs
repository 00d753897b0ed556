//! Push, pop, leave.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use crate::cpu::{RBP, RSP};
use crate::lower::uop::{Handler, handler};
use crate::lower::width::{At, Immediate, Indexed, Register, Source};

handler! {
    fn push[S: Source, const C: bool](x: C) {
        let top = x.cpu().gpr[RSP].wrapping_sub(8);
        if S::read::<u64, C>(x).and_then(|value| x.store::<u64>(top, value)).is_err() {
            return x.retry(push::<S, true>);
        }
        x.cpu().gpr[RSP] = top;
        x.next()
    }
}

handler! {
    pub(in crate::lower) fn pop[const C: bool](x: C) {
        let top = x.cpu().gpr[RSP];
        let Ok(value) = x.load::<u64>(top) else { return x.retry(pop::<true>) };
        // In this order: `pop rsp` keeps the value.
        x.cpu().gpr[RSP] = top.wrapping_add(8);
        x.finish::<u64>(value)
    }
}

handler! {
    pub(in crate::lower) fn leave[const C: bool](x: C) {
        let frame = x.cpu().gpr[RBP];
        let Ok(value) = x.load::<u64>(frame) else { return x.retry(leave::<true>) };
        x.cpu().gpr[RBP] = value;
        x.cpu().gpr[RSP] = frame.wrapping_add(8);
        x.next()
    }
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
        Pushed::Register => push::<Register, false>,
        Pushed::Immediate => push::<Immediate, false>,
        Pushed::Memory => push::<At<Indexed>, false>,
    }
}
