//! What has been sent to a socket and not yet received: one direction of a connection, or a mailbox for datagrams.
//!
//! The cost of a message decides when a sender has to wait, and thereby which programs deadlock
//! with full buffers: so it is Linux's own accounting (`skb->truesize`), not the number of bytes.

use super::address::Name;
use super::bytes::Bytes;
use super::socket::Identity;
use crate::id::Id;
use std::collections::VecDeque;

/// What has been sent to a socket and not yet received.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Queue {
    /// Messages, or pieces of a stream, oldest first.
    pub packets: VecDeque<Packet>,
    /// Nothing more will come: the sender has shut down or closed.
    pub finished: bool,
    /// Nothing more will be read: the receiver has shut down reading (Unix sockets tell the sender, TCP does not).
    pub deaf: bool,
    /// `SO_RCVBUF` of the receiver.
    pub limit: usize,
}

/// A message, or a piece of a stream that is not mixed with its neighbours.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Packet {
    /// What is left of it.
    pub bytes: Bytes,
    /// How long it was: it takes up room until all of it has been read.
    pub size: usize,
    /// Who sent it, if it has a name.
    pub from: Option<Name>,
    /// The Unix socket that sent it as a message and whose buffer it takes up.
    pub sender: Option<Id>,
    /// Open files on their way (`SCM_RIGHTS`): descriptions, each with one reference.
    pub rights: Vec<Id>,
    /// Who sent it (`SCM_CREDENTIALS`).
    pub identity: Option<Identity>,
}

/// Bytes of a page, as buffers are made of.
const PAGE: usize = 4096;
/// What a buffer has room for besides its header and trailer, if it is one page.
const HEAD_MAX: usize = PAGE - TRAILER;
/// Bytes of Linux's `struct skb_shared_info`, at the end of each buffer.
const TRAILER: usize = 320;
/// Bytes of Linux's `struct sk_buff`.
const HEADER: usize = 256;
/// The smallest buffer that Linux allocates.
const BUFFER_MIN: usize = 512;

impl Packet {
    /// A message.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self { bytes: bytes.into(), size: bytes.len(), from: None, sender: None, rights: Vec::new(), identity: None }
    }

    /// How much of `SO_SNDBUF` or `SO_RCVBUF` it takes up: Linux counts whole buffers, not bytes.
    #[must_use]
    pub fn cost(&self) -> usize {
        let pages = self.size.saturating_sub(HEAD_MAX).next_multiple_of(PAGE);
        let head = self.size.saturating_sub(pages) + TRAILER;
        HEADER + head.next_power_of_two().max(BUFFER_MIN) + pages
    }
}

impl Queue {
    /// An empty queue.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Bytes that wait.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.packets.iter().map(|packet| packet.bytes.len()).sum()
    }

    /// How much room the messages take up.
    #[must_use]
    pub fn cost(&self) -> usize {
        self.packets.iter().map(Packet::cost).sum()
    }

    /// How much room the messages of one sender take up.
    ///
    /// Unix datagrams are charged to the sender until they are read, wherever they lie.
    #[must_use]
    pub fn in_flight(&self, sender: Id) -> usize {
        self.packets.iter().filter(|packet| packet.sender == Some(sender)).map(Packet::cost).sum()
    }

    /// Appends to a stream without borders.
    pub fn append(&mut self, bytes: &[u8]) {
        self.tail().append(bytes);
    }

    /// Where a stream without borders goes on.
    pub fn tail(&mut self) -> &mut Bytes {
        if self.packets.is_empty() {
            self.packets.push_back(Packet::new(&[]));
        }
        &mut self.packets.back_mut().expect("there is one now").bytes
    }
}
