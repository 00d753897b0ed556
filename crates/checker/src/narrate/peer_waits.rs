//! Who waits for nothing but a peer.
//!
//! A program that is deadlocked with a peer is not to blame alone: the reader wants to know that nobody inside could have woken it,
//! and that the peer was at rest.

use crate::system::view::View;
use kernel::descriptor::File;
use kernel::descriptor::POLLIN;
use kernel::net::address::Name;
use kernel::net::socket::{Kind, Socket};
use kernel::net::{Request, far_ends};
use kernel::wait::Condition;
use kernel::{Id, Tid};
use std::collections::BTreeSet;
use trace::AwaitedPeer;

impl View<'_> {
    /// The peers that a thread waits for, if it waits for input from peers and for nothing else.
    pub(super) fn peers_awaited(self, tid: Tid) -> Vec<AwaitedPeer> {
        let wait = self.state.world.kernel.threads.get(&tid).and_then(|thread| thread.wait.as_ref());
        let mut ends = BTreeSet::new();
        for condition in wait.iter().flat_map(|wait| &wait.until) {
            match self.ends_awaited(condition) {
                Some(behind) => ends.extend(behind),
                None => return Vec::new(),
            }
        }
        let peers = ends.into_iter().filter_map(|end| self.awaited_peer(end));
        // Several connections may lead to one peer.
        let peers: BTreeSet<AwaitedPeer> = peers.collect();
        peers.into_iter().collect()
    }

    /// The connections and flows of peers that a condition is about; nothing if it can come true without a peer.
    fn ends_awaited(self, condition: &Condition) -> Option<Vec<Id>> {
        match condition {
            Condition::Socket(Request::Data(socket, _) | Request::Answer(socket)) => self.ends_of(*socket),
            Condition::Poll(description, events) if events & POLLIN != 0 => self.ends_behind(*description),
            _ => None,
        }
    }

    fn ends_behind(self, description: Id) -> Option<Vec<Id>> {
        let kernel = &self.state.world.kernel;
        match kernel.descriptions.get(&description)?.file {
            File::Socket(socket) => self.ends_of(socket),
            File::Epoll(set) => {
                let items = kernel.events.epolls.get(&set)?.items.keys();
                items.map(|key| self.ends_behind(key.description)).collect::<Option<Vec<_>>>().map(|ends| ends.concat())
            }
            _ => None,
        }
    }

    /// What peers answer to a socket through; nothing if none does.
    fn ends_of(self, socket: Id) -> Option<Vec<Id>> {
        let kernel = &self.state.world.kernel;
        let far = &kernel.net.far;
        let ends: Vec<Id> = match kernel.net.sockets.get(&socket)? {
            Socket { kind: Kind::Datagram, local: Some(Name::Inet(local)), .. } => {
                far.flows.iter().filter(|(_, flow)| flow.near.port == local.port).map(|(flow, _)| *flow).collect()
            }
            _ => far.ends.keys().copied().filter(|end| far_ends::near(kernel, *end) == Some(socket)).collect(),
        };
        (!ends.is_empty()).then_some(ends)
    }

    fn awaited_peer(self, end: Id) -> Option<AwaitedPeer> {
        let far = &self.state.world.kernel.net.far;
        let peer = &self.workload.peers[far.peer_of(end)?.0 as usize];
        let has_ended = peer.heard(far.place_of(end)).is_ok_and(|heard| heard.ended.is_some());
        Some(AwaitedPeer { name: peer.name().to_owned(), has_ended })
    }
}
