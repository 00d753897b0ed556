//! The reference interpreter: one table from instruction form to meaning, and one step.
//!
//! This is the specification of the processor: `lower/` must do what this does, on every state, and
//! a test runs whole programs with both. Its own oracle is the host's processor (`crates/hostcpu`),
//! instruction by instruction. It is not fast (a table lookup and a function call for each operand)
//! and need not be: it executes what has no handler, and what traps.
//!
//! **Fail closed:** a form that is in no table is [`Trap::Unsupported`], never a guess. The tables
//! are by mnemonic where all forms of a mnemonic behave alike, which is nearly everywhere;
//! [`is_plain`] takes out the forms that share a name with something else (`mov` to control
//! registers, far calls, VEX encodings but those of BMI1).

use std::sync::LazyLock;

use iced_x86::{Code, Decoder, DecoderError, DecoderOptions, EncodingKind, Instruction, OpCodeOperandKind};

use crate::machine::{Machine, Trap, canonical};
use crate::row::Row;
use crate::{Generic, control, integer, nop_and_privileged, sse, stack, string, system, x87};

/// Families whose forms the mnemonic decides.
const FAMILIES: &[&[&[Row]]] = &[integer::FAMILIES, &[control::TABLE, stack::TABLE, nop_and_privileged::TABLE]];

/// One entry for each of iced's forms, filled once, so that the search through the families below
/// costs nothing when instructions are executed.
static TABLE: LazyLock<Vec<Option<Generic>>> = LazyLock::new(|| Code::values().map(find).collect());

/// What `code` does, if it is modelled.
pub(crate) fn lookup(code: Code) -> Option<Generic> {
    TABLE[code as usize]
}

/// Whether an instruction form is modelled; one that is not ends a run as [`Trap::Unsupported`].
pub fn supported(code: Code) -> bool {
    lookup(code).is_some() && is_decodable(code)
}

/// In this order because families by form are exact, and the one by mnemonic is not: `movsd` is a
/// string instruction and an SSE move, told apart only by form.
fn find(code: Code) -> Option<Generic> {
    if code == Code::INVALID {
        return None;
    }
    sse::lookup(code)
        .or_else(|| x87::lookup(code))
        .or_else(|| system::lookup(code))
        .or_else(|| string::lookup(code))
        .or_else(|| by_mnemonic(code))
}

fn by_mnemonic(code: Code) -> Option<Generic> {
    if !is_plain(code) {
        return None;
    }
    let mnemonic = code.mnemonic();
    let rows = FAMILIES.iter().flat_map(|group| group.iter()).flat_map(|family| family.iter());
    rows.filter(|row| row.0 == mnemonic).map(|row| row.1).next()
}

/// Legacy encoding or BMI1, near, and without control, debug or written segment registers.
fn is_plain(code: Code) -> bool {
    (code.encoding() == EncodingKind::Legacy || integer::is_bmi1(code))
        && !is_far(code)
        && !is_narrow(code)
        && !moves_system(code)
        && !writes_segment(code)
}

/// Whether a form can come out of the decoder: it is one of 64-bit mode, and not one that only other processors have, as are
/// branches with 16-bit targets. Builds a large table, so it is not asked of forms that were decoded.
fn is_decodable(code: Code) -> bool {
    let info = code.op_code();
    let narrow = |op: u32| matches!(info.op_kind(op), OpCodeOperandKind::br16_1 | OpCodeOperandKind::br16_2);
    info.mode64() && !(0..info.op_count()).any(narrow)
}

/// Forms that only other processors have: branches to 16-bit addresses, and `ud0` without operands.
fn is_narrow(code: Code) -> bool {
    matches!(code, Code::Retnw | Code::Retnw_imm16 | Code::Call_rm16 | Code::Jmp_rm16 | Code::Ud0)
}

fn moves_system(code: Code) -> bool {
    matches!(
        code,
        Code::Mov_r32_cr
            | Code::Mov_r64_cr
            | Code::Mov_cr_r32
            | Code::Mov_cr_r64
            | Code::Mov_r32_dr
            | Code::Mov_r64_dr
            | Code::Mov_dr_r32
            | Code::Mov_dr_r64
            | Code::Mov_r32_tr
            | Code::Mov_tr_r32
    )
}

/// A far branch loads a code segment. Linux lets a 64-bit program go to 32-bit code that way, which
/// is not modelled: refused.
pub(crate) fn is_far(code: Code) -> bool {
    matches!(
        code,
        Code::Call_m1616 | Code::Call_m1632 | Code::Call_m1664 | Code::Jmp_m1616 | Code::Jmp_m1632 | Code::Jmp_m1664
    )
}

/// Writing `ds`, `es` or `ss` would be harmless in 64-bit mode, writing `fs` or `gs` loads a base
/// from a descriptor table that does not exist here; all of them are refused alike. Reading is
/// modelled.
fn writes_segment(code: Code) -> bool {
    matches!(
        code,
        Code::Mov_Sreg_rm16
            | Code::Mov_Sreg_r32m16
            | Code::Mov_Sreg_r64m16
            | Code::Popw_FS
            | Code::Popq_FS
            | Code::Popw_GS
            | Code::Popq_GS
    )
}

/// Bytes of the longest instruction.
///
/// A longer one, made of redundant prefixes, raises `#GP` (SDM vol. 3, "General Protection
/// Exception").
pub(crate) const LENGTH_MAX: usize = 15;

/// A non-canonical address never reaches paging.
fn fetch(m: &mut Machine<'_>, addr: u64, bytes: &mut [u8; 16]) -> Result<usize, Trap> {
    if canonical(addr) { Ok(m.memory.fetch(addr, bytes)?) } else { Err(Trap::GeneralProtection) }
}

/// Decodes the instruction at `rip`.
///
/// Bytes are fetched from memory each time, with execute permission checked; whoever keeps the
/// result ([`crate::lower`]) has to watch the pages that it came from. A prefix of an instruction
/// at the end of a page faults at the first byte of the next one, which is the address that
/// `si_addr` shows.
pub(crate) fn decode(m: &mut Machine<'_>) -> Result<Instruction, Trap> {
    let ip = m.cpu.rip;
    let mut bytes = [0; 16];
    let available = fetch(m, ip, &mut bytes)?.min(LENGTH_MAX);
    let mut decoder = Decoder::with_ip(64, &bytes[..available], ip, DecoderOptions::NONE);
    let instruction = decoder.decode();
    if !instruction.is_invalid() {
        return Ok(instruction);
    }
    let cut_off = decoder.last_error() == DecoderError::NoMoreBytes;
    if cut_off && available < LENGTH_MAX {
        // The instruction goes on in a page that cannot be executed: fault there.
        fetch(m, ip.wrapping_add(available as u64), &mut bytes)?;
    }
    // Longer than 15 bytes is #GP, anything else #UD.
    Err(if cut_off && available == LENGTH_MAX { Trap::GeneralProtection } else { Trap::InvalidOpcode })
}

/// Executes one decoded instruction, which must be the one at `rip`.
///
/// On a trap `rip` is at the instruction, or behind it where the processor says so. A repeated string instruction does one
/// iteration and stays where it is until the last.
///
/// **Invariant:** on `Err` no register but `rip` was changed, with the exceptions that the
/// processor makes itself (`syscall`). Memory may have been written by the part of an instruction
/// that came before the fault, as on the processor (`call`, `enter`).
pub(crate) fn execute(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let Some(generic) = lookup(i.code()) else { return Err(Trap::Unsupported) };
    m.cpu.rip = i.next_ip();
    let result = generic(m, i);
    settle(m, i, result)
}

/// Moves `rip` back to an instruction that did not complete, and says why in the processor's words.
///
/// Whether the saved `rip` points at the instruction (a *fault*) or behind it (a *trap*): SDM vol.
/// 3, "Exception Classifications". `int3` and `syscall` are the two that are behind.
pub(crate) fn settle(m: &mut Machine<'_>, i: &Instruction, result: Result<(), Trap>) -> Result<(), Trap> {
    result.map_err(|trap| {
        if !matches!(trap, Trap::Syscall | Trap::Breakpoint) {
            m.cpu.rip = i.ip();
        }
        trap.settled(m, i)
    })
}

/// Executes the instruction at `rip` by its reference semantics: fetch, decode, look up, execute.
pub fn step(m: &mut Machine<'_>) -> Result<(), Trap> {
    let instruction = decode(m)?;
    execute(m, &instruction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_form_is_in_two_tables() {
        let tables = [sse::lookup, x87::lookup, system::lookup, string::lookup, by_mnemonic];
        for code in Code::values().filter(|code| *code != Code::INVALID) {
            assert!(tables.iter().filter(|table| table(code).is_some()).count() <= 1, "{code:?}");
        }
    }

    #[test]
    fn no_mnemonic_is_in_two_families() {
        let rows = FAMILIES.iter().flat_map(|group| group.iter()).flat_map(|family| family.iter());
        let mut mnemonics: Vec<_> = rows.map(|row| row.0).collect();
        mnemonics.sort_unstable();
        assert!(mnemonics.windows(2).all(|pair| pair[0] != pair[1]), "{mnemonics:?}");
    }

    #[test]
    fn moves_to_and_from_system_registers_are_those_that_the_table_has() {
        for code in Code::values() {
            let info = code.op_code();
            let is_system = |op: u32| {
                matches!(
                    info.op_kind(op),
                    OpCodeOperandKind::cr_reg | OpCodeOperandKind::dr_reg | OpCodeOperandKind::tr_reg
                )
            };
            assert_eq!(moves_system(code), (0..info.op_count()).any(is_system), "{code:?}");
        }
    }
}
