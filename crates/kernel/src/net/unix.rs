//! Names of Unix sockets (`unix(7)`), and connecting to them.

use super::address::{Given, Name};
use super::connection::establish;
use super::request::Request;
use super::socket::{Identity, Kind, Stage};
use super::state::Place;
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::errno::{EADDRINUSE, EAGAIN, ECONNREFUSED, EINVAL, EISCONN, ENOENT, ENOSPC, EPERM, EPROTOTYPE, Errno};
use crate::files;
use crate::id::Id;

/// Permission to write.
const WRITE: u32 = 2;

/// `AT_FDCWD`.
const HERE: i32 = -100;

/// Names that the kernel chooses have five hexadecimal digits.
const CHOSEN: u64 = 1 << 20;

fn place_of(name: &Name) -> Option<Place> {
    match name {
        Name::Path(_, inode) => Some(Place::Inode(*inode)),
        Name::Abstract(name) => Some(Place::Abstract(name.clone())),
        Name::Inet(_) => None,
    }
}

/// `bind(2)` of a Unix socket.
pub fn bind(call: &mut Call<'_>, id: Id, given: Given) -> Result<(), Stop> {
    let bound = call.socket(id).local.is_some();
    match given {
        Given::Auto if bound => Ok(()),
        Given::Auto => Ok(bind_auto(call, id)?),
        Given::Path(path) => bind_path(call, id, path, bound),
        _ if bound => Err(EINVAL.into()),
        Given::Abstract(name) => Ok(take(call.kernel, id, Name::Abstract(name))?),
        _ => Err(EINVAL.into()),
    }
}

/// A name of the kernel's choice, made from the socket's id (`unix(7)`, "Autobind feature").
pub fn bind_auto(call: &mut Call<'_>, id: Id) -> Result<(), Errno> {
    let names = (0..CHOSEN).map(|step| format!("{:05x}", (id.0 + step) % CHOSEN).into_bytes());
    let is_free = |name: &Vec<u8>| !call.kernel.net.names.contains_key(&Place::Abstract(name.clone()));
    let name = names.into_iter().find(is_free).ok_or(ENOSPC)?;
    take(call.kernel, id, Name::Abstract(name))
}

fn bind_path(call: &mut Call<'_>, id: Id, path: Vec<u8>, bound: bool) -> Result<(), Stop> {
    let place = call.walk(HERE, &path, false)?;
    if place.node.is_some() {
        return Err(EADDRINUSE.into());
    }
    if place.slash {
        return Err(ENOENT.into());
    }
    if bound {
        return Err(EINVAL.into());
    }
    let inode = call.create_entry(&place, files::Kind::Socket, 0o777)?;
    Ok(take(call.kernel, id, Name::Path(path, inode))?)
}

fn take(kernel: &mut Kernel, id: Id, name: Name) -> Result<(), Errno> {
    let place = place_of(&name).ok_or(EINVAL)?;
    if kernel.net.names.contains_key(&place) {
        return Err(EADDRINUSE);
    }
    kernel.net.names.insert(place, id);
    kernel.net.sockets.get_mut(&id).expect("an open socket exists").local = Some(name);
    Ok(())
}

/// A socket that ends gives its name back; its file stays.
pub fn unbind(kernel: &mut Kernel, id: Id) {
    let place = kernel.net.sockets.get(&id).and_then(|socket| socket.local.as_ref()).and_then(place_of);
    let Some(place) = place else { return };
    // Accepted sockets show their listener's name without holding it.
    if kernel.net.names.get(&place) == Some(&id) {
        kernel.net.names.remove(&place);
    }
}

/// The socket that a name leads to.
///
/// By inode, not by path: a socket whose file was renamed is still found, one whose file was
/// deleted and made again is not (`unix(7)`).
pub fn find(call: &Call<'_>, given: &Given, kind: Kind) -> Result<Id, Errno> {
    let place = match given {
        Given::Abstract(name) => Place::Abstract(name.clone()),
        Given::Path(path) => Place::Inode(find_inode(call, path)?),
        _ => return Err(EINVAL),
    };
    let id = call.kernel.net.names.get(&place).copied().ok_or(ECONNREFUSED)?;
    if call.socket(id).kind == kind { Ok(id) } else { Err(EPROTOTYPE) }
}

/// The socket in the file system that a path leads to.
pub fn find_inode(call: &Call<'_>, path: &[u8]) -> Result<Id, Errno> {
    let id = call.walk(HERE, path, true)?.inode()?;
    let inode = call.kernel.inode(id).ok_or(ENOENT)?;
    call.asker().may(&inode, WRITE)?;
    if inode.kind == files::Kind::Socket { Ok(id) } else { Err(ECONNREFUSED) }
}

/// `connect(2)` of a Unix socket.
///
/// No request is ever under way: a Unix connection is made or refused within the call, and only a
/// full backlog makes it wait.
pub fn connect(call: &mut Call<'_>, description: Id, id: Id, given: Given) -> Result<(), Stop> {
    let kind = call.socket(id).kind;
    let other = find(call, &given, kind)?;
    if kind == Kind::Datagram {
        return Ok(fix(call, id, other)?);
    }
    let Some(listener) = call.kernel.net.listeners.get(&other) else {
        return Err(ECONNREFUSED.into());
    };
    if !listener.has_room() {
        return wait_for_room(call, description, id, other);
    }
    // Linux looks at the socket itself last.
    match call.socket(id).stage {
        Stage::Connected => return Err(EISCONN.into()),
        Stage::Listening => return Err(EINVAL.into()),
        _ => {}
    }
    request(call, id, other);
    Ok(())
}

fn wait_for_room(call: &Call<'_>, description: Id, id: Id, other: Id) -> Result<(), Stop> {
    if call.description(description).is_nonblocking() || call.timed_out() {
        return Err(EAGAIN.into());
    }
    let timeout = call.socket(id).options.send_timeout;
    Err(call.socket_wait(Request::Backlog(other), timeout).into())
}

fn request(call: &mut Call<'_>, id: Id, other: Id) {
    let twin = call.fresh_id();
    let identity = Identity::of(call.process());
    let remote = call.socket(other).local.clone();
    let socket = call.socket_mut(id);
    socket.identity = identity;
    socket.remote = remote;
    socket.twin = Some(twin);
    establish(call.kernel, id, other);
}

/// A datagram socket gets a fixed destination, which must be willing to hear from it.
fn fix(call: &mut Call<'_>, id: Id, other: Id) -> Result<(), Errno> {
    check_willing(call.kernel, id, other)?;
    let remote = call.socket(other).local.clone();
    let socket = call.socket_mut(id);
    socket.peer = Some(other);
    socket.remote = remote;
    socket.stage = Stage::Connected;
    Ok(())
}

/// A datagram socket with a fixed destination hears from nobody else.
pub fn check_willing(kernel: &Kernel, id: Id, other: Id) -> Result<(), Errno> {
    let peer = kernel.net.sockets.get(&other).and_then(|socket| socket.peer);
    if peer.is_none_or(|peer| peer == id) { Ok(()) } else { Err(EPERM) }
}
