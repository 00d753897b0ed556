//! Random devices: whoever opens one gets a pipe, and finds bytes there that depend on its process and on what that has asked for
//! before. The supervisor refills it, so that there is no end of them.

use super::random::Sequence;
use super::time::read_bytes;
use crate::host::sys::{self, checked};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Bytes that are written at once: as a whole, or not at all (`pipe(7)`).
const PIECE: usize = 4096;

/// The pipes that stand for random devices.
#[derive(Default)]
pub(super) struct RandomDevices {
    /// Says which of them have room.
    ready: Option<OwnedFd>,
    pipes: BTreeMap<RawFd, Pipe>,
}

struct Pipe {
    end: OwnedFd,
    sequence: Sequence,
    /// What is written next.
    next: Vec<u8>,
}

/// Whether a path in another process names a random device.
pub(super) fn is_random(process: libc::pid_t, path: u64) -> bool {
    read_bytes(process, path) == Some(*b"/dev/urandom\0") || read_bytes(process, path) == Some(*b"/dev/random\0")
}

impl RandomDevices {
    /// Where it is said that a pipe has room; -1 before there is any.
    pub fn fd(&self) -> RawFd {
        self.ready.as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// A pipe to read a sequence from.
    pub fn open(&mut self, seed: u64) -> io::Result<OwnedFd> {
        if self.ready.is_none() {
            self.ready = Some(sys::epoll()?);
        }
        let (reader, end) = sys::pipe()?;
        sys::watch_room(self.fd(), &end)?;
        let mut sequence = Sequence(seed);
        let next = sequence.bytes(PIECE);
        let mut pipe = Pipe { end, sequence, next };
        pipe.fill()?;
        self.pipes.insert(pipe.end.as_raw_fd(), pipe);
        Ok(reader)
    }

    /// Refills pipes that have room, and forgets those that nobody reads any more.
    pub fn refill(&mut self) {
        for fd in sys::with_room(self.fd()) {
            if self.pipes.get_mut(&fd).is_some_and(|pipe| pipe.fill().is_err()) {
                self.pipes.remove(&fd);
            }
        }
    }
}

impl Pipe {
    fn fill(&mut self) -> io::Result<()> {
        loop {
            match write(&self.end, &self.next) {
                Ok(()) => self.next = self.sequence.bytes(PIECE),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

fn write(end: &OwnedFd, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: the bytes live as long as the call.
    checked(unsafe { libc::write(end.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) } as i64).map(drop)
}
