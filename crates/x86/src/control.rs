//! Jumps, calls, and the ways into the kernel.
//!
//! Every function here follows one order: read operands, access memory, change registers last. A
//! trap therefore leaves the registers as they were (`rip` is put back by
//! [`crate::generic::execute`]), and the instruction can be restarted after a page was mapped or a
//! watchpoint was let through. Far branches, interrupt returns and task switches are not in the
//! table: a program in 64-bit user mode on Linux has no use for them, and what is not in a table
//! ends the run as unsupported.

use iced_x86::{Instruction, Mnemonic, OpKind};

use crate::cpu::{R11, RCX, RSP};
use crate::integer::condition;
use crate::machine::{Machine, Trap, canonical, mask};
use crate::row::Row;

pub(crate) const TABLE: &[Row] = &[
    (Mnemonic::Jmp, jmp),
    (Mnemonic::Call, call),
    (Mnemonic::Ret, ret),
    (Mnemonic::Jo, jcc),
    (Mnemonic::Jno, jcc),
    (Mnemonic::Jb, jcc),
    (Mnemonic::Jae, jcc),
    (Mnemonic::Je, jcc),
    (Mnemonic::Jne, jcc),
    (Mnemonic::Jbe, jcc),
    (Mnemonic::Ja, jcc),
    (Mnemonic::Js, jcc),
    (Mnemonic::Jns, jcc),
    (Mnemonic::Jp, jcc),
    (Mnemonic::Jnp, jcc),
    (Mnemonic::Jl, jcc),
    (Mnemonic::Jge, jcc),
    (Mnemonic::Jle, jcc),
    (Mnemonic::Jg, jcc),
    (Mnemonic::Jcxz, jump_if_count_is_zero),
    (Mnemonic::Jecxz, jump_if_count_is_zero),
    (Mnemonic::Jrcxz, jump_if_count_is_zero),
    (Mnemonic::Loop, |m, i| loop_while(m, i, None)),
    (Mnemonic::Loope, |m, i| loop_while(m, i, Some(true))),
    (Mnemonic::Loopne, |m, i| loop_while(m, i, Some(false))),
    (Mnemonic::Syscall, syscall),
    (Mnemonic::Int3, |_, _| Err(Trap::Breakpoint)),
    // `int 0x80` is the 32-bit entry to Linux, with another table of calls; the world refuses it
    // rather than serving the wrong one.
    (Mnemonic::Int, |_, i| Err(Trap::Interrupt(i.immediate8()))),
    (Mnemonic::Ud0, |_, _| Err(Trap::InvalidOpcode)),
    (Mnemonic::Ud1, |_, _| Err(Trap::InvalidOpcode)),
    (Mnemonic::Ud2, |_, _| Err(Trap::InvalidOpcode)),
];

/// Where a near branch goes: its displacement, or the operand's value.
fn target(m: &mut Machine<'_>, i: &Instruction) -> Result<u64, Trap> {
    let target = unchecked_target(m, i)?;
    check(target)
}

/// The target before it is known to be canonical. `call` needs it apart: the processor stores the
/// return address first and faults on the target afterwards, so the store is visible in the signal
/// handler.
fn unchecked_target(m: &mut Machine<'_>, i: &Instruction) -> Result<u64, Trap> {
    match i.op0_kind() {
        OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64 => Ok(i.near_branch_target()),
        _ => m.read(i, 0),
    }
}

/// A branch to a non-canonical address faults at the branch.
fn check(target: u64) -> Result<u64, Trap> {
    if canonical(target) { Ok(target) } else { Err(Trap::GeneralProtection) }
}

fn jmp(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    m.cpu.rip = target(m, i)?;
    Ok(())
}

fn jcc(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    if m.cpu.flags.condition(condition(i)) {
        m.cpu.rip = target(m, i)?;
    }
    Ok(())
}

/// The stack pointer moves last: after a fault at the target, `rsp` is what it was, although the
/// word below it was written.
fn call(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let target = unchecked_target(m, i)?;
    let top = m.cpu.gpr[RSP].wrapping_sub(8);
    // Stored even if the target is refused.
    m.store(top, 8, i.next_ip())?;
    m.cpu.rip = check(target)?;
    m.cpu.gpr[RSP] = top;
    Ok(())
}

fn ret(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let top = m.cpu.gpr[RSP];
    let target = m.load(top, 8)?;
    if !canonical(target) {
        return Err(Trap::GeneralProtection);
    }
    let arguments = if i.op_count() == 1 { u64::from(i.immediate16()) } else { 0 };
    m.cpu.gpr[RSP] = top.wrapping_add(8).wrapping_add(arguments);
    m.cpu.rip = target;
    Ok(())
}

/// Bytes of the counter: the address size of `loop` and `jrcxz` is in their form.
///
/// The same prefix (67h) that shortens addresses shortens the counter, so the decoder's form is the
/// only place where the size can be seen.
fn counter_size(i: &Instruction) -> usize {
    use iced_x86::Code::{
        Jcxz_rel8_16, Jcxz_rel8_32, Jecxz_rel8_16, Jecxz_rel8_32, Jecxz_rel8_64, Loop_rel8_16_ECX, Loop_rel8_32_ECX,
        Loop_rel8_64_ECX, Loope_rel8_16_ECX, Loope_rel8_32_ECX, Loope_rel8_64_ECX, Loopne_rel8_16_ECX,
        Loopne_rel8_32_ECX, Loopne_rel8_64_ECX,
    };
    match i.code() {
        Jcxz_rel8_16 | Jcxz_rel8_32 => 2,
        Jecxz_rel8_16 | Jecxz_rel8_32 | Jecxz_rel8_64 => 4,
        Loop_rel8_16_ECX | Loop_rel8_32_ECX | Loop_rel8_64_ECX => 4,
        Loope_rel8_16_ECX | Loope_rel8_32_ECX | Loope_rel8_64_ECX => 4,
        Loopne_rel8_16_ECX | Loopne_rel8_32_ECX | Loopne_rel8_64_ECX => 4,
        _ => 8,
    }
}

fn jump_if_count_is_zero(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    if m.cpu.gpr[RCX] & mask(counter_size(i)) == 0 {
        m.cpu.rip = target(m, i)?;
    }
    Ok(())
}

/// `loop`, `loope` and `loopne`: the counter goes down whether or not the jump is taken, no flag is
/// changed by it, and `zero` is what the zero flag must be besides. A non-canonical target faults
/// before the counter moves.
fn loop_while(m: &mut Machine<'_>, i: &Instruction, zero: Option<bool>) -> Result<(), Trap> {
    let count = m.cpu.gpr[RCX].wrapping_sub(1) & mask(counter_size(i));
    let target = target(m, i)?;
    m.cpu.gpr[RCX] = count;
    if count != 0 && zero.is_none_or(|zero| m.cpu.flags.zf() == zero) {
        m.cpu.rip = target;
    }
    Ok(())
}

/// The processor's half of a system call: return address and flags to registers; the rest is the kernel's.
///
/// SDM vol. 2, SYSCALL: `rcx` and `r11` are overwritten by the processor itself, before the kernel
/// sees anything; the C library's wrappers list them as clobbered, and a program may rely on
/// finding them changed. `rip` is left behind the instruction; a call that waits is made again from
/// its arguments, not by executing the instruction twice.
fn syscall(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    m.cpu.gpr[RCX] = i.next_ip();
    m.cpu.gpr[R11] = m.cpu.rflags();
    Err(Trap::Syscall)
}
