//! Registers and memory for one case.

use hostcpu::{State, WINDOW, WRITABLE};

use crate::host::numbers::{Style, extended, integer, neighbour, vector};
use crate::host::random::Random;

/// Any registers at all.
pub fn any(random: &mut Random, style: Style) -> State {
    let mut fx = [0; 512];
    put_x87(random, &mut fx);
    fx[24..28].copy_from_slice(&mxcsr(random).to_le_bytes());
    for k in 0..16 {
        let previous = u128_at(&fx, 160);
        let value = if k > 0 && random.percent(30) { neighbour(random, previous) } else { vector(random, style) };
        fx[160 + 16 * k..176 + 16 * k].copy_from_slice(&value.to_le_bytes());
    }
    let status = random.next() & 0x8d5;
    let down = if random.percent(20) { 0x400 } else { 0 };
    let mut state = State { gpr: [0; 16], rflags: 0x202 | status | down, rip: 0, fx };
    for register in &mut state.gpr {
        *register = integer(random);
    }
    // Stack, frame and string registers point somewhere useful, mostly.
    for register in [3, 4, 5, 6, 7] {
        if random.percent(85) {
            state.gpr[register] = inside(random);
        }
    }
    state
}

fn u128_at(fx: &[u8], at: usize) -> u128 {
    u128::from_le_bytes(fx[at..at + 16].try_into().expect("sixteen bytes"))
}

/// An address with room on both sides.
pub fn inside(random: &mut Random) -> u64 {
    let at = WINDOW + 768 + random.below(WRITABLE as u64 - 2048);
    if random.percent(60) { at & !15 } else { at }
}

/// An address for an operand: mostly inside, sometimes across pages, read-only, or nowhere.
pub fn target(random: &mut Random, size: u64) -> u64 {
    let end = WINDOW + WRITABLE as u64;
    let size = size.max(1);
    match random.below(100) {
        0..80 => inside(random),
        80..86 => WINDOW + 4096 - random.below(size + 1),
        86..92 => end - random.below(size + 1),
        92..94 => end + 64 * random.below(32),
        94..98 => WINDOW - random.below(size + 1),
        _ => integer(random),
    }
}

pub fn mxcsr(random: &mut Random) -> u32 {
    let rounding = if random.percent(50) { 0 } else { random.below(4) as u32 };
    let flags = random.next() as u32 & 0x3f;
    let sticky = if random.percent(50) { flags } else { 0 };
    let special = if random.percent(25) { random.next() as u32 & 0x8040 } else { 0 };
    let masks = if random.percent(80) { 0x1f80 } else { random.next() as u32 & 0x1f80 };
    rounding << 13 | sticky | special | masks
}

fn put_x87(random: &mut Random, fx: &mut [u8; 512]) {
    let control = control(random);
    let mut status = random.next() as u16 & 0x7f00;
    let flags = random.next() as u16 & 0x7f;
    // An exception that waits makes nearly all instructions fail alike: not too often.
    status |= if random.percent(5) { flags } else { flags & (control | 0x40) };
    if status & !control & 0x3f != 0 {
        status |= 0x8080;
    }
    let used = if random.percent(60) { 0xff } else { random.next() as u8 };
    fx[..2].copy_from_slice(&control.to_le_bytes());
    fx[2..4].copy_from_slice(&status.to_le_bytes());
    fx[4] = used;
    let mut value = 0;
    for k in 0..8 {
        value = if k > 0 && random.percent(25) { near_extended(random, value) } else { extended(random) };
        fx[32 + 16 * k..48 + 16 * k].copy_from_slice(&value.to_le_bytes());
    }
}

/// Nearly the same 80-bit number.
fn near_extended(random: &mut Random, of: u128) -> u128 {
    match random.below(4) {
        0 => of,
        1 => of ^ 1 << 79,
        2 => of ^ 1 << random.below(63),
        _ => of ^ 1 << (64 + random.below(7)),
    }
}

fn control(random: &mut Random) -> u16 {
    let masks = if random.percent(80) { 0x3f } else { random.next() as u16 & 0x3f };
    let precision = if random.percent(50) { 0x300 } else { random.pick(&[0, 0x200, 0x300]) };
    let rounding = if random.percent(50) { 0 } else { random.next() as u16 & 0xc00 };
    0x40 | masks | precision | rounding
}
