//! Peers: what threads say to them, and their answers, which are delivered by actors of their own.
//!
//! A delivery is an actor for each connection, so that a program can look before an answer has come. What is said to a peer
//! writes one object for all of its connections; a delivery reads that object and writes the connection.

use crate::footprint::{access, sockets};
use crate::system::choice_kind::ChoiceKind;
use crate::system::peer_connects::{Knock, knocks};
use crate::system::peer_flows::flows;
use crate::system::view::View;
use explore::graph::Actor;
use kernel::net::far::{Far, FarEnd, PeerId};
use kernel::net::{Request, far_ends};
use kernel::{Id, Kernel};
use peer::{End, Framing, Outside, Stream, Trouble};
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

/// The conversation with a peer, as an object: that of a connection, if each has its own.
pub(super) fn said_object(far: &Far, peer: PeerId, end: Id) -> u64 {
    let own = if far.independent.contains(&peer) { end.0 } else { 0 };
    access::object(access::Kind::Ports, u64::from(peer.0) + 1, own)
}

/// What can be delivered to a connection: as much as there is room for.
pub(crate) struct Delivery {
    bytes: Arc<[u8]>,
    /// How many of the bytes were delivered before.
    from: usize,
    /// How many will have been.
    to: usize,
    /// How the connection ends with it.
    pub end: Option<End>,
    /// Messages of which any can come next, with their numbers, if they have no order.
    pub messages: Vec<(usize, Arc<[u8]>)>,
}

impl Delivery {
    /// What is delivered of a stream of which some was. An end comes after all bytes, by a delivery of its own: a program can look between
    /// the two. A reset does not wait for room.
    fn new(stream: Stream, far: &FarEnd, room: usize) -> Self {
        let from = far.delivered as usize;
        let to = stream.bytes.len().min(from.saturating_add(room));
        let is_whole = to == stream.bytes.len();
        let end = stream.end.filter(|end| to == from && (is_whole || *end == End::Reset));
        let end = end.filter(|end| far.ended != Some(*end));
        Self { bytes: stream.bytes, from, to, end, messages: Vec::new() }
    }

    /// The bytes that are delivered.
    pub fn news(&self) -> &[u8] {
        &self.bytes[self.from..self.to]
    }

    /// What is delivered by a choice.
    pub fn answer(&self, index: u32) -> &[u8] {
        self.messages.get(index as usize).map_or_else(|| self.news(), |(_, message)| message)
    }

    /// How many choices there are.
    fn choices(&self) -> u32 {
        (self.messages.len() as u32).max(u32::from(!self.is_empty()))
    }

    /// How many bytes there are to be delivered, with or without room.
    pub fn pending(&self) -> usize {
        self.bytes.len() - self.from
    }

    pub fn is_empty(&self) -> bool {
        self.news().is_empty() && self.end.is_none() && self.messages.is_empty()
    }
}

/// What can be delivered to a connection; nothing if the guest has closed it.
pub(crate) fn delivery(kernel: &Kernel, peers: &[Arc<dyn Outside>], end: Id) -> Result<Option<Delivery>, Trouble> {
    let Some(far) = kernel.net.far.ends.get(&end) else { return Ok(None) };
    let near = far_ends::near(kernel, end).filter(|near| kernel.net.sockets.contains_key(near));
    // After an end in order a reset can come, for something that is sent to a peer that has closed.
    let is_over = far_ends::is_over(kernel, end);
    let Some(near) = near.filter(|_| !is_over || far_ends::is_connected(kernel, end)) else { return Ok(None) };
    let heard = peers[far.peer.0 as usize].heard(kernel.net.far.place_of(end))?;
    let mut stream = heard.streams.get(&end).cloned().unwrap_or_default();
    stream.end = stream.end.filter(|end| !is_over || *end == End::Reset);
    let room = kernel.net.receive_limit(near).saturating_sub(kernel.net.received(near));
    let limit = kernel.net.receive_limit(near);
    Ok(Some(match peers[far.peer.0 as usize].unordered() {
        Some(framing) => unordered(stream, far, framing, (room, limit)),
        None => Delivery::new(stream, far, room),
    }))
}

/// What can be delivered of a stream whose messages have no order: any one that has room, and what is left after all of them with the end.
fn unordered(stream: Stream, far: &FarEnd, framing: Framing, (room, limit): (usize, usize)) -> Delivery {
    let (mut rest, mut number, mut left) = (&stream.bytes[..], 0, Vec::<(usize, Arc<[u8]>)>::new());
    while let Some(length) = framing.first(rest).filter(|length| *length > 0) {
        let message = &rest[..length];
        if !far.taken.contains(number) && left.iter().all(|(_, other)| **other != *message) {
            left.push((number, message.into()));
        }
        (rest, number) = (&rest[length..], number + 1);
    }
    let whole = stream.bytes.len() - if stream.end.is_none() { rest.len() } else { 0 };
    let stream = Stream { bytes: stream.bytes[..whole].into(), ..stream };
    if left.is_empty() {
        return Delivery::new(stream, far, room);
    }
    left.retain(|(_, message)| message.len().min(limit) <= room);
    let from = far.delivered as usize;
    Delivery { bytes: stream.bytes, from, to: from, end: None, messages: left }
}

/// The delivery actors of a state.
pub(crate) fn deliveries(kernel: &Kernel, peers: &[Arc<dyn Outside>]) -> Result<Vec<Actor>, Trouble> {
    for peer in &kernel.net.far.independent {
        peers[peer.0 as usize].agree(&kernel.net.far.conversations(*peer))?;
    }
    let mut actors = Vec::new();
    for (end, far) in kernel.net.far.ends.iter() {
        let Some(delivery) = delivery(kernel, peers, *end)? else { continue };
        let number = delivery_actor(*end);
        assert!(actors.iter().all(|known: &Actor| known.number != number), "two connections have one number");
        let choices = delivery.choices();
        let choice_kind = if choices > 1 { ChoiceKind::Answers as u8 } else { 0 };
        let awaits = if choices == 0 { awaited(kernel, *end, far.peer, &delivery) } else { Vec::new() };
        actors.push(Actor { number, creator: number, choices, choice_kind, awaits, ..Actor::default() });
    }
    actors.extend(flows(kernel, peers)?);
    actors.extend(knocks(kernel, peers)?.iter().map(|knock| connects(kernel, knock)));
    Ok(actors)
}

/// The actor of a connection that has not come yet: the one that will deliver to it.
fn connects(kernel: &Kernel, knock: &Knock) -> Actor {
    let number = delivery_actor(knock.end);
    let choices = u32::from(knock.listener(kernel).is_some());
    let awaits = if choices == 0 { knock.awaits(kernel) } else { Vec::new() };
    Actor { number, creator: number, choices, awaits, ..Actor::default() }
}

/// What a delivery that cannot take place waits for: an answer, or room for it.
fn awaited(kernel: &Kernel, end: Id, peer: PeerId, delivery: &Delivery) -> Vec<u64> {
    let room = if delivery.pending() > 0 { sockets::awaited(kernel, Request::Room(end)) } else { Vec::new() };
    [said_object(&kernel.net.far, peer, end)].into_iter().chain(room.into_iter().map(|access| access.object)).collect()
}

/// The actor of deliveries that are not known: it seems enabled, and its steps cannot be taken.
pub(crate) fn unknown_delivery() -> Actor {
    Actor { number: DELIVERY, creator: DELIVERY, choices: 1, ..Actor::default() }
}

impl View<'_> {
    /// The connection of a delivery actor, or the flow of datagrams.
    pub(crate) fn connection_of(self, actor: u32) -> Option<Id> {
        let far = &self.state.world.kernel.net.far;
        let mut ends = far.ends.keys().chain(far.flows.keys()).copied();
        let known = ends.find(|end| delivery_actor(*end) == actor);
        known.or_else(|| self.knock_of(actor).map(|knock| knock.end))
    }

    /// The connection that comes with the next step of a delivery actor.
    pub(crate) fn knock_of(self, actor: u32) -> Option<Knock> {
        let knocks = knocks(&self.state.world.kernel, &self.workload.peers).ok()?;
        knocks.into_iter().find(|knock| delivery_actor(knock.end) == actor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::net::far::{Place, Taken};

    fn far_end(delivered: u64) -> FarEnd {
        FarEnd { peer: PeerId(0), delivered, taken: Taken::default(), ended: None, place: Place::default() }
    }

    #[test]
    fn messages_without_order_come_in_any_one_that_has_room_and_the_rest_with_the_end() {
        let of = |far: &FarEnd, end, room| {
            let stream = Stream { bytes: b"a\nbcd\na\ne"[..].into(), end };
            unordered(stream, far, Framing::Lines, (room, 9))
        };
        let texts = |delivery: &Delivery| {
            (0..delivery.choices()).map(|index| delivery.answer(index).to_vec()).collect::<Vec<_>>()
        };
        let mut far = far_end(0);
        assert_eq!(texts(&of(&far, None, 9)), [&b"a\n"[..], b"bcd\n"]);
        assert_eq!(texts(&of(&far, None, 3)), [b"a\n"]);
        (0..3).for_each(|number| far.taken.take(number));
        far.delivered = 8;
        assert!(of(&far, None, 9).is_empty());
        assert_eq!(of(&far, Some(End::Finished), 9).news(), b"e");
    }

    #[test]
    fn as_much_is_delivered_as_there_is_room_for_and_an_end_comes_last() {
        let table = [
            (None, 0, 9, "abcd", None),
            (None, 1, 2, "bc", None),
            (Some(End::Finished), 1, 2, "bc", None),
            (Some(End::Finished), 1, 3, "bcd", None),
            (Some(End::Finished), 4, 0, "", Some(End::Finished)),
            (Some(End::Finished), 2, 0, "", None),
            (Some(End::Reset), 2, 1, "c", None),
            (Some(End::Reset), 2, 0, "", Some(End::Reset)),
        ];
        for (end, from, room, news, now) in table {
            let delivery = Delivery::new(Stream { bytes: b"abcd"[..].into(), end }, &far_end(from as u64), room);
            assert_eq!((delivery.news(), delivery.end), (news.as_bytes(), now), "{end:?} {from} {room}");
            assert_eq!(delivery.pending(), 4 - from);
        }
    }
}
