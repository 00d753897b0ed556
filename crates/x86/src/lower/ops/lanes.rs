//! Lane by lane on a whole SSE register. Written so that the compiler finds the host's instruction.
//!
//! For hosts without SSE, and where no namesake exists. On x86-64 the tables of `host/` come first.

use iced_x86::Mnemonic;

pub(super) const AND: u8 = 0;
pub(super) const AND_NOT: u8 = 1;
pub(super) const OR: u8 = 2;
pub(super) const XOR: u8 = 3;
pub(super) const EQUAL_8: u8 = 4;
pub(super) const EQUAL_16: u8 = 5;
pub(super) const EQUAL_32: u8 = 6;
pub(super) const MIN_8: u8 = 7;
pub(super) const MAX_8: u8 = 8;
pub(super) const ADD_8: u8 = 9;
pub(super) const ADD_16: u8 = 10;
pub(super) const ADD_32: u8 = 11;
pub(super) const ADD_64: u8 = 12;
pub(super) const SUB_8: u8 = 13;
pub(super) const SUB_16: u8 = 14;
pub(super) const SUB_32: u8 = 15;
pub(super) const SUB_64: u8 = 16;
pub(super) const UNPACK_8: u8 = 17;
pub(super) const UNPACK_16: u8 = 18;
pub(super) const UNPACK_32: u8 = 19;
pub(super) const UNPACK_64: u8 = 20;

/// The operation of a mnemonic, if it has a handler.
pub(super) fn operation(mnemonic: Mnemonic) -> Option<u8> {
    Some(match mnemonic {
        Mnemonic::Pand | Mnemonic::Andps | Mnemonic::Andpd => AND,
        Mnemonic::Pandn | Mnemonic::Andnps | Mnemonic::Andnpd => AND_NOT,
        Mnemonic::Por | Mnemonic::Orps | Mnemonic::Orpd => OR,
        Mnemonic::Pxor | Mnemonic::Xorps | Mnemonic::Xorpd => XOR,
        Mnemonic::Pcmpeqb => EQUAL_8,
        Mnemonic::Pcmpeqw => EQUAL_16,
        Mnemonic::Pcmpeqd => EQUAL_32,
        Mnemonic::Pminub => MIN_8,
        Mnemonic::Pmaxub => MAX_8,
        Mnemonic::Paddb => ADD_8,
        Mnemonic::Paddw => ADD_16,
        Mnemonic::Paddd => ADD_32,
        Mnemonic::Paddq => ADD_64,
        Mnemonic::Psubb => SUB_8,
        Mnemonic::Psubw => SUB_16,
        Mnemonic::Psubd => SUB_32,
        Mnemonic::Psubq => SUB_64,
        Mnemonic::Punpcklbw => UNPACK_8,
        Mnemonic::Punpcklwd => UNPACK_16,
        Mnemonic::Punpckldq | Mnemonic::Unpcklps => UNPACK_32,
        Mnemonic::Punpcklqdq | Mnemonic::Unpcklpd => UNPACK_64,
        _ => return None,
    })
}

macro_rules! zip {
    ($name:ident, $lane:ty, $count:literal) => {
        #[inline(always)]
        fn $name(a: u128, b: u128, f: impl Fn($lane, $lane) -> $lane) -> u128 {
            const BITS: u32 = <$lane>::BITS;
            let mut result = [0; $count];
            for (n, lane) in result.iter_mut().enumerate() {
                let shift = BITS * n as u32;
                *lane = f((a >> shift) as $lane, (b >> shift) as $lane);
            }
            result.iter().rev().fold(0, |sum, lane| if BITS < 128 { sum << BITS } else { 0 } | u128::from(*lane))
        }
    };
}

zip!(zip8, u8, 16);
zip!(zip16, u16, 8);
zip!(zip32, u32, 4);
zip!(zip64, u64, 2);

/// The low halves of `a` and `b`, lane by lane in turn.
macro_rules! unpack {
    ($name:ident, $lane:ty, $pairs:literal) => {
        #[inline(always)]
        fn $name(a: u128, b: u128) -> u128 {
            const BITS: u32 = <$lane>::BITS;
            let pair = |n: u32| {
                let (a, b) = ((a >> (BITS * n)) as $lane, (b >> (BITS * n)) as $lane);
                (u128::from(a) | u128::from(b) << BITS) << (2 * BITS * n)
            };
            (0..$pairs).fold(0, |sum, n| sum | pair(n))
        }
    };
}

unpack!(unpack8, u8, 8);
unpack!(unpack16, u16, 4);
unpack!(unpack32, u32, 2);

/// The operation on two registers.
#[inline(always)]
pub(super) fn compute<const OP: u8>(a: u128, b: u128) -> u128 {
    match OP {
        AND => a & b,
        AND_NOT => !a & b,
        OR => a | b,
        XOR => a ^ b,
        EQUAL_8 => zip8(a, b, |a, b| if a == b { u8::MAX } else { 0 }),
        EQUAL_16 => zip16(a, b, |a, b| if a == b { u16::MAX } else { 0 }),
        EQUAL_32 => zip32(a, b, |a, b| if a == b { u32::MAX } else { 0 }),
        MIN_8 => zip8(a, b, u8::min),
        MAX_8 => zip8(a, b, u8::max),
        ADD_8 => zip8(a, b, u8::wrapping_add),
        ADD_16 => zip16(a, b, u16::wrapping_add),
        ADD_32 => zip32(a, b, u32::wrapping_add),
        ADD_64 => zip64(a, b, u64::wrapping_add),
        SUB_8 => zip8(a, b, u8::wrapping_sub),
        SUB_16 => zip16(a, b, u16::wrapping_sub),
        SUB_32 => zip32(a, b, u32::wrapping_sub),
        SUB_64 => zip64(a, b, u64::wrapping_sub),
        UNPACK_8 => unpack8(a, b),
        UNPACK_16 => unpack16(a, b),
        UNPACK_32 => unpack32(a, b),
        _ => a << 64 >> 64 | b << 64,
    }
}

/// The top bit of each byte.
#[inline(always)]
pub(super) fn sign_bits(a: u128) -> u64 {
    a.to_le_bytes().iter().enumerate().fold(0, |mask, (n, byte)| mask | u64::from(byte >> 7) << n)
}

/// Lanes of 32 bits in the order that two bits each of `order` say.
#[inline(always)]
pub(super) fn shuffle(a: u128, order: u64) -> u128 {
    let lane = |n: u64| u128::from((a >> (32 * (order >> (2 * n) & 3))) as u32) << (32 * n);
    lane(0) | lane(1) | lane(2) | lane(3)
}
