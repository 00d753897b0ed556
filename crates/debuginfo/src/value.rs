//! Values of variables, read from memory.

use super::types::Kind;
use memory::{Memory, SpaceId};
use std::fmt;

/// Where a value is, and what it means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Its address.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// What it means.
    pub kind: Kind,
    /// Only these bits of it: the first, from the lowest, and how many.
    pub bits: Option<(u64, u64)>,
    /// Whether the highest bit is a sign.
    pub is_signed: bool,
    /// Its type.
    pub type_name: String,
}

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A number: what else it means is in the text.
    Number(i128, String),
    /// A floating-point number.
    Float(f64),
    /// A text: an array of characters up to the first zero.
    Text(String),
}

impl Value {
    /// The value as a number, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<i128> {
        match self {
            Self::Number(number, _) => Some(*number),
            Self::Float(_) | Self::Text(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(_, text) => f.write_str(text),
            Self::Float(number) => write!(f, "{number:?}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

/// The longest text that is read.
const TEXT_MAX: u64 = 4096;

impl Place {
    /// What is there now; nothing if it is not mapped, or of a size that no machine computes with.
    #[must_use]
    pub fn read(&self, memory: &Memory, space: SpaceId) -> Option<Value> {
        if self.kind == Kind::Text {
            return self.read_text(memory, space);
        }
        let mut bytes = [0; 16];
        let part = bytes.get_mut(..usize::try_from(self.size).ok()?)?;
        memory.peek(space, self.address, part).ok()?;
        if self.kind == Kind::Float {
            return float(&bytes, self.size);
        }
        let number = self.number(u128::from_le_bytes(bytes));
        Some(Value::Number(number, self.told(number)))
    }

    fn read_text(&self, memory: &Memory, space: SpaceId) -> Option<Value> {
        let mut bytes = vec![0; self.size.min(TEXT_MAX) as usize];
        memory.peek(space, self.address, &mut bytes).ok()?;
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Some(Value::Text(String::from_utf8_lossy(text).into_owned()))
    }

    fn number(&self, raw: u128) -> i128 {
        let (first, count) = self.bits.unwrap_or((0, self.size * 8));
        let (first, count) = (first.min(127) as u32, count.clamp(1, 128) as u32);
        let high = (raw >> first) << (128 - count);
        if self.is_signed { high as i128 >> (128 - count) } else { (high >> (128 - count)) as i128 }
    }

    fn told(&self, number: i128) -> String {
        match &self.kind {
            Kind::Bool if number == 0 => "false".into(),
            Kind::Bool if number == 1 => "true".into(),
            Kind::Pointer => format!("{number:#x}"),
            Kind::Char => {
                u8::try_from(number).map_or_else(|_| number.to_string(), |byte| format!("{:?}", char::from(byte)))
            }
            Kind::Enum(names) => {
                let name = names.iter().find(|(_, value)| *value == number);
                name.map_or_else(|| number.to_string(), |(name, _)| name.clone())
            }
            _ => number.to_string(),
        }
    }
}

fn float(bytes: &[u8; 16], size: u64) -> Option<Value> {
    match size {
        4 => Some(Value::Float(f32::from_le_bytes(bytes[..4].try_into().expect("four bytes")).into())),
        8 => Some(Value::Float(f64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")))),
        _ => None,
    }
}
