//! String comparison of SSE4.2 (`pcmpistri` and its kin).
//!
//! SDM vol. 2, section 4.1 ("Imm8 Control Byte Operation") has the tables that `aggregate`,
//! `polarise` and the two endings follow: bits 1:0 format, 3:2 aggregation, 5:4 polarity, 6 output.

use iced_x86::{Code, Instruction, Mnemonic, Register};

use super::lane::{Lane, build};
use super::operand::{control, read, read_anywhere};
use crate::flags::{AF, CF, OF, PF, SF, ZF};
use crate::machine::{Machine, Trap};
use crate::row::Row;

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Pcmpistri, |m, i| compare(m, i, to_index)),
    (Mnemonic::Pcmpistrm, |m, i| compare(m, i, to_mask)),
    (Mnemonic::Pcmpestri, |m, i| compare(m, i, to_index)),
    (Mnemonic::Pcmpestrm, |m, i| compare(m, i, to_mask)),
    (Mnemonic::Pcmpestri64, |m, i| compare(m, i, to_index)),
    (Mnemonic::Pcmpestrm64, |m, i| compare(m, i, to_mask)),
];

/// Two strings of bytes or words, widened so that one comparison serves signed and unsigned.
struct Texts {
    first: [i32; 16],
    second: [i32; 16],
    first_len: usize,
    second_len: usize,
    count: usize,
}

fn compare(m: &mut Machine<'_>, i: &Instruction, finish: fn(&mut Machine<'_>, u8, &Texts, u32)) -> Result<(), Trap> {
    let (a, b) = (read(m, i, 0)?, read_anywhere(m, i, 1)?);
    let control = control(i);
    let texts = texts(m, i, control, a, b);
    let result = polarise(control, &texts, aggregate(control, &texts));
    let flag = |on: bool, bit: u64| if on { bit } else { 0 };
    let bits = flag(result != 0, CF)
        | flag(texts.second_len < texts.count, ZF)
        | flag(texts.first_len < texts.count, SF)
        | flag(result & 1 != 0, OF);
    m.cpu.flags.replace(CF | ZF | SF | OF | AF | PF, bits);
    finish(m, control, &texts, result);
    Ok(())
}

fn texts(m: &Machine<'_>, i: &Instruction, control: u8, a: u128, b: u128) -> Texts {
    let count = if control & 1 != 0 { 8 } else { 16 };
    let lane = |v: u128, k: usize| match control & 3 {
        0 => u8::get(v, k as u32).into(),
        1 => u16::get(v, k as u32).into(),
        2 => i8::get(v, k as u32).into(),
        _ => i16::get(v, k as u32).into(),
    };
    let all = |v: u128| std::array::from_fn(|k| if k < count { lane(v, k) } else { 0 });
    let (first, second): ([i32; 16], [i32; 16]) = (all(a), all(b));
    let implicit = matches!(i.code(), Code::Pcmpistri_xmm_xmmm128_imm8 | Code::Pcmpistrm_xmm_xmmm128_imm8);
    let len = |text: &[i32; 16], register: Register| match implicit {
        true => text[..count].iter().position(|&unit| unit == 0).unwrap_or(count),
        false => explicit_len(m, i, register).min(count as u64) as usize,
    };
    let (first_len, second_len) = (len(&first, Register::RAX), len(&second, Register::RDX));
    Texts { first, second, first_len, second_len, count }
}

/// The magnitude of eax or edx, or of the whole register under REX.W.
fn explicit_len(m: &Machine<'_>, i: &Instruction, register: Register) -> u64 {
    let value = m.register(register);
    match i.mnemonic() {
        Mnemonic::Pcmpestri64 | Mnemonic::Pcmpestrm64 => (value as i64).unsigned_abs(),
        _ => (value as i32).unsigned_abs().into(),
    }
}

/// Which positions of the second string match, by one of four meanings of "match".
fn aggregate(control: u8, t: &Texts) -> u32 {
    let matches = |j: usize| match control >> 2 & 3 {
        0 => j < t.second_len && t.first[..t.first_len].contains(&t.second[j]),
        1 => {
            j < t.second_len
                && t.first[..t.first_len & !1].chunks(2).any(|r| r[0] <= t.second[j] && t.second[j] <= r[1])
        }
        2 => match (j < t.first_len, j < t.second_len) {
            (true, true) => t.first[j] == t.second[j],
            (one, other) => one == other,
        },
        _ => (0..t.first_len.min(t.count - j)).all(|n| j + n < t.second_len && t.first[n] == t.second[j + n]),
    };
    (0..t.count).fold(0, |bits, j| bits | u32::from(matches(j)) << j)
}

fn polarise(control: u8, t: &Texts, result: u32) -> u32 {
    match control >> 4 & 3 {
        1 => result ^ ((1 << t.count) - 1),
        3 => result ^ ((1 << t.second_len) - 1),
        _ => result,
    }
}

fn to_index(m: &mut Machine<'_>, control: u8, t: &Texts, result: u32) {
    let index = match result {
        0 => t.count as u32,
        _ if control & 0x40 != 0 => 31 - result.leading_zeros(),
        _ => result.trailing_zeros(),
    };
    m.set_register(Register::ECX, index.into());
}

fn to_mask(m: &mut Machine<'_>, control: u8, t: &Texts, result: u32) {
    let set = |k: u32| result >> k & 1 != 0;
    m.cpu.xmm[0] = match (control & 0x40 != 0, t.count) {
        (false, _) => result.into(),
        (true, 8) => build(|k| if set(k) { u16::MAX } else { 0 }),
        (true, _) => build(|k| if set(k) { u8::MAX } else { 0 }),
    };
}
