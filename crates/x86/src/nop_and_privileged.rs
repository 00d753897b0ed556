//! Instructions that do nothing here, and those that are not for programs.
//!
//! Fences do nothing here: one thread of a world runs at a time, and its stores are visible at once. What store buffers allow
//! beyond that (SDM vol. 3, "Memory Ordering") is up to who searches: a run stops before `mfence` ([`crate::Stops`]).
//!
//! `pause` does nothing either: it is a hint, which programs that spin need not give.
//!
//! Privileged instructions are `#GP` in user mode, which Linux makes SIGSEGV: a program that tries
//! them is wrong, not unsupported. Port input and output are among them because `iopl(2)` and
//! `ioperm(2)` are refused.

use iced_x86::{Instruction, Mnemonic};

use crate::machine::{Machine, Trap};
use crate::row::Row;

pub(crate) const TABLE: &[Row] = &[
    (Mnemonic::Nop, nothing),
    (Mnemonic::Reservednop, nothing),
    (Mnemonic::Endbr64, nothing),
    (Mnemonic::Endbr32, nothing),
    (Mnemonic::Pause, nothing),
    // Without shadow stacks these are hints and leave their operand alone.
    (Mnemonic::Rdsspd, nothing),
    (Mnemonic::Rdsspq, nothing),
    // Prefetches never fault, whatever the address (SDM vol. 2, PREFETCHh): memory is not asked, so
    // they are in no footprint either.
    (Mnemonic::Prefetch, nothing),
    (Mnemonic::Prefetchw, nothing),
    (Mnemonic::Prefetchnta, nothing),
    (Mnemonic::Prefetcht0, nothing),
    (Mnemonic::Prefetcht1, nothing),
    (Mnemonic::Prefetcht2, nothing),
    (Mnemonic::Lfence, nothing),
    (Mnemonic::Mfence, nothing),
    (Mnemonic::Sfence, nothing),
    (Mnemonic::Clflush, touch),
    (Mnemonic::Clflushopt, touch),
    (Mnemonic::Clwb, touch),
    (Mnemonic::Hlt, privileged),
    (Mnemonic::Cli, privileged),
    (Mnemonic::Sti, privileged),
    (Mnemonic::Clts, privileged),
    (Mnemonic::In, privileged),
    (Mnemonic::Out, privileged),
    (Mnemonic::Insb, privileged),
    (Mnemonic::Insw, privileged),
    (Mnemonic::Insd, privileged),
    (Mnemonic::Outsb, privileged),
    (Mnemonic::Outsw, privileged),
    (Mnemonic::Outsd, privileged),
    (Mnemonic::Invd, privileged),
    (Mnemonic::Wbinvd, privileged),
    (Mnemonic::Invlpg, privileged),
    (Mnemonic::Lgdt, privileged),
    (Mnemonic::Lidt, privileged),
    (Mnemonic::Lldt, privileged),
    (Mnemonic::Ltr, privileged),
    (Mnemonic::Lmsw, privileged),
    (Mnemonic::Rdmsr, privileged),
    (Mnemonic::Wrmsr, privileged),
    (Mnemonic::Swapgs, privileged),
    (Mnemonic::Sysretq, privileged),
    (Mnemonic::Sysret, privileged),
    (Mnemonic::Sysexit, privileged),
    (Mnemonic::Sysexitq, privileged),
];

fn nothing(_: &mut Machine<'_>, _: &Instruction) -> Result<(), Trap> {
    Ok(())
}

/// A cache line flush faults as a load of one byte does.
fn touch(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    m.load(m.address(i), 1).map(|_| ())
}

fn privileged(_: &mut Machine<'_>, _: &Instruction) -> Result<(), Trap> {
    Err(Trap::Privileged)
}
