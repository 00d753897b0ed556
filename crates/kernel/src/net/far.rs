//! Far ends: ends of connections that no process holds. A peer outside of the world is behind them.
//!
//! What is sent to a far end is said to its peer, in one order for all connections; what the peer answers is delivered. The
//! state holds where in its conversation a peer is: a fingerprint of all that was said to it. Which answer belongs to that is
//! a function outside of the state.
//!
//! **Invariant:** everything about peers that tells states apart is here, in numbers: what was said
//! (as a fingerprint) and how much of the answer was delivered. The answers themselves are outside:
//! `peer` is a function from what was said to what is answered, so two states with the same
//! fingerprint have the same future, and a state can be visited again without talking to the peer
//! again. Artho and others call this an I/O cache (ASE 2009, "Cache-based model checking of
//! networked applications"); here its key is the whole conversation of a peer, over all of its
//! connections.

use super::address::Endpoint;
use super::family::Transport;
pub use super::taken::Taken;
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
    Local(Transport, u16),
    /// At a port of another machine.
    Machine(Transport, Ipv4Addr, u16),
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
    /// Datagrams to and from peers.
    pub flows: Map<Id, Flow>,
    /// Where in its conversation each peer is.
    pub places: Map<PeerId, Place>,
    /// Peers with a conversation for each connection.
    pub independent: Vec<PeerId>,
    /// What was said since it was last taken; empty between steps.
    ///
    /// Taken by the checker behind every step, which extends `places` by it. If it were not empty
    /// between steps, states would differ in what was not yet told.
    pub said: Vec<Said>,
    /// Whether bytes stay at far ends until they are taken (`far_live.rs`), and take up room meanwhile.
    pub is_live: bool,
}

impl Far {
    /// Where in its conversation the peer behind a connection is: in that of the connection, if each has its own.
    #[must_use]
    pub fn place_of(&self, end: Id) -> Place {
        let Some(peer) = self.peer_of(end) else { return Place::default() };
        let own = || self.ends.get(&end).map(|far| far.place).or_else(|| self.flows.get(&end).map(|flow| flow.place));
        let place = if self.independent.contains(&peer) { own() } else { self.places.get(&peer).copied() };
        place.unwrap_or_default()
    }

    /// The conversation of a connection has come to a place.
    pub fn come_to(&mut self, end: Id, place: Place) {
        let Some(peer) = self.peer_of(end) else { return };
        if !self.independent.contains(&peer) {
            self.places.insert(peer, place);
        } else if let Some(far) = self.ends.get_mut(&end) {
            far.place = place;
        } else if let Some(flow) = self.flows.get_mut(&end) {
            flow.place = place;
        }
    }

    /// Connections and flows of a peer, each with where its conversation is.
    #[must_use]
    pub fn conversations(&self, peer: PeerId) -> Vec<(Id, Place)> {
        let ends = self.ends.keys().chain(self.flows.keys()).copied().filter(|end| self.peer_of(*end) == Some(peer));
        ends.map(|end| (end, self.place_of(end))).collect()
    }

    /// Whether nothing can come from outside.
    #[must_use]
    pub fn is_unused(&self) -> bool {
        self.ends.is_empty() && self.flows.is_empty() && self.clients.is_empty()
    }

    /// The peer behind a connection or a flow.
    #[must_use]
    pub fn peer_of(&self, end: Id) -> Option<PeerId> {
        let connection = self.ends.get(&end).map(|far| far.peer);
        connection.or_else(|| self.flows.get(&end).map(|flow| flow.peer))
    }

    /// Whether an address is one of a machine that a peer stands for: then it can be reached.
    #[must_use]
    pub fn is_machine(&self, ip: Ipv6Addr) -> bool {
        self.declared.keys().any(|site| matches!(site, Site::Machine(_, machine, _) if machine.to_ipv6_mapped() == ip))
    }
}

/// Datagrams between a local address and a peer.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Flow {
    /// The peer.
    pub peer: PeerId,
    /// The local address.
    pub near: Endpoint,
    /// The address that the peer answers from.
    pub far: Endpoint,
    /// Which answers were delivered.
    pub taken: Taken,
    /// Where its own conversation is, if it has one.
    pub place: Place,
}

/// A far end.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FarEnd {
    /// The peer behind it.
    pub peer: PeerId,
    /// Bytes of the peer's answers that were delivered.
    pub delivered: u64,
    /// Which messages were delivered, if they have no order.
    pub taken: Taken,
    /// How the peer has ended the connection, as far as that was delivered.
    pub ended: Option<End>,
    /// Where its own conversation is, if it has one.
    pub place: Place,
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
    /// The connection, by its far end; or the flow of datagrams.
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
    /// A datagram is sent.
    Datagram {
        /// The port that it comes from.
        from: u16,
        /// What it carries.
        bytes: Vec<u8>,
    },
    /// No more will be sent.
    Finish,
    /// The connection is broken off.
    Reset,
    /// No more will be sent or received (Unix sockets).
    Close,
}

/// Where in its conversation a peer is: a fingerprint of what was said to it. Bytes that follow each other on one connection
/// count by content, and not by how they were cut into calls.
///
/// Two guests that send `ab` in one call and in two calls have said the same to a stream: the run
/// of bytes is hashed as a polynomial, of which only the last run stays open.
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
