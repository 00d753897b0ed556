//! AES rounds and carry-less multiplication. Not announced by `cpuid`, but programs may be built for them.
//!
//! Tables are computed at compile time from the definition in FIPS 197 instead of being copied: 256
//! entries that nobody would proofread. Lookups are by value of secret data, which matters to
//! nobody here: guests have no clock that could measure it.

use iced_x86::{Instruction, Mnemonic};

use super::lane::{Lane, build};
use super::operand::{combine, control, read, write};
use crate::machine::{Machine, Trap};
use crate::row::Row;

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Aesenc, |m, i| combine(m, i, |a, key| mix(substitute(shift_rows(a, 1), &FORWARD), [2, 3, 1, 1]) ^ key)),
    (Mnemonic::Aesenclast, |m, i| combine(m, i, |a, key| substitute(shift_rows(a, 1), &FORWARD) ^ key)),
    (Mnemonic::Aesdec, |m, i| {
        combine(m, i, |a, key| mix(substitute(shift_rows(a, 3), &BACKWARD), [14, 11, 13, 9]) ^ key)
    }),
    (Mnemonic::Aesdeclast, |m, i| combine(m, i, |a, key| substitute(shift_rows(a, 3), &BACKWARD) ^ key)),
    (Mnemonic::Aesimc, |m, i| combine(m, i, |_, b| mix(b, [14, 11, 13, 9]))),
    (Mnemonic::Aeskeygenassist, assist),
    (Mnemonic::Pclmulqdq, multiply),
];

/// Multiplication of polynomials modulo x^8 + x^4 + x^3 + x + 1.
const fn times(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b != 0 {
        if b & 1 != 0 {
            product ^= a;
        }
        a = a << 1 ^ if a & 0x80 != 0 { 0x1b } else { 0 };
        b >>= 1;
    }
    product
}

/// a^254, which is the inverse, then the affine map.
const fn box_of(a: u8) -> u8 {
    let (mut inverse, mut k) = (1, 0);
    while k < 254 {
        inverse = times(inverse, a);
        k += 1;
    }
    inverse ^ inverse.rotate_left(1) ^ inverse.rotate_left(2) ^ inverse.rotate_left(3) ^ inverse.rotate_left(4) ^ 0x63
}

const TABLES: ([u8; 256], [u8; 256]) = {
    let (mut forward, mut backward, mut a) = ([0; 256], [0; 256], 0);
    while a < 256 {
        let b = box_of(a as u8);
        forward[a] = b;
        backward[b as usize] = a as u8;
        a += 1;
    }
    (forward, backward)
};
static FORWARD: [u8; 256] = TABLES.0;
static BACKWARD: [u8; 256] = TABLES.1;

fn substitute(a: u128, table: &[u8; 256]) -> u128 {
    build(|k| table[usize::from(u8::get(a, k))])
}

/// Row r moves left by r (forward, `by` 1) or right by r (`by` 3) columns.
fn shift_rows(a: u128, by: u32) -> u128 {
    build(|k| {
        let (row, column) = (k % 4, k / 4);
        u8::get(a, row + 4 * ((column + by * row) % 4))
    })
}

fn mix(a: u128, factors: [u8; 4]) -> u128 {
    build(|k| {
        let (row, column) = (k % 4, k / 4);
        (0..4).fold(0, |sum, n| sum ^ times(u8::get(a, 4 * column + (row + n) % 4), factors[n as usize]))
    })
}

fn assist(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let constant = u32::from(control(i));
    let a = substitute(read(m, i, 1)?, &FORWARD);
    let word = |k: u32| match k {
        0 => u32::get(a, 1),
        1 => u32::get(a, 1).rotate_right(8) ^ constant,
        2 => u32::get(a, 3),
        _ => u32::get(a, 3).rotate_right(8) ^ constant,
    };
    write(m, i, 0, build(word))
}

fn multiply(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let c = u32::from(control(i));
    combine(m, i, |a, b| {
        let (a, b) = (u64::get(a, c & 1), u64::get(b, c >> 4 & 1));
        (0..64).filter(|k| b >> k & 1 != 0).fold(0, |sum, k| sum ^ u128::from(a) << k)
    })
}
