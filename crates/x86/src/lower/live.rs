//! Liveness of flags.
//!
//! An instruction whose flags are all overwritten before they are read need not set them. What is dead at an address is a
//! function of the code from there on, never of how the thread got there: so that states with equal futures are equal, a run
//! that stops clears what is dead where it stopped.
//!
//! The second half is about the size of the state space, not about speed: two threads at the same
//! place whose dead flags differ would be two states with equal futures, and the state space would
//! be larger by that factor for no reason. Clearing by the code *from here on* makes the result
//! independent of whether the reference or a handler that skips flags got here.

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register, RflagsBits};

use crate::flags::{AF, CF, OF, PF, SF, STATUS, ZF};

/// Flags that an instruction reads and those that it sets whatever happens.
///
/// `sets` is a lower bound (surely overwritten), `reads` an upper bound (perhaps read): both err
/// towards "live".
#[derive(Clone, Copy)]
pub(super) struct Effect {
    pub reads: u64,
    pub sets: u64,
}

fn bits(iced: u32) -> u64 {
    let pick = |from: u32, to: u64| if iced & from != 0 { to } else { 0 };
    pick(RflagsBits::CF, CF)
        | pick(RflagsBits::PF, PF)
        | pick(RflagsBits::AF, AF)
        | pick(RflagsBits::ZF, ZF)
        | pick(RflagsBits::SF, SF)
        | pick(RflagsBits::OF, OF)
}

/// Whether the flags that the manual calls undefined are set all the same by our reference.
///
/// For others an undefined flag may keep its old value, which would then be read later.
fn sets_undefined(i: &Instruction) -> bool {
    matches!(
        i.mnemonic(),
        Mnemonic::And
            | Mnemonic::Or
            | Mnemonic::Xor
            | Mnemonic::Test
            | Mnemonic::Mul
            | Mnemonic::Imul
            | Mnemonic::Shl
            | Mnemonic::Sal
            | Mnemonic::Shr
            | Mnemonic::Sar
    )
}

/// A count of zero, unknown beforehand, leaves the flags.
fn may_do_nothing(i: &Instruction) -> bool {
    let counted = (0..i.op_count()).any(|op| i.op_kind(op) == OpKind::Register && i.op_register(op) == Register::CL);
    let shift = matches!(
        i.mnemonic(),
        Mnemonic::Shl
            | Mnemonic::Sal
            | Mnemonic::Shr
            | Mnemonic::Sar
            | Mnemonic::Rol
            | Mnemonic::Ror
            | Mnemonic::Rcl
            | Mnemonic::Rcr
            | Mnemonic::Shld
            | Mnemonic::Shrd
    );
    let repeated = i.is_string_instruction() && (i.has_rep_prefix() || i.has_repne_prefix());
    shift && counted || repeated
}

/// `syscall`, `int` and whatever traps read everything: a signal frame shows the flags.
pub(super) fn effect(i: &Instruction) -> Effect {
    if i.flow_control() != FlowControl::Next && i.flow_control() != FlowControl::ConditionalBranch {
        // The kernel may look, or a handler.
        return Effect { reads: if leaves_block_directly(i) { 0 } else { STATUS }, sets: 0 };
    }
    let sets = match may_do_nothing(i) {
        true => 0,
        false => {
            let undefined = if sets_undefined(i) { i.rflags_undefined() } else { 0 };
            bits(i.rflags_written() | i.rflags_cleared() | i.rflags_set() | undefined)
        }
    };
    Effect { reads: bits(i.rflags_read()), sets }
}

/// Jumps, calls and returns themselves read no flags.
fn leaves_block_directly(i: &Instruction) -> bool {
    matches!(
        i.flow_control(),
        FlowControl::UnconditionalBranch
            | FlowControl::IndirectBranch
            | FlowControl::Call
            | FlowControl::IndirectCall
            | FlowControl::Return
    )
}

/// How many instructions behind a branch are examined.
///
/// Six instructions settle nearly all flags in compiled code; those that are not settled count as
/// live.
const HORIZON: usize = 6;

/// Flags that may be read by the straight code that `next` yields. Whatever is not settled there counts as read.
pub(super) fn ahead(mut next: impl FnMut() -> Option<Instruction>) -> u64 {
    let (mut live, mut open) = (0, STATUS);
    for _ in 0..HORIZON {
        let Some(i) = next() else { break };
        let effect = effect(&i);
        live |= effect.reads & open;
        open &= !(effect.reads | effect.sets);
        if open == 0 || i.flow_control() != FlowControl::Next {
            break;
        }
    }
    live | open
}

/// The six flags in six bits, to be kept in a micro-operation.
pub(super) fn pack(flags: u64) -> u8 {
    let bit = |flag: u64, at: u8| if flags & flag != 0 { 1 << at } else { 0 };
    bit(CF, 0) | bit(PF, 1) | bit(AF, 2) | bit(ZF, 3) | bit(SF, 4) | bit(OF, 5)
}

/// What [`pack`] packed.
pub(super) fn unpack(packed: u8) -> u64 {
    let flag = |at: u8, flag: u64| if packed >> at & 1 != 0 { flag } else { 0 };
    flag(0, CF) | flag(1, PF) | flag(2, AF) | flag(3, ZF) | flag(4, SF) | flag(5, OF)
}
