//! `connect(2)`.
//!
//! A request is answered when it is made: accepted into the listener's queue, or refused. Only where that queue is full, or the network is
//! down, does it wait among the listener's requests, as a packet that is sent again would. A caller that was interrupted, or does not block, asks
//! again: the same call then reports the answer instead of making another request.
//!
//! State of a TCP socket on the way: Idle, then Connecting (only if the listener has no room), then
//! Connected or Idle with an error. `untold` remembers that a non-blocking caller was told
//! `EINPROGRESS` and has yet to ask: the next `connect(2)` reports the outcome once, later ones say
//! `EISCONN`, as on Linux.

use super::address::{Endpoint, Given, Name};
use super::bind::bind_any;
use super::connection::{establish, give_up};
use super::family::Transport;
use super::options::IPV6_V6ONLY;
use super::port;
use super::request::Request;
use super::socket::{Family, Kind, Listener, Socket, Stage};
use super::state::Net;
use super::{close, name, reach, unix};
use super::{far_ends, far_unix};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{Fd, File};
use crate::errno::{EALREADY, ECONNABORTED, ECONNREFUSED, EINPROGRESS, EINVAL, EISCONN, ENETUNREACH, Errno};
use crate::id::{Id, Tid};
use crate::wait::{Condition, Interruption, Wait};

/// How long Linux repeats a request that nobody answers: 1 + 2 + 4 + ... + 64 seconds (`tcp_syn_retries` is 6).
///
/// `tcp(7)`, `tcp_syn_retries`. Virtual time: it passes when nobody else can move.
const PATIENCE: u64 = 127_000_000_000;

/// The number of `connect(2)`.
pub const CONNECT: u64 = 42;

/// Whether a call asks for a new TCP connection.
#[must_use]
pub fn asks_for_tcp(kernel: &Kernel, tid: Tid, number: u64, args: &[u64; 6]) -> bool {
    let description = || kernel.description_for(tid, args[0] as Fd).and_then(|id| kernel.descriptions.get(&id));
    let is_new = |socket: &Socket| socket.is_tcp() && socket.stage == Stage::Idle;
    number == CONNECT
        && match description().map(|description| &description.file) {
            Some(File::Socket(id)) => kernel.net.sockets.get(id).is_some_and(is_new),
            _ => false,
        }
}

/// `connect(2)`.
pub fn connect(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, name, length, ..] = call.args;
    let (description, id) = call.socket_of(call.int(0))?;
    let socket = call.socket(id);
    let (family, kind) = (socket.family, socket.kind);
    let given = name::load(call, name, length, family)?;
    match (given, kind) {
        (Given::Nothing, _) => disconnect(call, id)?,
        (Given::Inet(endpoint), Kind::Stream) => connect_tcp(call, description, id, endpoint)?,
        (Given::Inet(endpoint), _) => connect_udp(call, id, endpoint)?,
        (given, _) => match far_unix::peer_at(call, &given)? {
            Some((peer, name)) => far_unix::connect(call, id, peer, name)?,
            None => unix::connect(call, description, id, given)?,
        },
    }
    Ok(0)
}

/// Connecting to `AF_UNSPEC` undoes a connection (`connect(2)`).
fn disconnect(call: &mut Call<'_>, id: Id) -> Result<(), Stop> {
    let socket = call.socket(id);
    if socket.family == Family::Unix && socket.kind != Kind::Datagram {
        return Err(EINVAL.into());
    }
    if socket.is_tcp() {
        close::abort(call.kernel, id);
    }
    let chosen = call.socket(id).port_chosen && !call.socket(id).is_tcp();
    if chosen {
        port::release(call.kernel, id);
    }
    let socket = call.socket_mut(id);
    (socket.stage, socket.remote, socket.peer) = (Stage::Idle, None, None);
    (socket.receive_shut, socket.send_shut, socket.untold) = (false, false, false);
    if chosen {
        socket.local = None;
    }
    Ok(())
}

/// Where a packet to an endpoint goes; only this machine, and those that peers stand for, can be reached.
pub fn route(net: &Net, socket: &Socket, endpoint: Endpoint) -> Result<Endpoint, Errno> {
    let destination = endpoint.destination();
    let wrong_version = destination.is_v4() && socket.options.is_on(IPV6_V6ONLY);
    let is_there = destination.is_local() || net.far.is_machine(destination.ip);
    if is_there && !wrong_version { Ok(destination) } else { Err(ENETUNREACH) }
}

fn connect_udp(call: &mut Call<'_>, id: Id, endpoint: Endpoint) -> Result<(), Stop> {
    let destination = route(&call.kernel.net, call.socket(id), endpoint)?;
    name_source(call, id, destination)?;
    let socket = call.socket_mut(id);
    socket.remote = Some(Name::Inet(destination));
    socket.stage = Stage::Connected;
    Ok(())
}

/// A socket that connects has one address, not any.
fn name_source(call: &mut Call<'_>, id: Id, destination: Endpoint) -> Result<(), Stop> {
    bind_any(call.kernel, id, destination.source())?;
    let socket = call.socket_mut(id);
    if let Some(Name::Inet(local)) = &mut socket.local
        && local.is_any()
    {
        local.ip = destination.source();
    }
    Ok(())
}

fn connect_tcp(call: &mut Call<'_>, description: Id, id: Id, endpoint: Endpoint) -> Result<(), Stop> {
    let blocks = !call.description(description).is_nonblocking();
    let socket = call.socket(id);
    match socket.stage {
        // A call that waits is redone when its request has been answered.
        _ if call.resumed.is_some() || socket.untold => return answer(call, id, blocks),
        Stage::Connecting => return wait_for_answer(call, id, blocks, EALREADY),
        Stage::Connected | Stage::Listening => return Err(EISCONN.into()),
        Stage::Idle => {}
    }
    let destination = route(&call.kernel.net, socket, endpoint)?;
    name_source(call, id, destination)?;
    request(call, id, destination);
    let socket = call.socket_mut(id);
    if !blocks {
        socket.untold = true;
        return Err(EINPROGRESS.into());
    }
    answer(call, id, blocks)
}

/// Sends the request; what comes back is known at once, unless the listener has no room or the network is down.
///
/// The id of the other end is drawn here, by the caller, so that it follows from the caller's
/// creation path and not from who is accepted first.
fn request(call: &mut Call<'_>, id: Id, destination: Endpoint) {
    let twin = call.fresh_id();
    let now = call.kernel.clock.now();
    let source = port::endpoint(call.socket(id)).expect("it has just been bound");
    let listener = port::receiver(call.kernel, Transport::Tcp, source, destination);
    let socket = call.socket_mut(id);
    socket.remote = Some(Name::Inet(destination));
    socket.twin = Some(twin);
    socket.error = None;
    (socket.receive_shut, socket.send_shut) = (false, false);
    socket.stage = Stage::Connecting;
    let is_unreachable = reach::is_unreachable(call.kernel, id, listener);
    if is_unreachable {
        call.socket_mut(id).deadline = Some(now + PATIENCE);
    }
    let Some(listener) = listener else {
        if is_unreachable {
            return;
        }
        match far_ends::peer_at(call.kernel, Transport::Tcp, destination) {
            Some(peer) => far_ends::establish_far(call.kernel, id, peer),
            None => give_up(call.kernel, id, ECONNREFUSED),
        }
        return;
    };
    if !is_unreachable && call.kernel.net.listeners.get(&listener).is_some_and(Listener::has_room) {
        establish(call.kernel, id, listener);
        return;
    }
    call.socket_mut(id).deadline = Some(now + PATIENCE);
    let listener = call.kernel.net.listeners.get_mut(&listener).expect("a receiver of requests listens");
    listener.waiting.push_back(id);
}

/// What the guest is told about its request.
fn answer(call: &mut Call<'_>, id: Id, blocks: bool) -> Result<(), Stop> {
    let socket = call.socket_mut(id);
    match socket.stage {
        Stage::Connecting => wait_for_answer(call, id, blocks, EALREADY),
        Stage::Connected => {
            socket.untold = false;
            Ok(())
        }
        _ => {
            socket.untold = false;
            (socket.receive_shut, socket.send_shut) = (false, false);
            Err(socket.error.take().unwrap_or(ECONNABORTED).into())
        }
    }
}

fn wait_for_answer(call: &Call<'_>, id: Id, blocks: bool, otherwise: Errno) -> Result<(), Stop> {
    if !blocks {
        return Err(otherwise.into());
    }
    let timeout = call.socket(id).options.send_timeout;
    if call.timed_out() {
        return Err(EINPROGRESS.into());
    }
    Err(call.socket_wait(Request::Answer(id), timeout).into())
}

impl Call<'_> {
    /// A wait for something about a socket. With a timeout, a signal handler ends it even with `SA_RESTART`
    /// (`signal(7)`).
    ///
    /// The deadline is fixed by the first attempt; redone calls keep it.
    #[must_use]
    pub fn socket_wait(&self, request: Request, timeout: Option<u64>) -> Wait {
        let first = timeout.map(|timeout| self.kernel.clock.now().saturating_add(timeout));
        let deadline = self.resumed.as_ref().map_or(first, |wait| wait.deadline);
        let interruption = if timeout.is_some() { Interruption::Fail } else { Interruption::Restart };
        Wait::until(Condition::Socket(request)).deadline(deadline).interruption(interruption)
    }
}
