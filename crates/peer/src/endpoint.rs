//! What a peer on the host is driven by: its connections, and when it has answered.

use ::native::{Datagram, Instance, Problem, Status, Stream};

/// One history of a peer on the host. It cannot go back.
///
/// Two things are hidden behind it: whether the program was started by us, and how it is known that it has answered. A process of
/// ours is observed until all of its threads are blocked (`native/src/linux/rest.rs`); of a remote one only messages are seen.
///
/// **Invariant:** after `rest`, streams do not grow unless something is said. If they do, `has_spoken` says so, and no answer
/// of this history is used any more.
pub(crate) trait Endpoint: Send {
    /// Opens a connection, or a flow of datagrams; its number, from 0.
    fn open(&mut self) -> Result<usize, Problem>;
    /// Sends bytes on a connection.
    fn send(&mut self, connection: usize, bytes: &[u8]);
    /// Says that no more will be sent on a connection.
    fn finish(&mut self, connection: usize);
    /// Says that no more will be sent or received on a connection.
    fn close(&mut self, connection: usize);
    /// Breaks a connection off.
    fn reset(&mut self, connection: usize);
    /// All that was received on a connection.
    fn stream(&self, connection: usize) -> &Stream;
    /// All datagrams that were received in a flow.
    fn datagrams(&self, flow: usize) -> &[Datagram];
    /// Waits until it has answered.
    fn rest(&mut self, stop: &dyn Fn() -> bool) -> Result<(), Problem>;
    /// Whether it has said something since it had answered.
    fn has_spoken(&mut self) -> bool;
    /// How it ended, if it did.
    fn status(&self) -> Option<Status>;
    /// Connections so far.
    fn connections(&self) -> usize;
    /// Whether it opens connections itself.
    fn is_client(&self) -> bool;
    /// Whether nothing can happen on any connection any more.
    fn is_free(&self) -> bool;
    /// Whether there can be no others at the same time: they would share where it listens, or what it remembers.
    fn is_alone(&self) -> bool;
}

impl Endpoint for Instance {
    fn open(&mut self) -> Result<usize, Problem> {
        self.open()
    }

    fn send(&mut self, connection: usize, bytes: &[u8]) {
        self.send(connection, bytes);
    }

    fn finish(&mut self, connection: usize) {
        self.finish(connection);
    }

    fn close(&mut self, connection: usize) {
        self.close(connection);
    }

    fn reset(&mut self, connection: usize) {
        self.reset(connection);
    }

    fn stream(&self, connection: usize) -> &Stream {
        self.stream(connection)
    }

    fn datagrams(&self, flow: usize) -> &[Datagram] {
        self.datagrams(flow)
    }

    fn rest(&mut self, stop: &dyn Fn() -> bool) -> Result<(), Problem> {
        self.rest(stop)
    }

    fn has_spoken(&mut self) -> bool {
        self.has_spoken()
    }

    fn status(&self) -> Option<Status> {
        self.status()
    }

    fn connections(&self) -> usize {
        self.connections()
    }

    fn is_client(&self) -> bool {
        self.is_client()
    }

    fn is_free(&self) -> bool {
        self.is_free()
    }

    fn is_alone(&self) -> bool {
        self.is_alone()
    }
}
