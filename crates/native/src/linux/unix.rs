//! Our end of a connection over a Unix socket, and what came over it.
//!
//! What is sent is in the receiver's queue, and the receiver is woken, before the call that sends returns. So nothing is ever on its
//! way, and the kernel needs not be asked about the program's end.
//!
//! The last byte that came stays in the socket: who closes a socket with something unread breaks the connection off
//! (`ECONNRESET`), and the program is to see that as well as an end in order.

use crate::host::channel::{Channel, Transit};
use crate::host::diag::Diagnosis;
use crate::host::sys;
use crate::problem::Problem;
use crate::stream::{End, Stream};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// What our side is about to do, or has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Open,
    /// No more is to be sent, once all is.
    Finishing,
    Finished,
    /// It is to be closed, once all is sent.
    Closing,
    /// Closed or broken off by us, or broken off by the program.
    Gone,
}

/// Our end of a connection over a Unix socket.
pub(crate) struct UnixConnection {
    /// Nothing once it is closed.
    socket: Option<OwnedFd>,
    /// Where the program listens, if that is there.
    target: Option<OwnedFd>,
    is_connected: bool,
    stage: Stage,
    /// What the kernel did not take yet.
    unsent: Vec<u8>,
    /// Whether the last byte of the stream is still in the socket.
    holds_last: bool,
    /// Whether the program takes nothing more.
    is_refused: bool,
    /// Whether something came that is no byte.
    has_files: bool,
    /// Whether nothing can happen on it any more, and it was at rest since.
    is_over: bool,
    stream: Stream,
}

impl UnixConnection {
    /// Begins a connection to the socket that a descriptor leads to.
    pub fn open(socket: OwnedFd, target: Option<OwnedFd>) -> Self {
        let (stage, unsent, stream) = (Stage::Open, Vec::new(), Stream::default());
        let (holds_last, is_refused, has_files, is_over) = (false, false, false, false);
        let (socket, is_connected) = (Some(socket), false);
        Self { socket, target, is_connected, stage, unsent, holds_last, is_refused, has_files, is_over, stream }
    }

    /// Whether the connection exists.
    fn connect_further(&mut self) -> bool {
        let Some(socket) = &self.socket else { return false };
        if self.is_connected {
            return true;
        }
        let connected = self.target.as_ref().map(|target| sys::connect_unix(socket, target));
        match connected.unwrap_or_else(|| Err(io::ErrorKind::NotFound.into())) {
            Ok(()) => self.is_connected = true,
            // The queue of the listener is full.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => self.end_by_reset(),
        }
        self.is_connected
    }

    fn end_by_reset(&mut self) {
        (self.stage, self.stream.end, self.socket) = (Stage::Gone, Some(End::Reset), None);
        self.unsent.clear();
    }

    fn send_further(&mut self) -> bool {
        let before = self.unsent.len();
        while let Some(socket) = self.socket.as_ref().filter(|_| !self.unsent.is_empty()) {
            match sys::send(socket, &self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    self.unsent.clear();
                    self.is_refused = true;
                }
                Err(_) => self.end_by_reset(),
            }
        }
        let is_sent = self.unsent.is_empty();
        match (self.stage, &self.socket) {
            (Stage::Finishing, Some(socket)) if is_sent => {
                sys::finish(socket);
                self.stage = Stage::Finished;
            }
            (Stage::Closing, Some(_)) if is_sent => self.close_in_order(),
            _ => {}
        }
        before > self.unsent.len()
    }

    /// Closes the socket with nothing unread.
    fn close_in_order(&mut self) {
        self.receive();
        if let Some(socket) = self.socket.take().filter(|_| self.holds_last) {
            let _ = sys::receive(&socket, &mut [0]);
        }
        self.stage = Stage::Gone;
    }

    /// Receives what there is; whether there was anything.
    fn receive(&mut self) -> bool {
        let before = self.stream.extent();
        // Asked first: what was said before an end is there then.
        let happened = self.socket.as_ref().map_or(0, |socket| sys::happened(socket.as_raw_fd()));
        self.take_bytes();
        let is_closed = happened & libc::POLLHUP != 0;
        match () {
            () if happened & libc::POLLERR != 0 || self.is_refused && is_closed => self.end_by_reset(),
            () if is_closed => self.stream.end = Some(End::Closed),
            () if happened & libc::POLLRDHUP != 0 => self.stream.end = Some(End::Finished),
            () => {}
        }
        self.stream.extent() != before
    }

    /// Takes all bytes but the last one, which is only looked at.
    fn take_bytes(&mut self) {
        let Some(socket) = &self.socket else { return };
        let (there, known) = (sys::unread(socket), usize::from(self.holds_last));
        if there <= known {
            return;
        }
        let (mut bytes, mut taken) = (vec![0; there], 0);
        while taken < there {
            let is_last = taken + 1 == there;
            let (room, flags) =
                if is_last { (&mut bytes[taken..], libc::MSG_PEEK) } else { (&mut bytes[taken..there - 1], 0) };
            let Ok((count, has_files)) = sys::receive_plain(socket, room, flags) else { break };
            self.has_files |= has_files;
            taken += count;
        }
        self.stream.bytes.extend_from_slice(&bytes[known..taken.max(known)]);
        self.holds_last = taken == there;
    }
}

impl Channel for UnixConnection {
    fn send(&mut self, bytes: &[u8]) {
        if self.stage == Stage::Open {
            self.unsent.extend_from_slice(bytes);
        }
        self.pump();
    }

    fn finish(&mut self) {
        if self.stage == Stage::Open {
            self.stage = Stage::Finishing;
        }
        self.pump();
    }

    fn close(&mut self) {
        if self.stage != Stage::Gone {
            self.stage = Stage::Closing;
        }
        self.pump();
    }

    fn reset(&mut self) {
        self.pump();
        self.abandon();
    }

    fn abandon(&mut self) {
        (self.stage, self.socket) = (Stage::Gone, None);
    }

    fn pump(&mut self) -> bool {
        if !self.connect_further() {
            return false;
        }
        let moved = self.send_further();
        self.receive() || moved
    }

    fn transit(&self, _: &Diagnosis) -> Result<Transit, Problem> {
        let unmodelled = |what: &str| Err(Problem::Unmodelled(format!("{what}, which is not modelled")));
        match &self.socket {
            _ if self.has_files => unmodelled("passes open files over its Unix socket (SCM_RIGHTS)"),
            _ if self.is_refused && self.stream.end != Some(End::Reset) => {
                unmodelled("shuts down the receiving side of its Unix socket (SHUT_RD)")
            }
            Some(_) if !self.is_connected => Ok(Err("is not taken from the queue of the socket")),
            _ if !self.unsent.is_empty() => Ok(Err("does not take all that was sent")),
            Some(socket) => Ok(Ok(!sys::is_all_taken(socket))),
            None => Ok(Ok(false)),
        }
    }

    fn note_rest(&mut self) {
        let is_closed = self.stage == Stage::Finished && self.stream.end == Some(End::Closed);
        self.is_over |= is_closed || self.stage == Stage::Gone;
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn stream(&self) -> &Stream {
        &self.stream
    }
}
