//! `bind(2)` and `listen(2)`.

use super::address::{ANY_V4, Endpoint, Given, Name};
use super::options::IPV6_V6ONLY;
use super::socket::{Family, Identity, Kind, Listener, Socket, Stage};
use super::{name, port, unix};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::capability::Capability;
use crate::errno::{EACCES, EADDRNOTAVAIL, EAFNOSUPPORT, EINVAL, EOPNOTSUPP, Errno};
use crate::id::Id;
use std::net::Ipv6Addr;

/// Ports below this are for privileged processes (`ip(7)`).
const PRIVILEGED: u16 = 1024;

/// `net.core.somaxconn`.
const BACKLOG_MAX: i32 = 4096;

/// `bind(2)`.
pub fn bind(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [_, name, length, ..] = call.args;
    let (_, id) = call.socket_of(call.int(0))?;
    let family = call.socket(id).family;
    match name::load(call, name, length, family)? {
        Given::Inet(endpoint) => bind_inet(call, id, endpoint)?,
        // Old programs leave the family of "any address" out (Linux's `__inet_bind`).
        Given::Nothing if family == Family::Inet => bind_inet(call, id, Endpoint { ip: ANY_V4, port: 0 })?,
        Given::Nothing => return Err(if family == Family::Unix { EINVAL } else { EAFNOSUPPORT }.into()),
        given => unix::bind(call, id, given)?,
    }
    Ok(0)
}

fn bind_inet(call: &mut Call<'_>, id: Id, endpoint: Endpoint) -> Result<(), Stop> {
    let socket = call.socket(id);
    if !endpoint.is_local() || endpoint.is_v4() && socket.options.is_on(IPV6_V6ONLY) {
        return Err(EADDRNOTAVAIL.into());
    }
    if (1..PRIVILEGED).contains(&endpoint.port) && !call.can(Capability::BindService) {
        return Err(EACCES.into());
    }
    if socket.local.is_some() || socket.stage != Stage::Idle {
        return Err(EINVAL.into());
    }
    Ok(take(call.kernel, id, endpoint)?)
}

/// Gives a socket its name, with a port of the kernel's choice if it names none.
///
/// A port of the kernel's choice is checked as well: between choosing and holding nothing can
/// happen, but an address that does not fit is refused there.
fn take(kernel: &mut Kernel, id: Id, mut endpoint: Endpoint) -> Result<(), Errno> {
    let chosen = endpoint.port == 0;
    if chosen {
        endpoint.port = port::choose(kernel, id)?;
    }
    port::check(kernel, id, endpoint)?;
    let socket = kernel.net.sockets.get_mut(&id).expect("an open socket exists");
    socket.local = Some(Name::Inet(endpoint));
    socket.port_chosen = chosen;
    port::hold(kernel, id);
    Ok(())
}

/// Gives a socket a port if it has none, because it connects, listens or sends.
pub fn bind_any(kernel: &mut Kernel, id: Id, ip: Ipv6Addr) -> Result<(), Errno> {
    let socket = kernel.net.sockets.get(&id).expect("an open socket exists");
    if socket.local.is_some() { Ok(()) } else { take(kernel, id, Endpoint { ip, port: 0 }) }
}

/// "Any address" for a socket.
#[must_use]
pub fn any(socket: &Socket) -> Ipv6Addr {
    if socket.family == Family::Inet { ANY_V4 } else { Ipv6Addr::UNSPECIFIED }
}

/// `listen(2)`.
///
/// Calling it again changes the backlog and nothing else (`listen(2)`).
pub fn listen(call: &mut Call<'_>) -> Result<u64, Stop> {
    let (_, id) = call.socket_of(call.int(0))?;
    // Linux reads the backlog as unsigned: a negative one is the largest.
    let backlog = call.args[1] as u32;
    let backlog = backlog.min(BACKLOG_MAX as u32) as usize;
    let socket = call.socket(id);
    if socket.kind == Kind::Datagram {
        return Err(EOPNOTSUPP.into());
    }
    if !matches!(socket.stage, Stage::Idle | Stage::Listening)
        || socket.family == Family::Unix && socket.local.is_none()
    {
        return Err(EINVAL.into());
    }
    if socket.stage == Stage::Idle {
        start(call, id)?;
    }
    let listener = call.kernel.net.listeners.get_mut(&id).expect("it listens now");
    listener.backlog = backlog;
    Ok(0)
}

fn start(call: &mut Call<'_>, id: Id) -> Result<(), Stop> {
    if call.socket(id).is_inet() {
        let ip = any(call.socket(id));
        bind_any(call.kernel, id, ip)?;
        check_listening(call.kernel, id)?;
    }
    let identity = Identity::of(call.process());
    let socket = call.socket_mut(id);
    socket.stage = Stage::Listening;
    socket.identity = identity;
    socket.receive_shut = false;
    socket.send_shut = false;
    call.kernel.net.listeners.insert(id, Listener::default());
    Ok(())
}

/// Two sockets may be bound to one name by `SO_REUSEADDR`, but only one may listen.
fn check_listening(kernel: &Kernel, id: Id) -> Result<(), Errno> {
    let endpoint = kernel.net.sockets.get(&id).and_then(port::endpoint).ok_or(EINVAL)?;
    port::check(kernel, id, endpoint)
}
