//! Address families and kinds of communication.

/// Address families.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Family {
    /// IPv4.
    Inet,
    /// IPv6, and IPv4 by mapped addresses.
    Inet6,
    /// `unix(7)`.
    Unix,
}

/// The protocols that have ports.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

/// Kinds of communication.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// `SOCK_STREAM`: bytes.
    Stream,
    /// `SOCK_DGRAM`: messages, each on its own.
    Datagram,
    /// `SOCK_SEQPACKET`: messages over a connection.
    Packets,
}
