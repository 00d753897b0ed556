//! What came over a connection.

/// All that the program has sent on a connection.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stream {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// How it ended, if it did.
    pub end: Option<End>,
}

/// How the program ended a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// In order: it has no more to say.
    Finished,
    /// It neither says nor hears any more. Only Unix sockets tell that from the end of what is said.
    Closed,
    /// It broke the connection off, or refused it.
    Reset,
}

impl Stream {
    /// What changes whenever something is received.
    pub(crate) fn extent(&self) -> (usize, Option<End>) {
        (self.bytes.len(), self.end)
    }
}
