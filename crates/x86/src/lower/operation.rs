//! Which operation of a family a mnemonic is.
//!
//! The numbers are constants because handlers take them as const generics: `match` on them
//! disappears at compile time.

use iced_x86::Mnemonic;

use super::ops::{alu, shift};

/// The arithmetic operation of a mnemonic.
pub(super) fn alu_operation(mnemonic: Mnemonic) -> Option<u8> {
    Some(match mnemonic {
        Mnemonic::Add => alu::ADD,
        Mnemonic::Or => alu::OR,
        Mnemonic::Adc => alu::ADC,
        Mnemonic::Sbb => alu::SBB,
        Mnemonic::And => alu::AND,
        Mnemonic::Sub => alu::SUB,
        Mnemonic::Xor => alu::XOR,
        _ => return None,
    })
}

/// The operation that a comparison computes.
pub(super) fn compare_operation(mnemonic: Mnemonic) -> Option<u8> {
    match mnemonic {
        Mnemonic::Cmp => Some(alu::SUB),
        Mnemonic::Test => Some(alu::AND),
        _ => None,
    }
}

/// The shift of a mnemonic.
pub(super) fn shift_operation(mnemonic: Mnemonic) -> Option<u8> {
    Some(match mnemonic {
        Mnemonic::Shl | Mnemonic::Sal => shift::SHL,
        Mnemonic::Shr => shift::SHR,
        Mnemonic::Sar => shift::SAR,
        Mnemonic::Rol => shift::ROL,
        Mnemonic::Ror => shift::ROR,
        _ => return None,
    })
}
