//! Hosts without SSE: everything is left to the portable handlers and to the reference.

#![allow(unsafe_code)]

use iced_x86::Instruction;

use crate::cpu::Cpu;
use crate::lower::uop::{Exec, Handler, Uop};

/// No flags were collected.
///
/// # Safety
/// None needed here.
pub(in crate::lower) unsafe fn settle(_: *mut Cpu, _: *mut Exec) {}

/// No handler.
pub(in crate::lower) fn pick(_: &mut Uop, _: &Instruction) -> Option<Handler> {
    None
}

/// No handler.
pub(in crate::lower) fn pick_floating(_: &mut Uop, _: &Instruction) -> Option<Handler> {
    None
}
