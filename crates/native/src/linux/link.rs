//! A connection to a program over which bytes only pass.

use crate::host::sys;
use crate::problem::Problem;
use crate::transfer::{Received, Wanted};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// A connection to a program over which bytes only pass: nothing is kept of them.
pub struct Link(OwnedFd);

impl Link {
    /// Connects to a port of the socket's network.
    pub(crate) fn open(socket: OwnedFd, to: u16) -> Result<Self, Problem> {
        let failed = |error| Problem::system("opening a connection", &error);
        sys::set_option(&socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, &1).map_err(failed)?;
        // A refusal is told when something is received.
        let _ = sys::connect(&socket, to);
        Ok(Self(socket))
    }

    /// Sends what there is room for; how much that was. Nothing of it is lost unless the connection is.
    #[must_use]
    pub fn send(&self, bytes: &[u8]) -> usize {
        match sys::send(&self.0, bytes) {
            Ok(count) => count,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => 0,
            // Nobody will read it.
            Err(_) => bytes.len(),
        }
    }

    /// Receives what there is.
    pub fn receive(&self, room: &mut [u8]) -> Received {
        match sys::receive(&self.0, room) {
            Ok(0) => Received::Finished,
            Ok(count) => Received::Bytes(count),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Received::Nothing
            }
            Err(_) => Received::Reset,
        }
    }

    /// Says that no more will be sent.
    pub fn finish(&self) {
        sys::finish(&self.0);
    }

    /// Breaks the connection off.
    pub fn reset(self) {
        let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
        let _ = sys::set_option(&self.0, libc::SOL_SOCKET, libc::SO_LINGER, &at_once);
    }

    /// Waits until one of several links has what it is wanted for, or the time is over.
    pub fn wait(links: &[(&Self, Wanted)], time: Duration) {
        let events = |wanted: Wanted| {
            let input = if wanted.input { libc::POLLIN } else { 0 };
            input | if wanted.room { libc::POLLOUT } else { 0 }
        };
        let entry = |(link, wanted): &(&Self, Wanted)| libc::pollfd {
            fd: link.0.as_raw_fd(),
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
