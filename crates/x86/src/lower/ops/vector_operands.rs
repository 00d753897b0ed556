//! Operands of SSE instructions.

use iced_x86::{Instruction, OpKind};

use crate::lower::address::{address, general};
use crate::lower::uop::Uop;
use crate::machine::xmm_index;

/// Where the operands of a move are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// Between SSE registers.
    Between,
    Load,
    Store,
    FromGeneral,
    ToGeneral,
    /// From memory to a general register.
    LoadGeneral,
}

/// Fills in the two operands. `None` for anything but SSE and general registers and plain addresses.
pub(super) fn operands(u: &mut Uop, i: &Instruction) -> Option<Direction> {
    let vector = |op: u32| i.op_kind(op) == OpKind::Register && i.op_register(op).is_xmm();
    let plain = |op: u32| i.op_kind(op) == OpKind::Register && i.op_register(op).is_gpr();
    let number = |op: u32| xmm_index(i.op_register(op)) as u8;
    match (i.op0_kind(), i.op1_kind()) {
        _ if vector(0) && vector(1) => {
            (u.d, u.s) = (number(0), number(1));
            Some(Direction::Between)
        }
        (_, OpKind::Memory) if vector(0) => {
            u.d = number(0);
            address(u, i).map(|_| Direction::Load)
        }
        (OpKind::Memory, _) if vector(1) => {
            u.s = number(1);
            address(u, i).map(|_| Direction::Store)
        }
        _ if vector(0) && plain(1) => {
            (u.d, u.s) = (number(0), general(i.op_register(1))?);
            Some(Direction::FromGeneral)
        }
        _ if plain(0) && vector(1) => {
            (u.d, u.s) = (general(i.op_register(0))?, number(1));
            Some(Direction::ToGeneral)
        }
        (_, OpKind::Memory) if plain(0) => {
            u.d = general(i.op_register(0))?;
            address(u, i).map(|_| Direction::LoadGeneral)
        }
        _ => None,
    }
}
