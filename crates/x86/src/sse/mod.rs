//! SSE to SSE4.2 and MMX: one table row for each mnemonic, small functions over lanes.
//!
//! A vector is a `u128`; an MMX register is its low half. Functions that work lane by lane need not know which it is.
//!
//! Alignment: memory operands of 16 bytes must be aligned in legacy SSE (`#GP` otherwise), except
//! for the "unaligned" moves and `pcmpistri` and its kin. AVX lifted that, but is not modelled.

mod aes;
mod blend;
mod compare;
mod convert;
mod extract;
pub(crate) mod fast;
mod float;
mod horizontal;
mod integer;
mod lane;
mod moves;
mod operand;
mod pack;
mod round;
mod shift;
mod shuffle;
mod text;

pub(crate) use compare::flags_of;

use iced_x86::{Code, CpuidFeature, EncodingKind};

use crate::Generic;
use crate::row::Row;

const FAMILIES: &[&[Row]] = &[
    aes::TABLE,
    blend::TABLE,
    compare::TABLE,
    convert::TABLE,
    extract::TABLE,
    float::TABLE,
    horizontal::TABLE,
    integer::TABLE,
    moves::TABLE,
    pack::TABLE,
    round::TABLE,
    shift::TABLE,
    shuffle::TABLE,
    text::TABLE,
];

/// What a vector instruction form does. Mnemonics are shared with string instructions and with AVX, so the feature decides.
///
/// Linear, and called once for each form when the table of `generic.rs` is filled.
pub(crate) fn lookup(code: Code) -> Option<Generic> {
    let ours = code.encoding() == EncodingKind::Legacy && code.cpuid_features().iter().any(|&feature| is_ours(feature));
    if !ours {
        return None;
    }
    let mnemonic = code.mnemonic();
    FAMILIES.iter().flat_map(|family| family.iter()).find(|row| row.0 == mnemonic).map(|row| row.1)
}

fn is_ours(feature: CpuidFeature) -> bool {
    matches!(
        feature,
        CpuidFeature::MMX
            | CpuidFeature::SSE
            | CpuidFeature::SSE2
            | CpuidFeature::SSE3
            | CpuidFeature::SSSE3
            | CpuidFeature::SSE4_1
            | CpuidFeature::SSE4_2
            | CpuidFeature::AES
            | CpuidFeature::PCLMULQDQ
    )
}
