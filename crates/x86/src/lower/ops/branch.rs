//! Jumps, calls and returns.
//!
//! A branch finds its target in one of three ways: `link` of the micro-operation (direct, made on
//! first use), the table of recent targets (indirect), or the hash map of blocks (cold). None of
//! them checks that the block is still right: see `code.rs` for who does.

#![allow(unsafe_code, unsafe_op_in_unsafe_fn)]

use memory::Stopped;

use crate::cpu::RSP;
use crate::lower::uop::{Handler, X, handler};
use crate::lower::width::{At, Before, Indexed, Register, Source};
use crate::machine::canonical;

handler! {
    /// `jmp` to a fixed address; also from the end of a block to the next.
    pub(in crate::lower) fn jump[](x: true) {
        x.branch()
    }
}

handler! {
    fn jump_if[const CODE: u8](x: true) {
        if x.cpu().flags.condition(CODE) { x.branch_early() } else { x.next_keeping() }
    }
}

/// Address behind the instruction; `extra` is its length.
#[inline(always)]
unsafe fn behind<const C: bool>(x: X<C>) -> u64 {
    x.uop().ip.wrapping_add(u64::from(x.uop().extra))
}

/// Stores the return address; where the stack pointer goes, if that could be written.
#[inline(always)]
unsafe fn push_return<const C: bool>(x: X<C>) -> Result<u64, Stopped> {
    let top = x.cpu().gpr[RSP].wrapping_sub(8);
    x.store::<u64>(top, behind(x)).map(|()| top)
}

handler! {
    pub(in crate::lower) fn call[const C: bool](x: C) {
        let Ok(top) = push_return(x) else { return x.retry(call::<true>) };
        x.cpu().gpr[RSP] = top;
        x.branch()
    }
}

handler! {
    fn call_indirect[S: Source, const C: bool](x: C) {
        let careful = call_indirect::<S, true>;
        let Ok(target) = S::read::<u64, C>(x) else { return x.retry(careful) };
        let Ok(top) = push_return(x) else { return x.retry(careful) };
        // Stored even if the target is refused, as on the processor.
        if !canonical(target) {
            return x.refused();
        }
        x.cpu().gpr[RSP] = top;
        x.indirect(target)
    }
}

handler! {
    fn jump_indirect[S: Source, const C: bool](x: C) {
        let Ok(target) = S::read::<u64, C>(x) else { return x.retry(jump_indirect::<S, true>) };
        if !canonical(target) {
            return x.refused();
        }
        x.indirect(target)
    }
}

handler! {
    /// `imm` is what `ret imm16` drops besides the return address.
    pub(in crate::lower) fn ret[const C: bool](x: C) {
        let top = x.cpu().gpr[RSP];
        let Ok(target) = x.load::<u64>(top) else { return x.retry(ret::<true>) };
        if !canonical(target) {
            return x.refused();
        }
        x.cpu().gpr[RSP] = top.wrapping_add(8).wrapping_add(x.uop().imm);
        x.indirect(target)
    }
}

/// The handler for a conditional jump.
pub(in crate::lower) fn pick_conditional(code: u8) -> Handler {
    const JUMPS: [Handler; 16] = [
        jump_if::<0>,
        jump_if::<1>,
        jump_if::<2>,
        jump_if::<3>,
        jump_if::<4>,
        jump_if::<5>,
        jump_if::<6>,
        jump_if::<7>,
        jump_if::<8>,
        jump_if::<9>,
        jump_if::<10>,
        jump_if::<11>,
        jump_if::<12>,
        jump_if::<13>,
        jump_if::<14>,
        jump_if::<15>,
    ];
    JUMPS[usize::from(code & 15)]
}

/// The handler for a jump or call through a register; `chained` says that the micro-operation before has written it.
pub(in crate::lower) fn pick_indirect(call: bool, chained: bool) -> Handler {
    match (call, chained) {
        (true, false) => call_indirect::<Register, false>,
        (true, true) => call_indirect::<Before, false>,
        (false, false) => jump_indirect::<Register, false>,
        (false, true) => jump_indirect::<Before, false>,
    }
}

/// The handler for a jump or call through memory.
pub(in crate::lower) fn pick_loaded(call: bool) -> Handler {
    if call { call_indirect::<At<Indexed>, false> } else { jump_indirect::<At<Indexed>, false> }
}
