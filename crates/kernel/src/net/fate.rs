//! What may become of a UDP datagram on its way, where a fault happens to it. Words and meaning are those of netem.
//!
//! The fate is chosen when a datagram is sent: whether one is lost early or late on its way, nobody can tell. One that is
//! delayed is under way, in [`super::state::Net`], until it arrives.

use super::address::Endpoint;

/// What becomes of a datagram that does not simply arrive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fate {
    /// It never arrives.
    Lost,
    /// It arrives twice, one behind the other.
    Duplicated,
    /// It overtakes the one before it.
    Reordered,
    /// It arrives later, perhaps behind others that are sent later.
    Delayed,
}

/// A datagram that is under way.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Delayed {
    pub(super) source: Endpoint,
    pub(super) destination: Endpoint,
    pub(super) bytes: Vec<u8>,
}

impl Delayed {
    /// What it says.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
