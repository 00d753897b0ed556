//! What passes over a connection of which nothing is kept, and how one is broken off.

use std::net::TcpStream;
use std::os::fd::AsRawFd;

/// Closes a connection with a reset: a socket without lingering sends one, `socket(7)`.
pub fn break_off(socket: TcpStream) {
    let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
    let length = size_of_val(&at_once) as libc::socklen_t;
    // SAFETY: the option lives as long as the call, and has that length.
    unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, (&raw const at_once).cast(), length)
    };
    drop(socket);
}

/// What came of a try to receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Received {
    /// So many bytes.
    Bytes(usize),
    /// Nothing yet.
    Nothing,
    /// The program has no more to say.
    Finished,
    /// It neither says nor hears any more (Unix sockets).
    Closed,
    /// The connection is broken off.
    Reset,
}

/// What a link is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Something to receive.
    pub input: bool,
    /// Room to send.
    pub room: bool,
}
