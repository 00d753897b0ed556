//! Connections that peers open: they come one after the other, each as a step of its own, when a program listens.

use crate::footprint::access::{self, Kind};
use crate::footprint::sockets;
use explore::graph::Access;
use kernel::net::far::PeerId;
use kernel::net::{Request, far_ends};
use kernel::{Id, Kernel};
use peer::{Outside, Trouble};
use std::sync::Arc;

/// The first port that connections of peers come from; each peer has a range of its own.
const FIRST_PORT: u16 = 20_000;
/// Ports of a range.
const RANGE: u16 = 256;

/// A connection that a peer has opened and that has not come yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Knock {
    /// Who opens it.
    pub peer: PeerId,
    /// Its far end.
    pub end: Id,
    /// The port that it comes from.
    pub source: u16,
    /// The port that it goes to.
    pub port: u16,
}

impl Knock {
    /// The listener that takes it, if it has room.
    pub fn listener(&self, kernel: &Kernel) -> Option<Id> {
        let listener = far_ends::listener(kernel, self.source, self.port);
        listener.filter(|listener| kernel.net.backlog(*listener).1)
    }

    /// What it waits for if nobody takes it: a listener, or room.
    pub fn awaits(&self, kernel: &Kernel) -> Vec<u64> {
        let holders = far_ends::holders(kernel, self.port);
        let listeners = holders.iter().flat_map(|holder| sockets::awaited(kernel, Request::Backlog(*holder)));
        let ports = access::object(Kind::Ports, 0, 0);
        listeners.map(|access| access.object).chain([ports]).collect()
    }

    /// What its coming touches.
    pub fn accesses(&self, kernel: &Kernel, listener: Id) -> Vec<Access> {
        let ports = access::reads(Kind::Ports, 0);
        sockets::knock(kernel, listener).into_iter().chain([ports]).collect()
    }
}

/// The next connection of each peer that has opened one.
pub(crate) fn knocks(kernel: &Kernel, peers: &[Arc<dyn Outside>]) -> Result<Vec<Knock>, Trouble> {
    let far = &kernel.net.far;
    let mut knocks = Vec::new();
    for (peer, port) in far.clients.iter() {
        let place = far.places.get(peer).copied().unwrap_or_default();
        let opened = far.opened.get(peer).copied().unwrap_or_default();
        let heard = peers[peer.0 as usize].heard(place)?;
        if let Some(end) = heard.opens.get(opened as usize) {
            let source = source(*peer, opened).ok_or_else(|| too_many(peers[peer.0 as usize].name()))?;
            knocks.push(Knock { peer: *peer, end: *end, source, port: *port });
        }
    }
    Ok(knocks)
}

/// The port that a connection of a peer comes from; nothing if its range is used up.
fn source(peer: PeerId, opened: u32) -> Option<u16> {
    let own = u16::try_from(opened).ok().filter(|opened| *opened < RANGE)?;
    let range = RANGE.checked_mul(u16::try_from(peer.0).ok()?)?;
    FIRST_PORT.checked_add(range)?.checked_add(own)
}

fn too_many(name: &str) -> Trouble {
    Trouble::Fails(format!("peer `{name}`: so many connections of a peer ({RANGE} and more) are not modelled"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_connection_comes_from_a_port_of_its_own() {
        assert_eq!([source(PeerId(0), 0), source(PeerId(0), 255)], [Some(20_000), Some(20_255)]);
        assert_eq!([source(PeerId(1), 0), source(PeerId(0), 256)], [Some(20_256), None]);
        assert_eq!([source(PeerId(200), 0), source(PeerId(1 << 20), 0)], [None, None]);
    }
}
