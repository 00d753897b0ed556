//! Faults of UDP datagrams, in the words of netem.
//!
//! A fault is chosen when a datagram is sent: whether one is lost early or late on its way, nobody can tell. One that is
//! delayed is under way, in [`super::state::Net`], until it arrives.

use super::address::Endpoint;

/// A fault of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DatagramFault {
    /// It never arrives.
    Loss,
    /// It arrives twice, one behind the other.
    Duplicate,
    /// It overtakes the one before it.
    Reorder,
    /// It arrives later, perhaps behind others that are sent later.
    Delay,
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
