//! What must be equal after a case.

use std::fmt::Write as _;

use hostcpu::{Outcome, State, WINDOW, WINDOW_LEN};
use iced_x86::{Code, Mnemonic, RflagsBits};
use x86::{Cpu, Trap};

use crate::host::bench::outcome_of;
use crate::host::encode::Case;

/// Carry, parity, adjust, zero, sign, direction, overflow.
const FLAGS: u64 = 0xcd5;

/// Where in memory x87 images hold the pointers of the last instruction.
pub fn hide_pointers(code: Code) -> Vec<(u64, usize)> {
    match code {
        Code::Fnstenv_m14byte | Code::Fnsave_m94byte => vec![(6, 8)],
        Code::Fnstenv_m28byte | Code::Fnsave_m108byte => vec![(12, 16)],
        Code::Fxsave_m512byte | Code::Fxsave64_m512byte => vec![(5, 19), (28, 4)],
        _ => vec![],
    }
}

pub fn states(
    case: &Case,
    outcome: Outcome,
    host: &State,
    cpu: &Cpu,
    trap: Option<&Trap>,
    settled: bool,
) -> Vec<String> {
    let mut differences = vec![];
    let ours = outcome_of(trap);
    if !same_outcome(outcome, ours) {
        differences.push(format!("outcome: host {outcome:x?}, here {ours:x?} ({trap:x?})"));
        return differences;
    }
    if cpu.gpr != host.gpr {
        differences.push(format!("gpr: host {:x?}\n       here {:x?}", host.gpr, cpu.gpr));
    }
    let mask = match outcome {
        Outcome::Done => FLAGS & !bits_of(case.instruction.rflags_undefined()),
        // Before the instruction runs, nobody will look at what it is about to set: `settle` clears that.
        Outcome::Signal { .. } if settled => FLAGS & !bits_of(case.instruction.rflags_modified()),
        Outcome::Signal { .. } => FLAGS,
    };
    if (cpu.rflags() ^ host.rflags) & mask != 0 {
        differences.push(format!("flags: host {:#x}, here {:#x}", host.rflags & FLAGS, cpu.rflags() & FLAGS));
    }
    if outcome == Outcome::Done && cpu.rip != host.rip {
        differences.push(format!("rip: host {:#x}, here {:#x}", host.rip, cpu.rip));
    }
    let (mut theirs, mut here) = (visible(&host.fx), visible(&x86::fxsave_image(cpu)));
    if forgiving(case.instruction.mnemonic()) {
        forgive(&mut theirs, &mut here);
    }
    if theirs != here {
        differences.push(format!("fx: host {}\n      here {}", difference(&theirs, &here), difference(&here, &theirs)));
    }
    differences
}

/// The kernel gives an address for page faults only; for others it is the instruction's, or nothing.
fn same_outcome(host: Outcome, ours: Outcome) -> bool {
    match (host, ours) {
        (Outcome::Done, Outcome::Done) => true,
        (Outcome::Signal { number: 11, address: a }, Outcome::Signal { number: 11, address: b }) => {
            a == b || goes_into_hole(a, b) || leaves_window(a, b)
        }
        (Outcome::Signal { number: 7, .. }, Outcome::Signal { number: 11, address: b }) => goes_into_hole(0, b),
        (Outcome::Signal { number: a, .. }, Outcome::Signal { number: b, .. }) => a == b,
        _ => false,
    }
}

/// The last page below the non-canonical hole is never mapped; on a processor, an access from it into the hole is no page
/// fault.
fn goes_into_hole(host: u64, ours: u64) -> bool {
    host == 0 && ours >> 12 == 0x7_ffff_ffff
}

/// An instruction that reads and writes across the end of the read-only page faults in either of two pages.
fn leaves_window(host: u64, ours: u64) -> bool {
    let end = WINDOW + WINDOW_LEN as u64;
    ours == end && host < end && host + 16 > end
}

/// iced's flag bits as the register has them.
fn bits_of(bits: u32) -> u64 {
    let table = [
        (RflagsBits::OF, 0x800),
        (RflagsBits::SF, 0x80),
        (RflagsBits::ZF, 0x40),
        (RflagsBits::AF, 0x10),
        (RflagsBits::CF, 1),
        (RflagsBits::PF, 4),
    ];
    table.iter().filter(|row| bits & row.0 != 0).map(|row| row.1).sum()
}

/// The part of an `fxsave` image that is compared: not the pointers of the last instruction, not what is reserved.
fn visible(fx: &[u8; 512]) -> [u8; 416] {
    let mut image = [0; 416];
    image.copy_from_slice(&fx[..416]);
    image[5..24].fill(0);
    image[28..32].fill(0);
    for k in 0..8 {
        image[42 + 16 * k..48 + 16 * k].fill(0);
    }
    image
}

/// Functions for which a processor may be off by one unit in the last place, and is, now and then.
fn forgiving(mnemonic: Mnemonic) -> bool {
    matches!(
        mnemonic,
        Mnemonic::Fsin
            | Mnemonic::Fcos
            | Mnemonic::Fsincos
            | Mnemonic::Fptan
            | Mnemonic::Fpatan
            | Mnemonic::Fyl2x
            | Mnemonic::Fyl2xp1
            | Mnemonic::F2xm1
    )
}

/// Takes stack registers that differ by one unit as equal, and with them the bit that says which way they were rounded.
fn forgive(theirs: &mut [u8; 416], ours: &mut [u8; 416]) {
    for k in 0..2 {
        let range = 32 + 16 * k..48 + 16 * k;
        let number = |image: &[u8; 416]| u128::from_le_bytes(image[range.clone()].try_into().expect("sixteen bytes"));
        let (a, b) = (number(theirs), number(ours));
        // Consecutive numbers have consecutive places, also across powers of two.
        let place = |bits: u128| (bits >> 64 << 63) + (bits & u128::from(u64::MAX >> 1));
        let close = place(a).abs_diff(place(b)) <= 1;
        if a != b && close {
            ours[range.clone()].copy_from_slice(&theirs[range]);
        }
    }
    ours[3] = ours[3] & !2 | theirs[3] & 2;
}

/// The fields of an image that differ from another one.
fn difference(image: &[u8; 416], other: &[u8; 416]) -> String {
    let mut text = String::new();
    let fields = [(0, 2, "control"), (2, 2, "status"), (4, 1, "used"), (24, 4, "mxcsr")];
    let registers = (0..8).map(|k| (32 + 16 * k, 10, "st")).chain((0..16).map(|k| (160 + 16 * k, 16, "xmm")));
    for (at, len, name) in fields.into_iter().chain(registers) {
        if image[at..at + len] != other[at..at + len] {
            let number = match name {
                "st" => (at - 32) / 16,
                "xmm" => (at - 160) / 16,
                _ => 0,
            };
            let bytes: String = image[at..at + len].iter().rev().map(|b| format!("{b:02x}")).collect();
            let _ = write!(text, "{name}{number}={bytes} ");
        }
    }
    text
}

/// All of an image.
pub fn image_text(image: &[u8; 512]) -> String {
    let image = visible(image);
    difference(&image, &image.map(|b| !b))
}
