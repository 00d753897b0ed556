//! Ports: who holds them, who may share them, who gets what is sent to them.
//!
//! Who may share a port is the subtlest part of `bind(2)`: `SO_REUSEADDR` on both sides allows it
//! unless one listens, `SO_REUSEPORT` on both sides and one user allows it always, and a connection
//! in `TIME_WAIT` blocks it for a minute unless both had `SO_REUSEADDR`.

use super::address::{Endpoint, Name};
use super::family::Transport;
use super::options::{IPV6_V6ONLY, SO_REUSEADDR, SO_REUSEPORT};
use super::socket::{Socket, Stage};
use super::state::Resting;
use crate::Kernel;
use crate::errno::{EADDRINUSE, Errno};
use crate::id::Id;

/// The ports that the kernel chooses from (`ip_local_port_range`).
const CHOSEN_FIRST: u16 = 32768;
const CHOSEN_LAST: u16 = 60999;

/// How long a port rests after a connection that this side closed first: Linux's `TCP_TIMEWAIT_LEN`.
///
/// Virtual nanoseconds: a server that is restarted within a minute of virtual time finds its port
/// taken, as on Linux.
const REST: u64 = 60_000_000_000;

/// Someone who wants a port.
struct Claim<'a> {
    id: Id,
    socket: &'a Socket,
    endpoint: Endpoint,
}

/// The endpoint of a bound Internet socket.
#[must_use]
pub fn endpoint(socket: &Socket) -> Option<Endpoint> {
    match socket.local {
        Some(Name::Inet(endpoint)) => Some(endpoint),
        _ => None,
    }
}

/// Whether two addresses can both be meant by one packet.
fn overlap(one: Endpoint, one_v6_only: bool, other: Endpoint, other_v6_only: bool) -> bool {
    match (one.is_v4(), other.is_v4()) {
        (true, true) | (false, false) => one.ip == other.ip || one.is_any() || other.is_any(),
        (false, true) => one.is_any() && !one_v6_only,
        (true, false) => other.is_any() && !other_v6_only,
    }
}

fn v6_only(socket: &Socket) -> bool {
    socket.options.is_on(IPV6_V6ONLY)
}

impl Claim<'_> {
    /// Whether another holder is in the way (`socket(7)`, `SO_REUSEADDR` and `SO_REUSEPORT`).
    fn conflicts_with(&self, other: &Socket) -> bool {
        let Some(theirs) = endpoint(other) else { return false };
        let both = |key| self.socket.options.is_on(key) && other.options.is_on(key);
        let reused = both(SO_REUSEADDR) && !(self.socket.is_tcp() && other.stage == Stage::Listening);
        let shared = both(SO_REUSEPORT) && self.socket.identity.uid == other.identity.uid;
        overlap(self.endpoint, v6_only(self.socket), theirs, v6_only(other)) && !reused && !shared
    }

    fn conflicts_with_resting(&self, resting: &Resting) -> bool {
        let theirs = Endpoint { ip: resting.ip, port: self.endpoint.port };
        let reused = self.socket.options.is_on(SO_REUSEADDR) && resting.reusable;
        overlap(self.endpoint, v6_only(self.socket), theirs, false) && !reused
    }

    fn is_possible(&self, kernel: &Kernel) -> bool {
        let Some(port) = kernel.net.ports.get(&(Transport::of(self.socket), self.endpoint.port)) else { return true };
        let now = kernel.clock.now();
        let others = port.holders.iter().filter(|id| **id != self.id).filter_map(|id| kernel.net.sockets.get(id));
        others.into_iter().all(|other| !self.conflicts_with(other))
            && port.resting.iter().filter(|resting| resting.until > now).all(|it| !self.conflicts_with_resting(it))
    }
}

/// Whether a socket may have an endpoint, or keep it when it begins to listen.
pub fn check(kernel: &Kernel, id: Id, endpoint: Endpoint) -> Result<(), Errno> {
    let socket = kernel.net.sockets.get(&id).expect("an open socket exists");
    if (Claim { id, socket, endpoint }).is_possible(kernel) { Ok(()) } else { Err(EADDRINUSE) }
}

/// A port that nobody holds, chosen by the socket's id: two processes that choose at the same time do not depend on who
/// comes first, unless they meet.
///
/// Linux draws from a random offset; the id of the socket stands for it, so that the port of one
/// process does not depend on how many ports others have drawn.
pub fn choose(kernel: &Kernel, id: Id) -> Result<u16, Errno> {
    let transport = Transport::of(kernel.net.sockets.get(&id).expect("an open socket exists"));
    let count = u64::from(CHOSEN_LAST - CHOSEN_FIRST) + 1;
    let candidates = (0..count).map(|step| CHOSEN_FIRST + ((id.0 % count + step) % count) as u16);
    let is_free = |port: &u16| !kernel.net.ports.contains_key(&(transport, *port));
    candidates.into_iter().find(is_free).ok_or(EADDRINUSE)
}

/// Notes that a socket holds the port of its name.
pub fn hold(kernel: &mut Kernel, id: Id) {
    let Some((key, _)) = key_of(kernel, id) else { return };
    let mut port = kernel.net.ports.get(&key).cloned().unwrap_or_default();
    if !port.holders.contains(&id) {
        port.holders.push(id);
    }
    kernel.net.ports.insert(key, port);
}

/// A socket gives its port back; a connection that this side closed first leaves a trace for a while.
pub fn release(kernel: &mut Kernel, id: Id) {
    let Some((key, endpoint)) = key_of(kernel, id) else { return };
    let socket = kernel.net.sockets.get(&id).expect("it has a port");
    // A port that the kernel chose is chosen again only when it is free; nobody can notice that it rests.
    let rests = socket.closed_first && !socket.port_chosen;
    let reusable = socket.options.is_on(SO_REUSEADDR);
    let now = kernel.clock.now();
    let Some(port) = kernel.net.ports.get_mut(&key) else { return };
    port.holders.retain(|holder| *holder != id);
    port.resting.retain(|resting| resting.until > now);
    if rests {
        port.resting.retain(|resting| (resting.ip, resting.reusable) != (endpoint.ip, reusable));
        port.resting.push(Resting { ip: endpoint.ip, reusable, until: now + REST });
    }
    if port.holders.is_empty() && port.resting.is_empty() {
        kernel.net.ports.remove(&key);
    }
}

fn key_of(kernel: &Kernel, id: Id) -> Option<((Transport, u16), Endpoint)> {
    let socket = kernel.net.sockets.get(&id)?;
    let endpoint = endpoint(socket)?;
    Some(((Transport::of(socket), endpoint.port), endpoint))
}

/// Who gets what is sent from `source` to `destination`: the holder whose name fits best.
///
/// O(holders of the port), which are few. Linux scores sockets in the same way (`compute_score`).
#[must_use]
pub fn receiver(kernel: &Kernel, transport: Transport, source: Endpoint, destination: Endpoint) -> Option<Id> {
    // Who holds a port of all addresses holds it on this machine only.
    let port = kernel.net.ports.get(&(transport, destination.port)).filter(|_| destination.is_local())?;
    let scored = port.holders.iter().filter_map(|id| {
        let socket = kernel.net.sockets.get(id)?;
        score(socket, transport, source, destination).map(|score| (score, *id))
    });
    let scored: Vec<(u32, Id)> = scored.collect();
    let best = scored.iter().map(|(score, _)| *score).max()?;
    let equal: Vec<Id> = scored.into_iter().filter(|(score, _)| *score == best).map(|(_, id)| id).collect();
    // Those who share a port by SO_REUSEPORT get connections by a hash of both ends; others of the same name replace
    // each other, the latest first.
    let shares = |id: &Id| kernel.net.sockets.get(id).is_some_and(|socket| socket.options.is_on(SO_REUSEPORT));
    if equal.iter().all(shares) {
        let hash = Id(u64::from(source.port)).child(u64::from(destination.port)).0;
        return equal.get(hash as usize % equal.len()).copied();
    }
    equal.last().copied()
}

/// How well a socket fits a packet; nothing if it does not get it at all.
fn score(socket: &Socket, transport: Transport, source: Endpoint, destination: Endpoint) -> Option<u32> {
    let local = endpoint(socket)?;
    if transport == Transport::Tcp && socket.stage != Stage::Listening {
        return None;
    }
    if !overlap(local, v6_only(socket), destination, true) || destination.is_v4() && v6_only(socket) {
        return None;
    }
    let connected = match &socket.remote {
        Some(Name::Inet(remote)) if *remote == source => 4,
        Some(_) => return None,
        None => 0,
    };
    let exact = if local.ip == destination.ip { 2 } else { 0 };
    let same_version = u32::from(local.is_v4() == destination.is_v4());
    Some(connected + exact + same_version)
}
