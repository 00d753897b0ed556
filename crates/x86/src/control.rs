//! Jumps, calls, and the ways into the kernel.

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
fn syscall(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    m.cpu.gpr[RCX] = i.next_ip();
    m.cpu.gpr[R11] = m.cpu.rflags();
    Err(Trap::Syscall)
}
