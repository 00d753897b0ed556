//! `accept(2)`.
//!
//! A connection exists from the moment that the listener takes the request, accepted or not;
//! accepting it only gives it a descriptor. So data can be sent to a server that never calls this,
//! as on Linux.

use super::connection::{establish, forget_request};
use super::create::install;
use super::poll::{CHANGED, wake};
use super::reach::next_request;
use super::request::Request;
use super::socket::{Family, Kind, Stage};
use super::{address, name};
use crate::Kernel;
use crate::call::{Call, Stop};
use crate::descriptor::{O_CLOEXEC, O_NONBLOCK};
use crate::errno::{EAGAIN, EINVAL, EOPNOTSUPP};
use crate::id::Id;

/// `accept(2)`.
pub fn accept(call: &mut Call<'_>) -> Result<u64, Stop> {
    run(call, 0)
}

/// `accept4(2)`.
pub fn accept4(call: &mut Call<'_>) -> Result<u64, Stop> {
    let flags = call.args[3] as u32;
    if flags & !(O_NONBLOCK | O_CLOEXEC) != 0 {
        return Err(EINVAL.into());
    }
    run(call, flags)
}

/// The descriptor is made before the connection leaves the line: if the process has none left
/// (`EMFILE`), the connection is still there for the next attempt.
fn run(call: &mut Call<'_>, flags: u32) -> Result<u64, Stop> {
    let [_, name, length, ..] = call.args;
    let (description, id) = call.socket_of(call.int(0))?;
    let socket = call.socket(id);
    if socket.kind == Kind::Datagram {
        return Err(EOPNOTSUPP.into());
    }
    if socket.stage != Stage::Listening {
        return Err(EINVAL.into());
    }
    let timeout = socket.options.receive_timeout;
    let Some(connection) = call.kernel.net.listeners.get(&id).and_then(|listener| listener.queue.front().copied())
    else {
        if call.description(description).is_nonblocking() || call.timed_out() {
            return Err(EAGAIN.into());
        }
        return Err(call.socket_wait(Request::Connection(id), timeout).into());
    };
    let fd = install(call, connection, flags)?;
    take(call.kernel, id);
    let remote = call.socket(connection).remote.clone();
    let family = call.socket(connection).family;
    if let Err(stop) = name::store(call, &address::encode(remote.as_ref(), family), name, length) {
        let _ = call.kernel.close(call.memory, call.pid, fd);
        return Err(stop);
    }
    Ok(fd as u64)
}

/// Takes the oldest connection from the line; the oldest request that waits for room gets it.
fn take(kernel: &mut Kernel, id: Id) {
    let listener = kernel.net.listeners.get_mut(&id).expect("it listens");
    listener.queue.pop_front();
    let has_room = listener.has_room();
    let line = kernel.net.listeners.get(&id).filter(|_| has_room);
    if let Some(next) = line.and_then(|line| next_request(kernel, id, line)) {
        forget_request(kernel, next);
        establish(kernel, next, id);
    }
    if kernel.net.sockets.get(&id).is_some_and(|socket| socket.family == Family::Unix) {
        wake(kernel, id, CHANGED);
    }
}
