//! Everything else: the reference meaning, called from a micro-operation.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use iced_x86::Instruction;
use memory::Memory;

use super::host;
use crate::Generic;
use crate::cpu::Cpu;
use crate::generic::settle_rip;
use crate::lower::uop::{Careful, Exec, Last, Uop};
use crate::machine::{Machine, Trap};

/// A decoded instruction and its meaning: what `link` of these micro-operations points to.
#[derive(Clone, Copy)]
pub(in crate::lower) struct Decoded {
    pub instruction: Instruction,
    pub generic: Generic,
}

/// Calls the reference meaning; false if it trapped. Kept apart so that handlers need no stack.
#[inline(never)]
unsafe fn call(u: *const Uop, cpu: *mut Cpu, memory: *mut Memory, exec: *mut Exec) -> bool {
    host::settle(cpu, exec);
    let decoded = &*(*u).link.cast::<Decoded>();
    let mut machine = Machine { cpu: &mut *cpu, memory: &mut *memory, clock: (*exec).clock };
    machine.cpu.rip = decoded.instruction.next_ip();
    let result = (decoded.generic)(&mut machine, &decoded.instruction);
    settle_rip(&mut machine, &decoded.instruction, &result);
    let Err(trap) = result else { return true };
    let executed = u64::from(matches!(trap, Trap::Syscall | Trap::Breakpoint));
    (*exec).budget += u64::from((*u).left) - executed;
    (*exec).trap = Some(trap);
    false
}

/// An instruction that goes on with the next.
pub(in crate::lower) unsafe fn plain(
    u: *const Uop,
    cpu: *mut Cpu,
    memory: *mut Memory,
    last: Last,
    exec: *mut Exec,
) -> *const Uop {
    let x = Careful { u, cpu, memory, exec, last };
    if call(u, cpu, memory, exec) { x.next() } else { std::ptr::null() }
}

/// An instruction that ends its block and says itself where it goes.
pub(in crate::lower) unsafe fn last(
    u: *const Uop,
    cpu: *mut Cpu,
    memory: *mut Memory,
    last: Last,
    exec: *mut Exec,
) -> *const Uop {
    let x = Careful { u, cpu, memory, exec, last };
    if call(u, cpu, memory, exec) { x.indirect((*cpu).rip) } else { std::ptr::null() }
}

/// A repeated string instruction, alone in its block: each iteration counts as one instruction.
pub(in crate::lower) unsafe fn repeated(
    u: *const Uop,
    cpu: *mut Cpu,
    memory: *mut Memory,
    last: Last,
    exec: *mut Exec,
) -> *const Uop {
    let x = Careful { u, cpu, memory, exec, last };
    loop {
        if !call(u, cpu, memory, exec) {
            return std::ptr::null();
        }
        if (*cpu).rip != (*u).ip {
            return x.indirect((*cpu).rip);
        }
        if (*exec).budget == 0 {
            return std::ptr::null();
        }
        (*exec).budget -= 1;
    }
}
