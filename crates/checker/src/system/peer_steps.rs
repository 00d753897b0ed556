//! Steps that concern peers: what a step says is passed on, and answers are delivered.
//!
//! What is said to a peer is a write of the object "said to that peer", a delivery is a read of it:
//! so a reduction never exchanges a delivery with the sentence that it answers, while deliveries of
//! different peers commute.

use crate::footprint::{access, sockets};
use crate::system::peer_connects::Knock;
use crate::system::peer_flows::in_flight;
use crate::system::peers::{delivery, delivery_actor, said_object};
use crate::system::stepper::Stepper;
use explore::graph::Access;
use kernel::Id;
use kernel::net::{far_ends, far_flows, far_log};

/// What came of what a step has said to peers.
#[derive(Default)]
pub(crate) struct Said {
    pub accesses: Vec<Access>,
    /// What contradicts what was said before, where that is strict.
    pub contradiction: Option<String>,
}

impl Stepper<'_> {
    /// Passes on to peers what a step has said.
    pub(crate) fn say(&mut self) -> Said {
        let mut all = Said::default();
        let kernel = &mut self.state.world.kernel;
        if kernel.net.far.said.is_empty() {
            return all;
        }
        for said in far_log::take_said(kernel) {
            let Some(peer) = kernel.net.far.peer_of(said.end) else { continue };
            let place = kernel.net.far.place_of(said.end);
            let after = self.workload.peers[peer.0 as usize].after(place, &said);
            kernel.net.far.come_to(said.end, after);
            let contradiction = self.workload.peers[peer.0 as usize].contradiction(after);
            all.contradiction = all.contradiction.take().or(contradiction);
            if !self.workload.options.holes.said {
                let object = said_object(&kernel.net.far, peer, said.end);
                all.accesses.push(Access { object, write: true, plain: false });
            }
        }
        all
    }

    /// A connection of a peer comes; nothing if nobody takes it.
    fn connect(&mut self, knock: &Knock) -> Option<Vec<Access>> {
        let kernel = &mut self.state.world.kernel;
        let listener = knock.listener(kernel)?;
        let mut accesses = knock.accesses(kernel, listener);
        accesses.push(Access {
            object: said_object(&kernel.net.far, knock.peer, knock.end),
            write: false,
            plain: false,
        });
        far_ends::open(kernel, (knock.end, knock.peer), knock.source, knock.port)?;
        let opened = kernel.net.far.opened.get(&knock.peer).copied().unwrap_or_default();
        kernel.net.far.opened.insert(knock.peer, opened + 1);
        accesses.push(Access { object: access::object(access::Kind::World, 0, 0), write: false, plain: false });
        Some(accesses)
    }

    /// Delivers an answer to a flow of datagrams; nothing if there is no such one.
    fn deliver_datagram(&mut self, id: Id, index: u32) -> Option<Vec<Access>> {
        let kernel = &mut self.state.world.kernel;
        let flow = kernel.net.far.flows.get(&id)?;
        let (index, answer) = in_flight(kernel, &self.workload.peers, id).ok()?.into_iter().nth(index as usize)?;
        let mut accesses =
            vec![Access { object: said_object(&kernel.net.far, flow.peer, id), write: false, plain: false }];
        accesses.extend(sockets::datagram(kernel, far_flows::receiver(kernel, flow)));
        accesses.push(Access { object: access::object(access::Kind::World, 0, 0), write: false, plain: false });
        far_flows::deliver(kernel, id, index, answer.bytes());
        Some(accesses)
    }

    /// Delivers to a connection what its peer has answered, as far as there is room; nothing if that is nothing.
    pub(crate) fn deliver(&mut self, end: Id, index: u32) -> Option<Vec<Access>> {
        if self.state.world.kernel.net.far.flows.contains_key(&end) {
            return self.deliver_datagram(end, index);
        }
        if let Some(knock) = self.view().knock_of(delivery_actor(end)) {
            return self.connect(&knock);
        }
        let kernel = &mut self.state.world.kernel;
        let pending = delivery(kernel, &self.workload.peers, end).ok()??;
        let near = far_ends::near(kernel, end)?;
        let peer = kernel.net.far.ends.get(&end)?.peer;
        let mut accesses = vec![Access { object: said_object(&kernel.net.far, peer, end), write: false, plain: false }];
        accesses.extend(match pending.end {
            Some(_) => sockets::end(kernel, near),
            None => sockets::send(kernel, end, pending.pending() as u64),
        });
        let is_known = pending.messages.is_empty() || (index as usize) < pending.messages.len();
        if pending.is_empty() || !is_known {
            return None;
        }
        if let Some((number, message)) = pending.messages.get(index as usize) {
            far_ends::deliver_message(kernel, end, *number, message);
        } else if !pending.news().is_empty() {
            far_ends::deliver(kernel, end, pending.news());
        }
        if let Some(how) = pending.end {
            far_ends::deliver_end(kernel, end, how);
        }
        accesses.push(Access { object: access::object(access::Kind::World, 0, 0), write: false, plain: false });
        Some(accesses)
    }
}
