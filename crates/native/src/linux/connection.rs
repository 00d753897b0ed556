//! Our end of a TCP connection to the program, and what came over it.

use crate::host::channel::{Channel, Transit};
use crate::host::diag::{Diagnosis, Far};
use crate::host::sys;
use crate::problem::Problem;
use crate::stream::{End, Stream};
use std::io;
use std::os::fd::OwnedFd;

/// What our side is about to do, or has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Connecting,
    Open,
    /// No more is to be sent, once all is.
    Finishing,
    Finished,
    /// Broken off by us.
    Reset,
    /// Broken off by the program.
    Gone,
}

/// Our end of a connection.
pub(crate) struct Connection {
    socket: OwnedFd,
    far_port: u16,
    own_port: u16,
    stage: Stage,
    /// What the kernel did not take yet.
    unsent: Vec<u8>,
    sent: u64,
    /// Whether something was sent after the program had finished: if it has closed, it will break the connection off.
    awaits_reset: bool,
    /// Whether nothing can happen on it any more, and it was at rest since.
    is_over: bool,
    stream: Stream,
}

impl Connection {
    /// Begins a connection to a port of the socket's network, from a port that is given or from any.
    pub fn open(socket: OwnedFd, from: Option<u16>, to: u16) -> io::Result<Self> {
        // What is sent is sent at once.
        sys::set_option(&socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, &1)?;
        if let Some(port) = from {
            sys::bind(&socket, port)?;
        }
        // Its result is asked for by `connect_further`.
        let _ = sys::connect(&socket, to);
        let own_port = sys::own_port(&socket)?;
        let (stage, stream) = (Stage::Connecting, Stream::default());
        let (unsent, sent) = (Vec::new(), 0);
        Ok(Self { socket, far_port: to, own_port, stage, unsent, sent, awaits_reset: false, is_over: false, stream })
    }

    /// A connection that the program has opened, from a port of its own to one of ours.
    pub fn accepted(socket: OwnedFd, from: u16, to: u16) -> Self {
        let _ = sys::set_option(&socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, &1);
        let (stage, stream, unsent) = (Stage::Open, Stream::default(), Vec::new());
        let (awaits_reset, is_over) = (false, false);
        Self { socket, far_port: from, own_port: to, stage, unsent, sent: 0, awaits_reset, is_over, stream }
    }

    /// A socket without lingering sends a reset when it is closed, `socket(7)`.
    fn break_off(&mut self) {
        if self.stage == Stage::Reset {
            return;
        }
        let _ =
            sys::set_option(&self.socket, libc::SOL_SOCKET, libc::SO_LINGER, &libc::linger { l_onoff: 1, l_linger: 0 });
        if let Ok(other) = sys::socket(libc::AF_UNIX, libc::SOCK_STREAM, 0) {
            self.socket = other;
        }
        self.stage = Stage::Reset;
    }

    /// Whether the connection exists.
    fn connect_further(&mut self) -> bool {
        if self.stage != Stage::Connecting {
            return true;
        }
        match sys::connect(&self.socket, self.far_port) {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EALREADY | libc::EINPROGRESS)) => return false,
            Err(error) if error.raw_os_error() != Some(libc::EISCONN) => self.is_gone(),
            _ => self.stage = Stage::Open,
        }
        self.stage == Stage::Open
    }

    fn is_gone(&mut self) {
        (self.stage, self.stream.end) = (Stage::Gone, Some(End::Reset));
        self.unsent.clear();
    }

    fn send_further(&mut self) -> bool {
        let before = self.sent;
        while !self.unsent.is_empty() {
            match sys::send(&self.socket, &self.unsent) {
                Ok(count) => {
                    self.unsent.drain(..count);
                    self.sent += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => {
                    self.unsent.clear();
                    self.awaits_reset = false;
                }
            }
        }
        if self.stage == Stage::Finishing && self.unsent.is_empty() {
            sys::finish(&self.socket);
            self.stage = Stage::Finished;
        }
        self.sent != before
    }

    fn receive(&mut self) -> bool {
        let (before, mut room) = (self.stream.extent(), [0; 1 << 16]);
        loop {
            match sys::receive(&self.socket, &mut room) {
                Ok(0) => {
                    self.stream.end = self.stream.end.or(Some(End::Finished));
                    break;
                }
                Ok(count) => self.stream.bytes.extend_from_slice(&room[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => {
                    self.is_gone();
                    break;
                }
            }
        }
        self.stream.extent() != before
    }

    /// After an end in order, only the socket's error tells of a reset.
    fn notice_reset(&mut self) -> bool {
        let is_broken = self.awaits_reset && sys::has_error(&self.socket);
        if is_broken {
            self.is_gone();
        }
        is_broken
    }

    /// Why it is not known yet that all has arrived, on both sides; `far` is what the kernel says of the program's end.
    ///
    /// What it says was said with the socket locked: a packet that it counts has been handled to its end, and who waited for it
    /// has been woken.
    fn in_flight(&self, far: Option<&Far>) -> Option<&'static str> {
        match (self.stage, far) {
            (Stage::Gone, _) => None,
            (Stage::Connecting, _) => Some("is not taken from the queue of the port"),
            (Stage::Reset, None) => {
                // An end that is gone cannot be locked: whoever handles the packet that ended it may not have woken all yet.
                sys::await_packet_handlers();
                None
            }
            (Stage::Reset, Some(_)) => Some("is still there after it was broken off"),
            _ if !self.unsent.is_empty() => Some("does not take all that was sent"),
            (_, Some(far)) if far.has_counts => self.in_flight_by(far),
            // What was confirmed was taken by a program that had only finished, and has closed since.
            _ if self.awaits_reset && !sys::is_all_taken(&self.socket) => Some("is not broken off yet"),
            _ if self.stream.end.is_some() => None,
            _ => Some("has not told its end yet"),
        }
    }

    fn in_flight_by(&self, far: &Far) -> Option<&'static str> {
        if !far.is_established() || far.received < self.sent || self.stage == Stage::Finished && !far.has_our_end() {
            return Some("has something on its way");
        }
        let has_all = far.unsent == 0 && far.sent == self.stream.bytes.len() as u64 && !far.has_ended();
        (self.stream.end.is_none() && !has_all).then_some("has an answer on its way")
    }
}

impl Channel for Connection {
    fn send(&mut self, bytes: &[u8]) {
        if matches!(self.stage, Stage::Connecting | Stage::Open) {
            self.awaits_reset |= self.stream.end.is_some();
            self.unsent.extend_from_slice(bytes);
        }
        self.pump();
    }

    fn finish(&mut self) {
        if matches!(self.stage, Stage::Connecting | Stage::Open) {
            self.stage = Stage::Finishing;
        }
        self.pump();
    }

    /// TCP does not tell that nothing will be received before something is sent.
    fn close(&mut self) {
        self.finish();
    }

    fn reset(&mut self) {
        self.pump();
        self.break_off();
    }

    /// Connections in `TIME_WAIT` would keep the port from the next instance on the same network.
    fn abandon(&mut self) {
        self.break_off();
    }

    fn pump(&mut self) -> bool {
        if matches!(self.stage, Stage::Reset | Stage::Gone) || !self.connect_further() {
            return false;
        }
        let moved = self.send_further();
        let received = self.receive();
        self.notice_reset() || moved || received
    }

    fn transit(&self, diagnosis: &Diagnosis) -> Result<Transit, Problem> {
        let far = diagnosis.look_up((self.far_port, self.own_port));
        let far = far.map_err(|error| Problem::system("asking for its connections", &error))?;
        let is_unread = far.as_ref().is_some_and(|far| far.is_unread);
        Ok(self.in_flight(far.as_ref()).map_or(Ok(is_unread), Err))
    }

    fn note_rest(&mut self) {
        self.awaits_reset = false;
        let is_closed = self.stage == Stage::Finished && self.stream.end.is_some();
        self.is_over |= is_closed || matches!(self.stage, Stage::Reset | Stage::Gone);
    }

    fn is_over(&self) -> bool {
        self.is_over
    }

    fn stream(&self) -> &Stream {
        &self.stream
    }
}
