//! String instructions, plain and repeated.
//!
//! A repeated instruction does one iteration at a time and stays where it is until the last: it can be stopped between any two
//! of them, by a fault or by a budget, and goes on from its registers.
//!
//! SDM vol. 1, section 7.3.9.2 promises exactly this of the processor ("repeated string operations
//! can be suspended"), so the registers between two iterations are architecture, not our invention.
//! One iteration is one instruction for budgets and counters; a `rep movsb` of a megabyte is
//! therefore no single step of the checker that could not be interrupted by a limit.
//!
//! The destination is always in the `es` segment, whose base is zero; only the source has a segment
//! override.

use iced_x86::{Code, Instruction, OpKind};

use crate::Generic;
use crate::cpu::{RAX, RCX, RDI, RSI};
use crate::machine::{Machine, Trap, mask};

pub(crate) fn lookup(code: Code) -> Option<Generic> {
    Some(match code {
        Code::Movsb_m8_m8 | Code::Movsw_m16_m16 | Code::Movsd_m32_m32 | Code::Movsq_m64_m64 => {
            |m, i| repeat(m, i, movs)
        }
        Code::Stosb_m8_AL | Code::Stosw_m16_AX | Code::Stosd_m32_EAX | Code::Stosq_m64_RAX => |m, i| repeat(m, i, stos),
        Code::Lodsb_AL_m8 | Code::Lodsw_AX_m16 | Code::Lodsd_EAX_m32 | Code::Lodsq_RAX_m64 => |m, i| repeat(m, i, lods),
        Code::Scasb_AL_m8 | Code::Scasw_AX_m16 | Code::Scasd_EAX_m32 | Code::Scasq_RAX_m64 => |m, i| repeat(m, i, scas),
        Code::Cmpsb_m8_m8 | Code::Cmpsw_m16_m16 | Code::Cmpsd_m32_m32 | Code::Cmpsq_m64_m64 => {
            |m, i| repeat(m, i, cmps)
        }
        _ => return None,
    })
}

/// What one iteration works with.
///
/// Copied, not referenced: `element` changes the machine while it is used.
#[derive(Clone, Copy)]
struct Shape {
    /// Bytes of an element.
    size: usize,
    /// Bytes of the registers that count and point: 8, or 4 with an address size prefix.
    address: usize,
    /// Added to the pointers.
    step: u64,
}

fn shape(m: &Machine<'_>, i: &Instruction) -> Shape {
    let short = |op: u32| matches!(i.op_kind(op), OpKind::MemorySegESI | OpKind::MemoryESEDI);
    let size = i.memory_size().size();
    let step = if m.cpu.flags.df() { (size as u64).wrapping_neg() } else { size as u64 };
    Shape { size, address: if short(0) || short(1) { 4 } else { 8 }, step }
}

/// One element; the answer says whether `repe` (true) or `repne` (false) would go on, for those that compare.
///
/// `None` for `movs`, `stos` and `lods`, whose repetition depends on the count alone.
type Element = fn(&mut Machine<'_>, &Instruction, Shape) -> Result<Option<bool>, Trap>;

/// The count is taken down after the element: an element that faults has not been counted, and is
/// done again. Termination by comparison is tested behind the count (SDM vol. 2, REP, table "Repeat
/// Prefixes").
fn repeat(m: &mut Machine<'_>, i: &Instruction, element: Element) -> Result<(), Trap> {
    let shape = shape(m, i);
    if !i.has_rep_prefix() && !i.has_repne_prefix() {
        return element(m, i, shape).map(|_| ());
    }
    let count = m.cpu.gpr[RCX] & mask(shape.address);
    if count == 0 {
        return Ok(());
    }
    let equal = element(m, i, shape)?;
    m.cpu.gpr[RCX] = count - 1;
    let go_on = match equal {
        Some(equal) => equal != i.has_repne_prefix(),
        None => true,
    };
    if count > 1 && go_on {
        m.cpu.rip = i.ip();
    }
    Ok(())
}

fn source(m: &Machine<'_>, i: &Instruction, shape: Shape) -> u64 {
    let base = match i.memory_segment() {
        iced_x86::Register::FS => m.cpu.fs_base,
        iced_x86::Register::GS => m.cpu.gs_base,
        _ => 0,
    };
    base.wrapping_add(m.cpu.gpr[RSI] & mask(shape.address))
}

fn destination(m: &Machine<'_>, shape: Shape) -> u64 {
    m.cpu.gpr[RDI] & mask(shape.address)
}

/// With 32-bit addresses the upper halves of the pointers become zero, as on the processor.
fn advance(m: &mut Machine<'_>, register: usize, shape: Shape) {
    m.cpu.gpr[register] = m.cpu.gpr[register].wrapping_add(shape.step) & mask(shape.address);
}

fn movs(m: &mut Machine<'_>, i: &Instruction, shape: Shape) -> Result<Option<bool>, Trap> {
    let value = m.load(source(m, i, shape), shape.size)?;
    m.store(destination(m, shape), shape.size, value)?;
    advance(m, RSI, shape);
    advance(m, RDI, shape);
    Ok(None)
}

fn stos(m: &mut Machine<'_>, _: &Instruction, shape: Shape) -> Result<Option<bool>, Trap> {
    m.store(destination(m, shape), shape.size, m.cpu.gpr[RAX])?;
    advance(m, RDI, shape);
    Ok(None)
}

fn lods(m: &mut Machine<'_>, i: &Instruction, shape: Shape) -> Result<Option<bool>, Trap> {
    let value = m.load(source(m, i, shape), shape.size)?;
    m.set_register(i.op0_register(), value);
    advance(m, RSI, shape);
    Ok(None)
}

fn scas(m: &mut Machine<'_>, _: &Instruction, shape: Shape) -> Result<Option<bool>, Trap> {
    let found = m.load(destination(m, shape), shape.size)?;
    let wanted = m.cpu.gpr[RAX] & mask(shape.size);
    m.cpu.flags.sub_sized(wanted, found, wanted.wrapping_sub(found), shape.size);
    advance(m, RDI, shape);
    Ok(Some(wanted == found))
}

fn cmps(m: &mut Machine<'_>, i: &Instruction, shape: Shape) -> Result<Option<bool>, Trap> {
    // The second operand is read first: that is where a fault is reported.
    let b = m.load(destination(m, shape), shape.size)?;
    let a = m.load(source(m, i, shape), shape.size)?;
    m.cpu.flags.sub_sized(a, b, a.wrapping_sub(b), shape.size);
    advance(m, RSI, shape);
    advance(m, RDI, shape);
    Ok(Some(a == b))
}
