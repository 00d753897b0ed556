//! Which micro-operation uses what the one before has written.
//!
//! Forwarding: nearly every instruction uses the result of the one before. A handler passes it on
//! in a register of the host ([`super::uop::Last`]), and a variant of the next handler takes it
//! from there instead of loading it from the thread's registers, where it is as well. This is
//! bookkeeping at lowering time; at run time nothing is asked.
//!
//! **Invariant:** if `last` is `Some(d)`, the value passed on equals the whole 64-bit register at
//! offset `d`. Narrow writes (8 and 16 bits) leave nothing, since they keep the upper part.

use iced_x86::{ConditionCode, Instruction, Mnemonic, OpKind};

use super::operation::{alu_operation, shift_operation};
use super::ops::alu::{Chain, Form};
use super::uop::Uop;
use crate::machine::operand_size;

/// Which operand is in `last`, the register that the micro-operation before has written.
pub(super) fn chain(u: &Uop, form: Form, last: Option<u8>) -> Chain {
    let is = |register: u8| last == Some(register);
    match form {
        Form::Load if is(u.base) => Chain::Base,
        Form::LoadIndexed if is(u.index) => Chain::Index,
        Form::Register | Form::Immediate | Form::Load | Form::LoadIndexed if is(u.d) => Chain::First,
        Form::Register if is(u.s) => Chain::Second,
        _ => Chain::Neither,
    }
}

/// The same where the destination is only written.
pub(super) fn chain_of_move(u: &Uop, form: Form, last: Option<u8>) -> Chain {
    let read_only = form == Form::Register && last == Some(u.s);
    if read_only { Chain::Second } else { chain(u, form, last) }
}

/// What a micro-operation leaves for the next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    /// What it wrote to its destination.
    Result,
    /// What it was given.
    Same,
    Nothing,
}

/// What the handler of `i` leaves.
pub(super) fn leaves(i: &Instruction) -> Leaves {
    let written = i.op_count() > 0 && i.op0_kind() == OpKind::Register && operand_size(i, 0) >= 4;
    let moves = i.mnemonic() == Mnemonic::Mov;
    match i.mnemonic() {
        Mnemonic::Cmp | Mnemonic::Test | Mnemonic::Nop | Mnemonic::Endbr64 | Mnemonic::Pause => Leaves::Same,
        _ if moves && i.op0_kind() == OpKind::Memory => Leaves::Same,
        _ if !written => Leaves::Nothing,
        mnemonic if alu_operation(mnemonic).is_some() || shift_operation(mnemonic).is_some() => Leaves::Result,
        Mnemonic::Imul if i.op_count() > 1 => Leaves::Result,
        Mnemonic::Mov | Mnemonic::Movzx | Mnemonic::Movsx | Mnemonic::Movsxd | Mnemonic::Lea | Mnemonic::Pop => {
            Leaves::Result
        }
        _ if i.condition_code() != ConditionCode::None => Leaves::Result,
        Mnemonic::Inc | Mnemonic::Dec | Mnemonic::Neg | Mnemonic::Not | Mnemonic::Bswap => Leaves::Result,
        _ => Leaves::Nothing,
    }
}
