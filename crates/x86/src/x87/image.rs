//! The unit's state in memory: `fnstenv`, `fnsave`, `fxsave` and back.

use iced_x86::{Instruction, Mnemonic};

use super::X87;
use super::unit::{Touch, load_extended, ready, store_extended, touch_ends};
use crate::machine::{Machine, Trap};
use crate::row::Row;
use crate::softfloat::F80;

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Fnstenv, |m, i| {
        store_environment(m, i)?;
        let masked = m.cpu.x87.control | 0x3f;
        m.cpu.x87.set_control(masked);
        Ok(())
    }),
    (Mnemonic::Fldenv, |m, i| {
        ready(m)?;
        m.cpu.x87 = load_environment(m, i)?;
        Ok(())
    }),
    (Mnemonic::Fnsave, save),
    (Mnemonic::Frstor, restore),
];

/// Bytes of the environment; the 16-bit form has half of them.
fn environment_size(i: &Instruction) -> u64 {
    match i.memory_size().size() {
        14 | 94 => 14,
        _ => 28,
    }
}

/// Seven words or double words: control, status, tags, instruction, its selector, data, its selector.
///
/// SDM vol. 1, section 8.1.10. Selectors are zero in 64-bit mode.
fn environment(x: &X87, size: u64) -> [u32; 7] {
    let reserved = 0xffff_0000;
    let opcode = u32::from(x.last_opcode) << 16;
    [
        u32::from(x.control) | reserved,
        u32::from(x.status()) | reserved,
        u32::from(x.tag_word()) | reserved,
        x.last_instruction as u32,
        if size == 28 { opcode } else { 0 },
        x.last_data as u32,
        reserved,
    ]
}

fn store_environment(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let (addr, size) = (m.address(i), environment_size(i));
    let unit = size / 7;
    touch_ends(m, addr, unit, i.memory_size().size() as u64, Touch::Write)?;
    for (k, field) in environment(&m.cpu.x87, size).into_iter().enumerate() {
        m.store(addr.wrapping_add(k as u64 * unit), unit as usize, field.into())?;
    }
    Ok(())
}

fn load_environment(m: &mut Machine<'_>, i: &Instruction) -> Result<X87, Trap> {
    let (addr, size) = (m.address(i), environment_size(i));
    let unit = size / 7;
    touch_ends(m, addr, unit, i.memory_size().size() as u64, Touch::Read)?;
    let mut fields = [0; 7];
    for (k, field) in fields.iter_mut().enumerate() {
        *field = m.load(addr.wrapping_add(k as u64 * unit), unit as usize)?;
    }
    let mut x = m.cpu.x87;
    x.set_tag_word(fields[2] as u16);
    x.set_control(fields[0] as u16);
    x.set_status(fields[1] as u16);
    x.last_instruction = fields[3];
    x.last_data = fields[5];
    x.last_opcode = (fields[4] >> 16) as u16 & 0x7ff;
    Ok(x)
}

fn save(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    store_environment(m, i)?;
    let registers = m.address(i).wrapping_add(environment_size(i));
    for k in 0..8u8 {
        store_extended(m, registers.wrapping_add(10 * u64::from(k)), m.cpu.x87.st(k))?;
    }
    m.cpu.x87.initialise();
    Ok(())
}

fn restore(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    ready(m)?;
    let mut x = load_environment(m, i)?;
    let registers = m.address(i).wrapping_add(environment_size(i));
    for k in 0..8u8 {
        let r = x.physical(k);
        x.registers[r] = load_extended(m, registers.wrapping_add(10 * u64::from(k)))?;
    }
    m.cpu.x87 = x;
    Ok(())
}

/// The x87's part of an `fxsave` image: 24 bytes, then, from byte 32, eight registers of 16.
pub(crate) fn save_fx(x: &X87) -> ([u64; 3], [u128; 8]) {
    let head =
        u64::from(x.control) | u64::from(x.status()) << 16 | u64::from(x.used) << 32 | u64::from(x.last_opcode) << 48;
    ([head, x.last_instruction, x.last_data], std::array::from_fn(|k| x.st(k as u8).bits()))
}

/// Takes such an image.
pub(crate) fn restore_fx(head: [u64; 3], registers: [u128; 8]) -> X87 {
    let mut x = X87::default();
    x.used = (head[0] >> 32) as u8;
    x.set_control(head[0] as u16);
    x.set_status((head[0] >> 16) as u16);
    x.last_opcode = (head[0] >> 48) as u16 & 0x7ff;
    (x.last_instruction, x.last_data) = (head[1], head[2]);
    for (k, bits) in registers.into_iter().enumerate() {
        let r = x.physical(k as u8);
        x.registers[r] = F80::from_bits(bits);
    }
    x
}
