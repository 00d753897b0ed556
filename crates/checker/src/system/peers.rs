//! Peers: what threads say to them, and their answers, which are delivered by actors of their own.
//!
//! A delivery is an actor for each connection, so that a program can look before an answer has come. What is said to a peer
//! writes one object for all of its connections; a delivery reads that object and writes the connection.

use crate::footprint::access;
use crate::system::view::View;
use explore::graph::Actor;
use kernel::net::far::PeerId;
use kernel::net::far_ends;
use kernel::{Id, Kernel};
use peer::{End, Outside, Trouble};
use std::sync::Arc;

/// Numbers of delivery actors have this bit; those of threads do not.
const DELIVERY: u32 = 1 << 31;

/// The actor that delivers answers to a connection: the same in every state and every order of creation.
pub(crate) fn delivery_actor(end: Id) -> u32 {
    DELIVERY | ((end.child(0).0 >> 33) as u32).max(1)
}

/// Whether an actor delivers answers.
#[must_use]
pub fn is_delivery(actor: u32) -> bool {
    actor & DELIVERY != 0
}

/// The conversation with a peer, as an object.
pub(super) fn said_object(peer: PeerId) -> u64 {
    access::object(access::Kind::Ports, u64::from(peer.0) + 1, 0)
}

/// What a connection has yet to be delivered.
pub(crate) struct Delivery {
    pub bytes: Arc<[u8]>,
    /// How many of the bytes were delivered before.
    from: u64,
    pub end: Option<End>,
}

impl Delivery {
    /// The bytes that are new.
    pub fn news(&self) -> &[u8] {
        &self.bytes[self.from as usize..]
    }

    pub fn is_empty(&self) -> bool {
        self.news().is_empty() && self.end.is_none()
    }
}

/// What a connection has yet to be delivered; nothing if the guest has closed it.
pub(crate) fn delivery(kernel: &Kernel, peers: &[Arc<dyn Outside>], end: Id) -> Result<Option<Delivery>, Trouble> {
    let Some(far) = kernel.net.far.ends.get(&end) else { return Ok(None) };
    let is_open = far_ends::near(kernel, end).is_some_and(|near| kernel.net.sockets.contains_key(&near));
    if !is_open || far.is_ended {
        return Ok(None);
    }
    let place = kernel.net.far.places.get(&far.peer).copied().unwrap_or_default();
    let heard = peers[far.peer.0 as usize].heard(place)?;
    let stream = heard.streams.get(&end).cloned().unwrap_or_default();
    Ok(Some(Delivery { bytes: stream.bytes, from: far.delivered, end: stream.end }))
}

/// The delivery actors of a state.
pub(crate) fn deliveries(kernel: &Kernel, peers: &[Arc<dyn Outside>]) -> Result<Vec<Actor>, Trouble> {
    let mut actors = Vec::new();
    for (end, far) in kernel.net.far.ends.iter() {
        let Some(delivery) = delivery(kernel, peers, *end)? else { continue };
        let number = delivery_actor(*end);
        assert!(actors.iter().all(|known: &Actor| known.number != number), "two connections have one number");
        let choices = u32::from(!delivery.is_empty());
        let awaits = if choices == 0 { vec![said_object(far.peer)] } else { Vec::new() };
        actors.push(Actor { number, creator: number, choices, awaits, ..Actor::default() });
    }
    Ok(actors)
}

/// The actor of deliveries that are not known: it seems enabled, and its steps cannot be taken.
pub(crate) fn unknown_delivery() -> Actor {
    Actor { number: DELIVERY, creator: DELIVERY, choices: 1, ..Actor::default() }
}

impl View<'_> {
    /// The connection of a delivery actor.
    pub(crate) fn connection_of(self, actor: u32) -> Option<Id> {
        self.state.world.kernel.net.far.ends.keys().copied().find(|end| delivery_actor(*end) == actor)
    }
}
