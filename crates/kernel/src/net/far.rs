//! Far ends: ends of connections that no process holds. A peer outside of the world is behind them.
//!
//! What is sent to a far end is said to its peer, in one order for all connections; what the peer answers is delivered. The
//! state holds where in its conversation a peer is: a fingerprint of all that was said to it. Which answer belongs to that is
//! a function outside of the state.

use crate::id::Id;
use crate::map::{Map, Wide};
use std::net::{Ipv4Addr, Ipv6Addr};

/// The number of a peer, in the order of declaration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PeerId(pub u32);

/// Where a peer is found, where no process is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Site {
    /// At a port of the local machine.
    Local(u16),
    /// At a port of another machine.
    Machine(Ipv4Addr, u16),
    /// At a socket in the file system, by its inode.
    Socket(Id),
}

/// All far ends.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Far {
    /// Where peers are found.
    pub declared: Map<Site, PeerId>,
    /// Peers that connect to a local port.
    pub clients: Map<PeerId, u16>,
    /// How many of a peer's own connections have come.
    pub opened: Map<PeerId, u32>,
    /// Far ends, by their sockets.
    pub ends: Map<Id, FarEnd>,
    /// Where in its conversation each peer is.
    pub places: Map<PeerId, Place>,
    /// What was said since it was last taken; empty between steps.
    pub said: Vec<Said>,
    /// Whether bytes stay at far ends until they are taken (`far_live.rs`), and take up room meanwhile.
    pub is_live: bool,
}

impl Far {
    /// Whether an address is one of a machine that a peer stands for: then it can be reached.
    #[must_use]
    pub fn is_machine(&self, ip: Ipv6Addr) -> bool {
        self.declared.keys().any(|site| matches!(site, Site::Machine(machine, _) if machine.to_ipv6_mapped() == ip))
    }
}

/// A far end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FarEnd {
    /// The peer behind it.
    pub peer: PeerId,
    /// Bytes of the peer's answers that were delivered.
    pub delivered: u64,
    /// How the peer has ended the connection, as far as that was delivered.
    pub ended: Option<End>,
}

/// How one side ends a connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum End {
    /// In order: it has no more to say.
    Finished,
    /// It neither says nor hears any more. Only Unix sockets tell that from the end of what is said.
    Closed,
    /// It breaks the connection off, or refuses it.
    Reset,
}

/// Something that was said to a peer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Said {
    /// The connection, by its far end.
    pub end: Id,
    /// What.
    pub what: Saying,
}

/// What can be said to a peer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Saying {
    /// A connection is opened.
    Open,
    /// Bytes are sent.
    Bytes(Vec<u8>),
    /// No more will be sent.
    Finish,
    /// The connection is broken off.
    Reset,
    /// No more will be sent or received (Unix sockets).
    Close,
}

/// Where in its conversation a peer is: a fingerprint of what was said to it. Bytes that follow each other on one connection
/// count by content, and not by how they were cut into calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Place {
    /// All but the last run of bytes.
    before: u128,
    /// The last run of bytes: its connection, the hash of its content, its length.
    run: Option<(Id, u128, u64)>,
}

impl Place {
    /// Fingerprint of the whole conversation so far.
    #[must_use]
    pub fn fingerprint(self) -> u128 {
        Wide::hash_of(self)
    }

    /// The place behind something that is said.
    #[must_use]
    pub fn after(self, said: &Said) -> Self {
        match (&said.what, self.run) {
            (Saying::Bytes(bytes), Some((end, hash, length))) if end == said.end => {
                Self { run: Some((end, extended(hash, bytes), length + bytes.len() as u64)), ..self }
            }
            (Saying::Bytes(bytes), _) => {
                let before = Wide::hash_of((self.before, self.run));
                Self { before, run: Some((said.end, extended(1, bytes), bytes.len() as u64)) }
            }
            (what, run) => Self { before: Wide::hash_of((self.before, run, said.end, what)), run: None },
        }
    }
}

/// The hash of a run of bytes that is extended: a polynomial, so that it does not matter where the run was cut.
fn extended(hash: u128, bytes: &[u8]) -> u128 {
    const FACTOR: u128 = 0x2d35_8dcc_aa6c_78a5_8bb8_4b93_962e_acc9;
    bytes.iter().fold(hash, |hash, byte| hash.wrapping_mul(FACTOR).wrapping_add(u128::from(*byte) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(end: u64, text: &str) -> Said {
        Said { end: Id(end), what: Saying::Bytes(text.as_bytes().to_vec()) }
    }

    #[test]
    fn bytes_count_by_content_and_connections_by_order() {
        let start = Place::default();
        let whole = start.after(&bytes(1, "GET"));
        assert_eq!(start.after(&bytes(1, "GE")).after(&bytes(1, "T")), whole);
        assert_ne!(start.after(&bytes(1, "GE")), whole);
        assert_ne!(start.after(&bytes(2, "GET")), whole);
        let [one, two] = [bytes(1, "a"), bytes(2, "b")];
        assert_ne!(start.after(&one).after(&two), start.after(&two).after(&one));
        let finish = Said { end: Id(1), what: Saying::Finish };
        assert_ne!(whole.after(&finish), whole);
        assert_eq!(start.after(&bytes(1, "")).after(&one).run, start.after(&one).run);
    }
}
