//! Our end of a way to the program: a TCP connection, one over a Unix socket, or a flow of datagrams.

use crate::datagram::Datagram;
use crate::host::diag::Diagnosis;
use crate::problem::Problem;
use crate::stream::{End, Stream};

/// Whether everything has arrived, on both sides: whether the program has not read all of it; or what is still on its way.
pub(crate) type Transit = Result<bool, &'static str>;

/// Our end of a way to the program, and what came over it.
pub(crate) trait Channel: Send {
    /// Sends bytes, at once or as soon as there is room.
    fn send(&mut self, bytes: &[u8]);
    /// Says that no more will be sent.
    fn finish(&mut self);
    /// Says that no more will be sent or received.
    fn close(&mut self);
    /// Breaks it off.
    fn reset(&mut self);
    /// Gives it up, so that nothing is left of it when the program ends.
    fn abandon(&mut self);
    /// Sends and receives what can be without waiting; whether there was anything.
    fn pump(&mut self) -> bool;
    /// Whether everything has arrived; an error if what the program does with it cannot be told.
    fn transit(&self, diagnosis: &Diagnosis) -> Result<Transit, Problem>;
    /// Notes that it is at rest.
    fn note_rest(&mut self);
    /// Whether nothing can happen on it any more, and it was at rest since.
    fn is_over(&self) -> bool;
    /// The bytes that were received, and their end.
    fn stream(&self) -> &Stream;

    /// The datagrams that were received.
    fn datagrams(&self) -> &[Datagram] {
        &[]
    }

    /// What changes whenever something is received.
    fn extent(&self) -> (usize, Option<End>) {
        let stream = self.stream();
        (stream.bytes.len() + self.datagrams().len(), stream.end)
    }
}
