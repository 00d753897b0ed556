//! A connection to a program over which bytes only pass.

use crate::host::sys;
use crate::transfer::{Received, Wanted};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// A connection to a program over which bytes only pass: nothing is kept of them.
pub struct Link {
    socket: OwnedFd,
    kind: Kind,
}

/// What it goes over.
enum Kind {
    Tcp,
    /// A Unix socket: where it is to be connected to, if it is not connected yet, and there is one.
    Unix {
        target: Option<OwnedFd>,
        is_connected: bool,
    },
}

impl Link {
    /// Connects to a port of the socket's network.
    pub(crate) fn tcp(socket: OwnedFd, to: u16) -> io::Result<Self> {
        sys::set_option(&socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, &1)?;
        // A refusal is told when something is received.
        let _ = sys::connect(&socket, to);
        Ok(Self { socket, kind: Kind::Tcp })
    }

    /// Connects to a Unix socket.
    pub(crate) fn unix(socket: OwnedFd, target: Option<OwnedFd>) -> Self {
        Self { socket, kind: Kind::Unix { target, is_connected: false } }
    }

    /// Goes on with connecting; what came of it, if it is not connected.
    fn unconnected(&mut self) -> Option<Received> {
        let Kind::Unix { target, is_connected: false } = &mut self.kind else { return None };
        let Some(to) = target else { return Some(Received::Reset) };
        match sys::connect_unix(&self.socket, to) {
            Ok(()) => {
                self.kind = Kind::Unix { target: None, is_connected: true };
                None
            }
            // The queue of the listener is full.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(Received::Nothing),
            Err(_) => Some(Received::Reset),
        }
    }

    /// Sends what there is room for; how much that was. Nothing of it is lost unless the connection is.
    #[must_use]
    pub fn send(&mut self, bytes: &[u8]) -> usize {
        match self.unconnected() {
            Some(Received::Nothing) => return 0,
            Some(_) => return bytes.len(),
            None => {}
        }
        match sys::send(&self.socket, bytes) {
            Ok(count) => count,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => 0,
            // Nobody will read it.
            Err(_) => bytes.len(),
        }
    }

    /// Receives what there is.
    pub fn receive(&mut self, room: &mut [u8]) -> Received {
        if let Some(received) = self.unconnected() {
            return received;
        }
        match sys::receive(&self.socket, room) {
            Ok(0) if self.is_closed() => Received::Closed,
            Ok(0) => Received::Finished,
            Ok(count) => Received::Bytes(count),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Received::Nothing
            }
            Err(_) => Received::Reset,
        }
    }

    /// Whether the other side neither says nor hears any more: Unix sockets tell that.
    fn is_closed(&self) -> bool {
        matches!(self.kind, Kind::Unix { .. }) && sys::happened(self.socket.as_raw_fd()) & libc::POLLHUP != 0
    }

    /// Says that no more will be sent.
    pub fn finish(&self) {
        sys::finish(&self.socket);
    }

    /// Breaks the connection off.
    pub fn reset(self) {
        let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
        let _ = sys::set_option(&self.socket, libc::SOL_SOCKET, libc::SO_LINGER, &at_once);
    }

    /// Waits until one of several links has what it is wanted for, or the time is over.
    pub fn wait(links: &[(&Self, Wanted)], time: Duration) {
        let events = |wanted: Wanted| {
            let input = if wanted.input { libc::POLLIN } else { 0 };
            input | if wanted.room { libc::POLLOUT } else { 0 }
        };
        let entry = |(link, wanted): &(&Self, Wanted)| libc::pollfd {
            fd: link.socket.as_raw_fd(),
            events: events(*wanted),
            revents: 0,
        };
        let mut all: Vec<libc::pollfd> = links.iter().map(entry).collect();
        // Rounded up: less than a millisecond is no reason not to wait.
        let time = i32::try_from(time.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        // SAFETY: as many entries as are said.
        unsafe { libc::poll(all.as_mut_ptr(), all.len() as libc::nfds_t, time) };
    }
}
