//! What the kernel says of the program's end of a connection, `sock_diag(7)`.

use crate::host::sys::{self, checked};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_INFO: u16 = 2;
/// Header of a message; request; the fixed part of an answer.
const HEADER: usize = 16;
const REQUEST: usize = 56;
const ANSWER: usize = 72;
/// Where an answer has the bytes that are not read yet, and what is 0 until the connection is accepted.
const UNREAD: usize = 56;
const INODE: usize = 68;
/// Where counters are in `struct tcp_info`.
const RECEIVED: usize = 128;
const UNSENT: usize = 144;
const SENT: usize = 200;
const SENT_AGAIN: usize = 208;

/// States of `tcp(7)`, as the kernel numbers them.
const ESTABLISHED: u8 = 1;
const SYN_RECEIVED: u8 = 3;
const CLOSE_WAIT: u8 = 8;
const LISTENING: u8 = 10;

/// The program's end of a connection.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Far {
    state: u8,
    /// Whether it is a whole socket, with the counts below; else what is left of one.
    pub has_counts: bool,
    /// Bytes received; our end of the stream counts as one.
    pub received: u64,
    /// Bytes sent, those sent again not counted.
    pub sent: u64,
    /// Bytes that wait to be sent.
    pub unsent: u64,
    /// Whether the program has not accepted the connection, or not read all that was received.
    pub is_unread: bool,
}

impl Far {
    pub fn is_established(&self) -> bool {
        self.state != SYN_RECEIVED
    }

    /// Whether our end of the stream has arrived.
    pub fn has_our_end(&self) -> bool {
        !matches!(self.state, ESTABLISHED | SYN_RECEIVED | 4 | 5)
    }

    /// Whether it has sent the end of its stream.
    pub fn has_ended(&self) -> bool {
        !matches!(self.state, ESTABLISHED | SYN_RECEIVED | CLOSE_WAIT)
    }
}

/// A socket on which the kernel is asked.
pub(crate) struct Diagnosis(OwnedFd);

impl Diagnosis {
    /// Over a socket of the network that is asked about.
    pub fn new(socket: OwnedFd) -> Self {
        Self(socket)
    }

    /// The end at `far_port` of the connection from `own_port`; nothing if it does not exist any more.
    pub fn look_up(&self, ports: (u16, u16)) -> io::Result<Option<Far>> {
        // Where there is no such connection, whoever listens on the port is found.
        Ok(self.find(ports)?.filter(|far| far.state != LISTENING))
    }

    /// Whether somebody listens where connections to a port of the local machine arrive.
    ///
    /// Asked for by its address: `/proc/net/tcp` would walk through the table of all networks of the machine, a millisecond each time.
    pub fn listens(&self, port: u16) -> io::Result<bool> {
        // No connection comes from port 0.
        Ok(self.find((port, 0))?.is_some_and(|far| far.state == LISTENING))
    }

    fn find(&self, (far_port, own_port): (u16, u16)) -> io::Result<Option<Far>> {
        sys::send(&self.0, &request(far_port, own_port))?;
        let mut room = [0u8; 2048];
        // SAFETY: the room lives as long as the call. The kernel answers before `send` returns.
        let got = checked(unsafe { libc::recv(self.0.as_raw_fd(), room.as_mut_ptr().cast(), room.len(), 0) } as i64)?;
        let answer = &room[..got as usize];
        match number(answer, 4, 2) as u16 {
            SOCK_DIAG_BY_FAMILY => Ok(Some(far_of(answer))),
            _ => match -(number(answer, HEADER, 4) as i32) {
                libc::ENOENT => Ok(None),
                errno => Err(io::Error::from_raw_os_error(errno)),
            },
        }
    }
}

/// `struct nlmsghdr` and `struct inet_diag_req_v2`, for one socket by its addresses.
fn request(far_port: u16, own_port: u16) -> [u8; HEADER + REQUEST] {
    let mut bytes = [0; HEADER + REQUEST];
    let mut set = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
    set(0, &((HEADER + REQUEST) as u32).to_ne_bytes());
    set(4, &SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    set(6, &(libc::NLM_F_REQUEST as u16).to_ne_bytes());
    set(HEADER, &[libc::AF_INET as u8, libc::IPPROTO_TCP as u8, 1 << (INET_DIAG_INFO - 1)]);
    set(HEADER + 4, &u32::MAX.to_ne_bytes());
    set(HEADER + 8, &far_port.to_be_bytes());
    set(HEADER + 10, &own_port.to_be_bytes());
    set(HEADER + 12, &[127, 0, 0, 1]);
    set(HEADER + 28, &[127, 0, 0, 1]);
    set(HEADER + 48, &[0xff; 8]);
    bytes
}

/// A number in the machine's order of bytes; 0 where there is none.
fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    let mut word = [0; 8];
    if let Some(part) = bytes.get(at..at + size) {
        word[..size].copy_from_slice(part);
    }
    u64::from_ne_bytes(word)
}

/// `struct inet_diag_msg`, and the counters of `struct tcp_info` among its attributes.
fn far_of(answer: &[u8]) -> Far {
    let mut far = Far { state: answer.get(HEADER + 1).copied().unwrap_or_default(), ..Far::default() };
    let mut at = HEADER + ANSWER;
    while let Some(attribute) = answer.get(at..).filter(|rest| rest.len() >= 4) {
        let length = number(attribute, 0, 2) as usize;
        if number(attribute, 2, 2) as u16 == INET_DIAG_INFO {
            let info = attribute.get(4..length).unwrap_or_default();
            far.has_counts = info.len() > SENT_AGAIN;
            far.is_unread = number(answer, HEADER + UNREAD, 4) != 0 || number(answer, HEADER + INODE, 4) == 0;
            far.received = number(info, RECEIVED, 8);
            far.unsent = number(info, UNSENT, 4);
            far.sent = number(info, SENT, 8) - number(info, SENT_AGAIN, 8);
        }
        at += length.max(4).next_multiple_of(4);
    }
    far
}
