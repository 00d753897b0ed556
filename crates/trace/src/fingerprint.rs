//! A fingerprint of bytes that is the same on every machine and in every release.

use std::fmt;

const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// 128 bits (FNV-1a) that stand for some content.
///
/// Names counterexamples and tells whether source files are still the ones that were checked. It is written into files,
/// so it may never change; it guards against mistakes, not against forgers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// The fingerprint of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self(OFFSET)
    }

    /// Adds one piece of content; the border between pieces counts.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> Self {
        self.raw(&(bytes.len() as u64).to_le_bytes()).raw(bytes)
    }

    fn raw(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |value, &byte| (value ^ u128::from(byte)).wrapping_mul(PRIME)))
    }
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv_1a_agrees_with_its_published_value() {
        assert_eq!(Fingerprint::new().raw(b"a").to_string(), "d228cb696f1a8caf78912b704e4a8964");
    }

    #[test]
    fn the_border_between_pieces_counts() {
        assert_ne!(Fingerprint::new().with(b"ab").with(b"c"), Fingerprint::new().with(b"a").with(b"bc"));
    }
}
