//! What threads wait for at sockets.
//!
//! Data that [`super::holds`] decides; the conditions of the calls in this family.

use crate::id::Id;

/// Something about a socket that a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Request {
    /// That many bytes (or a message) can be received, or no more will come, or there is an error.
    Data(Id, usize),
    /// There is room to send to the peer, or an error.
    Room(Id),
    /// A message of one Unix socket has room in the mailbox of another, or that is gone.
    Mailbox {
        /// Who sends.
        from: Id,
        /// Who shall receive.
        to: Id,
    },
    /// A listener has room for a request, or is gone.
    Backlog(Id),
    /// The request for a connection has been answered.
    Answer(Id),
    /// A connection can be accepted, or the socket no longer listens.
    Connection(Id),
}
