//! Registers and addresses of operands, as micro-operations hold them.

use iced_x86::{Instruction, Register};

use super::uop::Uop;
use crate::cpu::{FS_BASE, GS_BASE, ZERO};
use crate::machine::place;

/// Offset of a general register in the processor; `None` for others.
pub(super) fn general(register: Register) -> Option<u8> {
    let place = place(register)?;
    Some((8 * place.index) as u8 + (place.shift / 8) as u8)
}

/// Whether writing the register changes `ah`, `ch`, `dh` or `bh`, which handlers cannot.
pub(super) fn is_high(register: Register) -> bool {
    matches!(register, Register::AH | Register::CH | Register::DH | Register::BH)
}

/// Fills in the address of the memory operand; whether it has an index. `None` if no handler computes such an address.
///
/// Handlers add base, shifted index and displacement, all 64 bits wide, without asking which are
/// there: what is missing is the zero register. So 32-bit addresses (prefix 67h) and a segment base
/// together with base *and* index have no handler and go to the reference.
pub(super) fn address(u: &mut Uop, i: &Instruction) -> Option<bool> {
    let segment = match i.memory_segment() {
        Register::FS => Some(FS_BASE),
        Register::GS => Some(GS_BASE),
        _ => None,
    };
    let slot = |number: usize| (8 * number) as u8;
    let wide = |register: Register| (register.size() == 8).then(|| general(register)).flatten();
    u.disp = i.memory_displacement64();
    let base = match i.memory_base() {
        Register::None | Register::RIP => None,
        register => Some(wide(register)?),
    };
    let index = match i.memory_index() {
        Register::None => None,
        register => Some(wide(register)?),
    };
    if i.memory_base() == Register::None && index.is_none() && i.memory_displ_size() == 4 {
        return None;
    }
    let shift = i.memory_index_scale().trailing_zeros() as u8;
    (u.base, u.index, u.shift) = match (segment, base, index) {
        (None, base, None) => (base.unwrap_or(slot(ZERO)), slot(ZERO), 0),
        (None, base, Some(index)) => (base.unwrap_or(slot(ZERO)), index, shift),
        (Some(segment), None, None) => (slot(segment), slot(ZERO), 0),
        (Some(segment), Some(base), None) => (slot(segment), base, 0),
        (Some(segment), None, Some(index)) => (slot(segment), index, shift),
        (Some(_), Some(_), Some(_)) => return None,
    };
    Some(u.index != slot(ZERO))
}
