//! Single lanes in and out, sign masks, and stores under a mask.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::lane::{Lane, build_some};
use super::operand::{control, low, read, settle, width, write};
use crate::machine::{Machine, Trap};
use crate::row::Row;

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Pinsrb, |m, i| insert(m, i, 8)),
    (Mnemonic::Pinsrw, |m, i| insert(m, i, 16)),
    (Mnemonic::Pinsrd, |m, i| insert(m, i, 32)),
    (Mnemonic::Pinsrq, |m, i| insert(m, i, 64)),
    (Mnemonic::Pextrb, |m, i| extract(m, i, 8)),
    (Mnemonic::Pextrw, |m, i| extract(m, i, 16)),
    (Mnemonic::Pextrd, |m, i| extract(m, i, 32)),
    (Mnemonic::Pextrq, |m, i| extract(m, i, 64)),
    (Mnemonic::Extractps, |m, i| extract(m, i, 32)),
    (Mnemonic::Movmskps, |m, i| signs(m, i, 32)),
    (Mnemonic::Movmskpd, |m, i| signs(m, i, 64)),
    (Mnemonic::Pmovmskb, |m, i| signs(m, i, 8)),
    (Mnemonic::Maskmovq, store_masked),
    (Mnemonic::Maskmovdqu, store_masked),
];

/// The position in bits of the lane that the control byte names.
fn position(i: &Instruction, bytes: usize, bits: u32) -> u32 {
    let lanes = 8 * bytes as u32 / bits;
    (u32::from(control(i)) & (lanes - 1)) * bits
}

fn insert(m: &mut Machine<'_>, i: &Instruction, bits: u32) -> Result<(), Trap> {
    let at = position(i, width(i), bits);
    let b = read(m, i, 1)? & low(bits);
    let a = read(m, i, 0)?;
    write(m, i, 0, a & !(low(bits) << at) | b << at)
}

fn extract(m: &mut Machine<'_>, i: &Instruction, bits: u32) -> Result<(), Trap> {
    let bytes = if i.op_register(1).is_mm() { 8 } else { 16 };
    let a = read(m, i, 1)?;
    write(m, i, 0, a >> position(i, bytes, bits) & low(bits))
}

fn signs(m: &mut Machine<'_>, i: &Instruction, bits: u32) -> Result<(), Trap> {
    let a = read(m, i, 1)?;
    let mask = (0..128 / bits).fold(0, |mask, k| mask | (a >> (k * bits + bits - 1) & 1) << k);
    write(m, i, 0, mask)
}

/// `maskmovq`, `maskmovdqu`: bytes whose mask has the sign bit go to where rdi points.
///
/// Half by half, the upper first; all bytes must be accessible, whatever the mask.
///
/// The merge makes bytes that the mask leaves out look written: in footprints the access is a read
/// and a write of the whole half, as the processor's permission checks are.
fn store_masked(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let (data, mask) = (read(m, i, 1)?, read(m, i, 2)?);
    settle(m, i);
    let addr = destination(m, i);
    for half in (0..i.op_register(1).size() as u32 / 8).rev() {
        let chosen = |k: u32| u8::get(mask, 8 * half + k) & 0x80 != 0;
        let at = addr.wrapping_add(8 * u64::from(half));
        let old = u128::from(m.load(at, 8)?);
        let new = build_some(8, |k| if chosen(k) { u8::get(data, 8 * half + k) } else { u8::get(old, k) });
        m.store(at, 8, new as u64)?;
    }
    Ok(())
}

fn destination(m: &Machine<'_>, i: &Instruction) -> u64 {
    let register = if i.op0_kind() == OpKind::MemorySegEDI { Register::EDI } else { Register::RDI };
    let base = match i.memory_segment() {
        Register::FS => m.cpu.fs_base,
        Register::GS => m.cpu.gs_base,
        _ => 0,
    };
    base.wrapping_add(m.register(register))
}
