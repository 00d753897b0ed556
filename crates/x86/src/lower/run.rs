//! Running: block after block, to an exact number of instructions.
//!
//! **Exact budgets.** A run executes exactly `budget` instructions unless something stops it:
//! schedules count instructions, so a replay must stop at the same one on every machine and with
//! either interpreter. Blocks pay for all their instructions at entry ([`super::uop`]); a block
//! that costs more than is left is entered as a copy that is cut off ([`beginning`]), and a fused
//! pair that would straddle the end is executed by the reference, one half.
//!
//! **What a stop leaves:** `rip` at an instruction boundary, memory and registers as the reference
//! would have them, host floating-point flags folded into the guest's MXCSR, dead flags cleared.

#![allow(unsafe_code)]

use memory::{AccessKind, Halt};

use super::Code;
use super::ops::host;
use super::uop::{Exec, Last, Uop, trampoline};
use crate::generic;
use crate::machine::{Machine, Trap};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Instructions completed; an iteration of a repeated string instruction counts as one.
    pub executed: u64,
    /// Why the next one was not, or what the last one asked for. `None`: the budget is used up.
    pub trap: Option<Trap>,
}

/// Runs at most `budget` instructions.
///
/// On a trap `rip` is at the instruction that did not complete; behind it for `syscall` and `int3`, as on the processor.
/// Dead flags are cleared where a run stops: see [`settle`].
///
/// `stop_at_code` is on for the length of the run and off outside, because the kernel's own writes
/// (signal frames, `read(2)` into a buffer that holds code) are followed by `prepare` anyway.
pub fn run(mut machine: Machine<'_>, code: &mut Code, budget: u64) -> Stop {
    let mut exec = Exec::new(budget, std::ptr::from_mut(code), machine.clock);
    machine.cpu.zero = 0;
    machine.memory.stop_at_code(true);
    code.prepare(&mut machine);
    let trap = run_blocks(&mut machine, code, &mut exec);
    machine.memory.stop_at_code(false);
    settle_here(&mut machine, code);
    Stop { executed: budget - exec.budget, trap }
}

/// Executes the one instruction that a run was stopped before ([`Trap::Stop`]), and no more.
///
/// Used behind [`Trap::Stop`]: the checker has decided that the visible operation may happen now.
/// No block is entered, since the block at `rip` is the one that is never handed out.
pub fn run_past(mut machine: Machine<'_>, code: &mut Code) -> Stop {
    let mut exec = Exec::new(1, std::ptr::from_mut(code), machine.clock);
    machine.cpu.zero = 0;
    let trap = step_over(&mut machine, &mut exec).err();
    machine.memory.stop_at_code(false);
    code.prepare(&mut machine);
    settle_here(&mut machine, code);
    Stop { executed: 1 - exec.budget, trap }
}

/// Each turn makes progress: a block, one instruction by the reference, or a trap that ends the
/// run. A stopped store is told apart from a watchpoint only by trying it: with `stop_at_code` off,
/// memory stops it again if a watchpoint was meant.
fn run_blocks(m: &mut Machine<'_>, code: &mut Code, exec: &mut Exec) -> Option<Trap> {
    while exec.budget > 0 {
        // Handlers ignore the alignment flag, which programs set only to test whether it can be.
        let plainly = code.reference || m.cpu.flags.ac();
        let result = if plainly { step_plainly(m, code, exec) } else { run_block(m, code, exec) };
        if let Err(trap) = result {
            if !is_code_store(&trap) {
                return Some(trap);
            }
            // The store is to a page with noted code: the reference executes it, then all code is validated again.
            let result = step_over(m, exec);
            code.prepare(m);
            if let Err(trap) = result {
                return Some(trap);
            }
        }
    }
    None
}

/// One instruction by the reference; not one that a run stops before.
fn step_plainly(m: &mut Machine<'_>, code: &mut Code, exec: &mut Exec) -> Result<(), Trap> {
    let instruction = generic::decode(m)?;
    if code.stops().contains(&instruction) {
        return Err(Trap::Stop);
    }
    let result = step_over(m, exec);
    code.prepare(m);
    result
}

/// A store that was stopped, maybe only because blocks were made from its page.
fn is_code_store(trap: &Trap) -> bool {
    matches!(trap, Trap::Memory(Halt::Visible(touch)) if touch.access == AccessKind::Write)
}

/// One instruction by the reference, stores to code included.
fn step_over(m: &mut Machine<'_>, exec: &mut Exec) -> Result<(), Trap> {
    m.memory.stop_at_code(false);
    let result = generic::step(m);
    m.memory.stop_at_code(true);
    if result.is_ok() || matches!(result, Err(Trap::Syscall | Trap::Breakpoint)) {
        exec.budget -= 1;
    }
    result
}

/// Runs from `rip` until something ends it: a trap, or a block that the budget does not cover.
fn run_block(m: &mut Machine<'_>, code: &mut Code, exec: &mut Exec) -> Result<(), Trap> {
    let first = code.block(m, m.cpu.rip)?;
    // SAFETY: a block was just found, and blocks stay until `prepare`.
    let need = u64::from(unsafe { (*first).left });
    let first = if need <= exec.budget { Some((first, need)) } else { beginning(code, first, exec.budget) };
    let Some((first, need)) = first else {
        // Half of a fused pair.
        return step_over(m, exec);
    };
    exec.budget -= need;
    exec.code = std::ptr::from_mut(code);
    // SAFETY: the contract of handlers: `first` is in a block of `code`, and all else is ours alone.
    unsafe {
        trampoline(first, m.cpu, m.memory, exec);
        host::settle(m.cpu, exec);
    }
    exec.trap.take().map_or(Ok(()), Err)
}

/// Copies as much of a block as the budget covers, with an end behind it; how many instructions that is.
///
/// At most [`super::build::LENGTH_MAX`] micro-operations are copied, once per run at most.
fn beginning(code: &mut Code, first: *const Uop, budget: u64) -> Option<(*const Uop, u64)> {
    // SAFETY: micro-operations follow each other up to one with nothing left, which is in the block, too.
    let at = |n: usize| unsafe { *first.add(n) };
    let total = u64::from(at(0).left);
    let done_before = |n: usize| total - u64::from(at(n).left);
    let mut count = 0;
    while done_before(count + 1) <= budget {
        count += 1;
    }
    let covered = done_before(count);
    if covered == 0 {
        return None;
    }
    for n in 0..count {
        code.scratch[n] = at(n);
        code.scratch[n].left = (covered - done_before(n)) as u16;
    }
    code.scratch[count] = super::translate::blank(end, at(count).ip);
    Some((code.scratch.as_ptr(), covered))
}

/// The end of a beginning.
unsafe fn end(u: *const Uop, cpu: *mut crate::Cpu, _: *mut memory::Memory, _: Last, _: *mut Exec) -> *const Uop {
    // SAFETY: the contract of handlers.
    unsafe { (*cpu).rip = (*u).ip };
    std::ptr::null()
}

/// Clears the flags that are dead at `rip`, as [`run`] does where it stops.
///
/// What is dead depends on the code from `rip` on and on nothing else. So threads that differ only in flags which are about
/// to be overwritten become equal.
pub fn settle(machine: &mut Machine<'_>, code: &mut Code) {
    code.prepare(machine);
    settle_here(machine, code);
}

fn settle_here(m: &mut Machine<'_>, code: &mut Code) {
    let dead = code.dead(m, m.cpu.rip);
    if dead != 0 {
        m.cpu.flags.replace(dead, 0);
    }
}
