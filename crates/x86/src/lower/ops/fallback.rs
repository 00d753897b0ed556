//! Everything else: the reference meaning, called from a micro-operation.
//!
//! The reference may read MXCSR, so flags that the host has collected are given to the guest first
//! (`host::settle`).

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use iced_x86::Instruction;
use memory::Memory;

use super::host;
use crate::Generic;
use crate::cpu::Cpu;
use crate::generic::settle;
use crate::lower::uop::{Exec, Last, Uop, handler};
use crate::machine::{Machine, Trap};

/// A decoded instruction and its meaning: what `link` of these micro-operations points to.
#[derive(Clone, Copy)]
pub(in crate::lower) struct Decoded {
    pub instruction: Instruction,
    pub generic: Generic,
}

/// Calls the reference meaning; false if it trapped. Kept apart so that handlers need no stack.
///
/// On a trap, the rest of the block is given back to the budget, this instruction too unless it
/// completed (`syscall`, `int3`).
#[inline(never)]
unsafe fn call(u: *const Uop, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) -> bool {
    host::settle(cpu, exec);
    let decoded = &*(*u).link.cast::<Decoded>();
    let mut machine = Machine { cpu: &mut *cpu, memory: &mut *memory, clock: (*exec).clock };
    machine.cpu.rip = decoded.instruction.next_ip();
    let result = (decoded.generic)(&mut machine, &decoded.instruction);
    let Err(trap) = settle(&mut machine, &decoded.instruction, result) else { return true };
    let executed = u64::from(matches!(trap, Trap::Syscall | Trap::Breakpoint));
    (*exec).budget += u64::from((*u).left) - executed;
    (*exec).trap = Some(trap);
    false
}

handler! {
    /// An instruction that goes on with the next.
    pub(in crate::lower) fn plain[](x: true) {
        if call(x.u, x.cpu, x.memory, x.exec) { x.next() } else { std::ptr::null() }
    }
}

handler! {
    /// An instruction that ends its block and says itself where it goes.
    pub(in crate::lower) fn last[](x: true) {
        if call(x.u, x.cpu, x.memory, x.exec) { x.indirect((*x.cpu).rip) } else { std::ptr::null() }
    }
}

/// `popf`, which may ask for alignment checks: the run goes on as it finds fit.
pub(in crate::lower) unsafe fn leaving(
    u: *const Uop,
    cpu: *mut Cpu,
    memory: *mut Memory,
    _: Last,
    exec: *mut Exec,
) -> *const Uop {
    call(u, cpu, memory, exec);
    std::ptr::null()
}

handler! {
    /// A repeated string instruction, alone in its block: each iteration counts as one instruction.
    pub(in crate::lower) fn repeated[](x: true) {
        loop {
            if !call(x.u, x.cpu, x.memory, x.exec) {
                return std::ptr::null();
            }
            if (*x.cpu).rip != (*x.u).ip {
                return x.indirect((*x.cpu).rip);
            }
            if (*x.exec).budget == 0 {
                return std::ptr::null();
            }
            (*x.exec).budget -= 1;
        }
    }
}
