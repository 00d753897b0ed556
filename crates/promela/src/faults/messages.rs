//! Messages in channels: what they are, and what they may become.

use super::Alternatives;
use crate::ir::{Channel, Shown};
use crate::run::vector::load;

/// The messages of a channel whose body starts at `at`, oldest first.
pub fn all(bytes: &[u8], at: usize, channel: &Channel) -> Vec<Vec<i32>> {
    (0..usize::from(bytes[at]))
        .map(|slot| read(bytes, at + 1 + slot * channel.message_size() as usize, channel))
        .collect()
}

/// The message that starts at `at`.
pub fn read(bytes: &[u8], mut at: usize, channel: &Channel) -> Vec<i32> {
    let field = |(scalar, _): &(crate::ir::Scalar, Shown)| {
        let value = load(bytes, at, *scalar);
        at += scalar.size() as usize;
        value
    };
    channel.fields.iter().map(field).collect()
}

/// Every message that may stand in place of `message`; never that one itself, and each only once.
///
/// Corruption of a number: one bit, and the constants that the model itself uses there. Every value
/// would be exact and would drown all other states.
pub fn others(alternatives: &Alternatives, channel: &Channel, message: &[i32]) -> Vec<Vec<i32>> {
    let mut found: Vec<Vec<i32>> = Vec::new();
    let mut add = |other: Vec<i32>| {
        if other != message && !found.contains(&other) {
            found.push(other);
        }
    };
    match alternatives {
        Alternatives::Fields(fields) => {
            for (index, values) in fields.iter().enumerate() {
                let Some(values) = values else { continue };
                let (scalar, shown) = &channel.fields[index];
                let flipped = (!matches!(shown, Shown::Mtype(_))).then_some(message[index] ^ 1);
                for value in flipped.into_iter().chain(values.iter().copied()) {
                    let mut other = message.to_vec();
                    other[index] = scalar.cut(value);
                    add(other);
                }
            }
        }
        Alternatives::Messages(patterns) => {
            for pattern in patterns {
                add(pattern.iter().zip(message).map(|(constant, value)| constant.unwrap_or(*value)).collect());
            }
        }
        Alternatives::None | Alternatives::Values(_) => {}
    }
    found
}
