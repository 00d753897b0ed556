//! What passes over a connection of which nothing is kept.

/// What came of a try to receive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Received {
    /// So many bytes.
    Bytes(usize),
    /// Nothing yet.
    Nothing,
    /// The program has no more to say.
    Finished,
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
