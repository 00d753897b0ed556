//! What a program asks of the processor itself: `cpuid`, the time stamp, saved register images, MXCSR.
//!
//! `cpuid` announces the x86-64 baseline and a few additions (`cpuid.rs`) on every host, so that a
//! program takes the same path through `ifunc` resolvers and the same verdict is reached on every
//! machine. AVX is not announced: programs that test for it (all that Debian ships) fall back to
//! SSE2.

mod cpuid;

use iced_x86::{Instruction, Mnemonic};

use crate::Generic;
use crate::cpu::{RAX, RBX, RCX, RDX};
use crate::image::{fxrestore_image, fxsave_image};
use crate::machine::{Machine, Trap, canonical};
use crate::row::Row;

const TABLE: &[Row] = &[
    (Mnemonic::Cpuid, cpuid),
    (Mnemonic::Rdtsc, time_stamp),
    (Mnemonic::Rdtscp, time_stamp_and_cpu),
    (Mnemonic::Ldmxcsr, load_mxcsr),
    (Mnemonic::Stmxcsr, |m, i| m.store(m.address(i), 4, m.cpu.mxcsr.into())),
    (Mnemonic::Fxsave, save),
    (Mnemonic::Fxsave64, save),
    (Mnemonic::Fxrstor, restore),
    (Mnemonic::Fxrstor64, restore),
    // `cpuid` does not announce XSAVE, and without it these are no instructions.
    (Mnemonic::Xgetbv, undefined),
    (Mnemonic::Xsave, undefined),
    (Mnemonic::Xsave64, undefined),
    (Mnemonic::Xrstor, undefined),
    (Mnemonic::Xrstor64, undefined),
];

/// MXCSR bits that exist.
const MXCSR_MASK: u32 = 0xffff;

pub(crate) fn lookup(code: iced_x86::Code) -> Option<Generic> {
    TABLE.iter().find(|row| row.0 == code.mnemonic()).map(|row| row.1)
}

fn undefined(_: &mut Machine<'_>, _: &Instruction) -> Result<(), Trap> {
    Err(Trap::InvalidOpcode)
}

fn cpuid(m: &mut Machine<'_>, _: &Instruction) -> Result<(), Trap> {
    let answer = cpuid::answer(m.cpu.gpr[RAX] as u32, m.cpu.gpr[RCX] as u32);
    for (register, value) in [RAX, RBX, RCX, RDX].into_iter().zip(answer) {
        m.cpu.gpr[register] = value.into();
    }
    Ok(())
}

/// Virtual time, see [`Machine::clock`]: two reads in one run give the same value. A program that
/// waits for it to move looks like any other loop that polls.
fn time_stamp(m: &mut Machine<'_>, _: &Instruction) -> Result<(), Trap> {
    m.cpu.gpr[RAX] = m.clock & 0xffff_ffff;
    m.cpu.gpr[RDX] = m.clock >> 32;
    Ok(())
}

/// Linux puts the number of the processor into what `rdtscp` gives in ecx; there is one.
fn time_stamp_and_cpu(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    m.cpu.gpr[RCX] = 0;
    time_stamp(m, i)
}

fn load_mxcsr(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let value = m.load(m.address(i), 4)? as u32;
    m.cpu.mxcsr = checked_mxcsr(value)?;
    Ok(())
}

/// SDM vol. 1, section 10.2.3: writing 1 to a reserved bit is `#GP`.
fn checked_mxcsr(value: u32) -> Result<u32, Trap> {
    if value & !MXCSR_MASK != 0 { Err(Trap::GeneralProtection) } else { Ok(value) }
}

/// Where the image lies: aligned to 16 bytes, or `#GP`. That it is canonical comes first here, unlike for SSE operands.
fn image_address(m: &mut Machine<'_>, i: &Instruction) -> Result<u64, Trap> {
    let addr = m.address(i);
    if !canonical(addr) {
        m.load(addr, 1)?;
    }
    if addr.is_multiple_of(16) { Ok(addr) } else { Err(Trap::GeneralProtection) }
}

/// Does the form hold 64-bit pointers? Otherwise 32-bit ones with selectors, which are zero here.
fn is_wide(i: &Instruction) -> bool {
    matches!(i.mnemonic(), Mnemonic::Fxsave64 | Mnemonic::Fxrstor64)
}

/// Sections that software may use (bytes 464 to 511) are not written, so a program's own data there
/// survives.
fn save(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let addr = image_address(m, i)?;
    // The processor tries the end first, so that is where a fault is reported.
    let last = m.load(addr.wrapping_add(IMAGE as u64 - 1), 1)?;
    m.store(addr.wrapping_add(IMAGE as u64 - 1), 1, last)?;
    let mut image = fxsave_image(m.cpu);
    if !is_wide(i) {
        image[12..16].fill(0);
        image[20..24].fill(0);
    }
    // The last 96 bytes belong to software.
    for (k, part) in image[..IMAGE_USED].chunks_exact(16).enumerate() {
        m.store_u128(addr.wrapping_add(16 * k as u64), vector(part))?;
    }
    Ok(())
}

fn restore(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let addr = image_address(m, i)?;
    m.load(addr.wrapping_add(IMAGE as u64 - 1), 1)?;
    let mut image = [0; IMAGE];
    for (k, part) in image[..IMAGE_USED].chunks_exact_mut(16).enumerate() {
        part.copy_from_slice(&m.load_u128(addr.wrapping_add(16 * k as u64))?.to_le_bytes());
    }
    if !is_wide(i) {
        image[12..16].fill(0);
        image[20..24].fill(0);
    }
    checked_mxcsr(vector(&image[24..28]) as u32)?;
    fxrestore_image(m.cpu, &image);
    Ok(())
}

/// Bytes of an `fxsave` image.
const IMAGE: usize = 512;
/// Bytes of it that hold registers.
const IMAGE_USED: usize = 416;

/// At most sixteen bytes as a vector.
fn vector(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |vector, &byte| vector << 8 | u128::from(byte))
}
