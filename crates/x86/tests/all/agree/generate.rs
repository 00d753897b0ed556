//! Random programs: bytes that mostly decode, with registers that mostly point somewhere.

use x86::Cpu;

use crate::agree::guest::{CODE, DATA, STACK, Start};

/// What a random program is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Integer instructions, straight on.
    Integer,
    /// Integer instructions with jumps, calls and loops.
    Branches,
    /// SSE instructions among integer ones.
    Vector,
    /// Any bytes.
    Bytes,
    /// Integer instructions that also store into the code.
    Rewriting,
}

/// Random numbers: xorshift.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..4).for_each(|_| {
            random.next();
        });
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 16) % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// How many instructions to run at once.
    pub fn piece(&mut self) -> u64 {
        match self.below(4) {
            0 => 1,
            1 => 1 + self.below(5),
            2 => 1 + self.below(30),
            _ => 100,
        }
    }

    /// A number that is often a corner.
    fn value(&mut self) -> u64 {
        let any = self.next();
        match self.below(6) {
            0 => 0,
            1 => u64::MAX,
            2 => any & 0xff,
            3 => 1 << (any & 63),
            4 => any as i8 as u64,
            _ => any,
        }
    }
}

/// One-byte opcodes with a ModR/M byte.
const MODRM: &[u8] = &[
    0x00, 0x01, 0x02, 0x03, 0x08, 0x09, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0x13, 0x18, 0x19, 0x1a, 0x1b, 0x20, 0x21, 0x22,
    0x23, 0x28, 0x29, 0x2a, 0x2b, 0x30, 0x31, 0x32, 0x33, 0x38, 0x39, 0x3a, 0x3b, 0x63, 0x69, 0x6b, 0x80, 0x81, 0x83,
    0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8d, 0xc0, 0xc1, 0xc6, 0xc7, 0xd0, 0xd1, 0xd2, 0xd3, 0xf6, 0xf7,
    0xfe,
];
/// One-byte opcodes without.
const PLAIN: &[u8] = &[
    0x50, 0x51, 0x53, 0x55, 0x58, 0x59, 0x5b, 0x5d, 0x68, 0x6a, 0x90, 0x91, 0x98, 0x99, 0x9c, 0x9e, 0x9f, 0xa4, 0xa5,
    0xa6, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xae, 0xb0, 0xb4, 0xb8, 0xb9, 0xf5, 0xf8, 0xf9, 0xc8, 0x04, 0x05, 0x3c, 0x3d,
];
/// Opcodes behind 0f with a ModR/M byte.
const TWO: &[u8] = &[
    0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x4c, 0x4f, 0x90, 0x92, 0x94, 0x95, 0x9c, 0x9f, 0xa3, 0xa4,
    0xa5, 0xab, 0xac, 0xad, 0xaf, 0xb0, 0xb1, 0xb3, 0xb6, 0xb7, 0xb8, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf, 0xc0, 0xc1,
    0xc7, 0xc8,
];
/// SSE opcodes behind 0f.
const SSE: &[u8] = &[
    0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x28, 0x29, 0x2a, 0x2c, 0x2d, 0x2e, 0x2f, 0x50, 0x51, 0x54, 0x55,
    0x56, 0x57, 0x58, 0x59, 0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f, 0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68,
    0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f, 0x6f, 0x74, 0x75, 0x76, 0x7e, 0x7f, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6,
    0xd7, 0xd8, 0xd9, 0xda, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9,
    0xea, 0xeb, 0xec, 0xed, 0xee, 0xef, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe,
];
/// SSE opcodes behind 0f with a control byte.
const CONTROLLED: &[u8] = &[0x70, 0x71, 0x72, 0x73, 0xc2, 0xc6];
/// Values of MXCSR: mostly the usual one, with or without flags.
const MXCSR: &[u32] = &[0x1f80, 0x1f80, 0x1fa0, 0x1fbf, 0x3f80, 0x9fc0, 0x1e80];

/// A ModR/M byte and what belongs to it. Registers 3, 5, 6 and 7 point to data.
fn modrm(random: &mut Random, out: &mut Vec<u8>) {
    let reg = (random.below(8) as u8) << 3;
    match random.below(6) {
        5 => aligned(random, out),
        0 | 1 => out.push(0xc0 | reg | random.below(8) as u8),
        2 => {
            out.push(0x40 | reg | random.pick(&[3, 5, 6, 7]));
            out.push(random.next() as u8);
        }
        3 => {
            // Base and index.
            out.push(0x44 | reg);
            out.push((random.below(4) as u8) << 6 | random.pick(&[0, 1, 2]) << 3 | random.pick(&[3, 6, 7]));
            out.push(random.next() as u8);
        }
        _ => {
            out.push(0x80 | reg | random.pick(&[3, 5, 6, 7]));
            out.extend((random.below(4096) as u32).to_le_bytes());
        }
    }
}

/// An address that is a multiple of 16, if its register is.
fn aligned(random: &mut Random, out: &mut Vec<u8>) {
    out.push(0x40 | (random.below(8) as u8) << 3 | random.pick(&[3, 5, 6, 7]));
    out.push((random.below(8) as u8) << 4);
}

fn prefixes(random: &mut Random, out: &mut Vec<u8>) {
    if random.below(8) == 0 {
        out.push(0x66);
    }
    if random.below(16) == 0 {
        out.push(random.pick(&[0xf2, 0xf3, 0x64, 0x65]));
    }
    match random.below(3) {
        0 => out.push(0x48),
        1 if random.below(4) == 0 => out.push(0x40 | random.below(16) as u8),
        _ => {}
    }
}

fn immediates(random: &mut Random, out: &mut Vec<u8>) {
    // Small, so that shift counts and indices are often sensible; decoded as instructions where not needed.
    out.push(random.below(80) as u8);
    if random.below(2) == 0 {
        out.extend([0, 0, 0]);
    }
}

/// A copy of a register and an operation on the copy: these two are fused.
fn copied(random: &mut Random, out: &mut Vec<u8>) {
    let wide: &[u8] = if random.below(2) == 0 { &[0x48] } else { &[] };
    let (from, to, other) = (random.below(8) as u8, random.below(8) as u8, random.below(8) as u8);
    out.extend(wide);
    out.extend([0x89, 0xc0 | from << 3 | to]);
    out.extend(wide);
    match random.below(4) {
        0 => out.extend([0xd3, 0xc0 | other << 3 | to]),
        3 => out.extend([random.pick(&[0x01, 0x09, 0x11, 0x21, 0x29, 0x31]), 0xc0 | other << 3 | to]),
        1 => out.extend([0x83, 0xc0 | other << 3 | to, random.next() as u8]),
        _ => out.extend([0xc1, 0xc0 | other << 3 | to, random.below(80) as u8]),
    }
}

fn integer(random: &mut Random, out: &mut Vec<u8>) {
    if random.below(10) == 0 {
        return copied(random, out);
    }
    prefixes(random, out);
    match random.below(8) {
        0 => out.push(random.pick(PLAIN)),
        1 | 2 => {
            out.extend([0x0f, random.pick(TWO)]);
            modrm(random, out);
        }
        _ => {
            out.push(random.pick(MODRM));
            modrm(random, out);
        }
    }
    if random.below(3) == 0 {
        immediates(random, out);
    }
}

fn branch(random: &mut Random, out: &mut Vec<u8>) {
    let back = (random.below(60) as i8).wrapping_neg() as u8;
    let distance = if random.below(3) == 0 { back } else { random.below(20) as u8 };
    match random.below(8) {
        // A comparison or an operation first: these two are fused.
        0..4 => {
            if random.below(2) == 0 {
                out.push(0x48);
            }
            let operation =
                random.pick(&[0x38, 0x39, 0x3b, 0x84, 0x85, 0x01, 0x03, 0x20, 0x21, 0x28, 0x29, 0x83, 0xfe, 0xff]);
            out.extend([operation, 0xc0 | random.below(if operation >= 0xfe { 16 } else { 64 }) as u8]);
            if operation == 0x83 {
                out.push(random.next() as u8);
            }
            out.extend([0x70 | random.below(16) as u8, distance]);
        }
        4 => out.extend([0x70 | random.below(16) as u8, distance]),
        5 => out.extend([random.pick(&[0xeb, 0xe0, 0xe1, 0xe2, 0xe3]), distance]),
        6 => {
            out.push(0xe8);
            out.extend(u32::from(distance & 31).to_le_bytes());
        }
        _ => out.push(0xc3),
    }
}

fn vector(random: &mut Random, out: &mut Vec<u8>) {
    match random.below(6) {
        0 => out.push(random.pick(&[0xf3, 0xf2])),
        1 => {}
        _ => out.push(0x66),
    }
    if random.below(6) == 0 {
        out.push(0x40 | random.below(16) as u8);
    }
    if random.below(6) == 0 {
        // Between registers.
        out.extend([0x0f, random.pick(CONTROLLED), 0xc0 | random.below(64) as u8, random.below(24) as u8 * 11]);
        return;
    }
    out.extend([0x0f, random.pick(SSE)]);
    match random.below(8) {
        0 => modrm(random, out),
        1..5 => out.push(0xc0 | random.below(64) as u8),
        _ => aligned(random, out),
    }
}

/// A store of a few bytes a little further on.
fn rewriting(random: &mut Random, out: &mut Vec<u8>) {
    // mov byte [rip + distance], imm8: often an inc, dec, push or nop.
    out.extend([0xc6, 0x05]);
    out.extend((random.below(60) as i32 - 20).to_le_bytes());
    out.push(random.pick(&[0x90, 0x91, 0x99, 0xf8, 0xf9, 0x50, 0x58, 0x98]));
}

fn instruction(random: &mut Random, kind: Kind, out: &mut Vec<u8>) {
    match kind {
        Kind::Bytes => out.push(random.next() as u8),
        Kind::Branches if random.below(4) == 0 => branch(random, out),
        Kind::Vector if random.below(3) > 0 => vector(random, out),
        Kind::Rewriting if random.below(5) == 0 => rewriting(random, out),
        Kind::Rewriting if random.below(8) == 0 => branch(random, out),
        _ => integer(random, out),
    }
}

/// A random program.
pub fn program(random: &mut Random, kind: Kind) -> Start {
    let mut code = Vec::new();
    // Sometimes up to the end of a page.
    let start = if random.below(4) == 0 { 4096 - random.below(100) } else { random.below(64) };
    code.resize(start as usize, 0x90);
    let length = start as usize + 50 + random.below(150) as usize;
    while code.len() < length {
        instruction(random, kind, &mut code);
    }
    // Back to the beginning.
    let back = (start as i64 - (code.len() as i64 + 5)) as i32;
    code.push(0xe9);
    code.extend(back.to_le_bytes());
    let mut cpu = Cpu::default();
    (0..16).for_each(|n| cpu.gpr[n] = random.value());
    for n in [3, 5, 6, 7] {
        let pointer = DATA + 0x1000 + random.below(0x1000);
        cpu.gpr[n] = if kind == Kind::Vector { pointer & !15 } else { pointer };
    }
    for n in [0, 1, 2] {
        cpu.gpr[n] = random.below(64);
    }
    cpu.gpr[4] = STACK + 0x2000;
    cpu.rip = CODE + start;
    cpu.mxcsr = random.pick(MXCSR);
    cpu.fs_base = 0x10;
    cpu.gs_base = 0x100;
    (0..16).for_each(|n| cpu.xmm[n] = u128::from(random.value()) << 64 | u128::from(random.value()));
    cpu.set_rflags(random.next() & 0x8d5);
    let data = (0..0x3000).map(|_| random.next() as u8).collect();
    Start { code, data, cpu, writable: kind == Kind::Rewriting }
}
