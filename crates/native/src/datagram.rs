//! What came back for datagrams.

/// An answer to datagrams.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Datagram {
    /// A datagram.
    Bytes(Vec<u8>),
    /// Nobody was there to receive one (ICMP, port unreachable).
    Unreachable,
}
