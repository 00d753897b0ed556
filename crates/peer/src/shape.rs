//! Which side opens the connections, and where.

use std::fmt;
use std::net::Ipv4Addr;

/// Which side opens the connections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// The programs connect to where the peer listens.
    Listens(Address),
    /// The peer connects to a port on which a program listens.
    Connects(u16),
}

/// Where a peer listens, as the programs see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// A port of the local machine.
    Port(u16),
    /// A port of another machine. To itself a peer is on the local machine.
    Machine(Ipv4Addr, u16),
    /// A UDP port of a machine; that of the local one is 127.0.0.1.
    Udp(Ipv4Addr, u16),
    /// A Unix socket, by its path.
    Path(String),
}

impl Address {
    /// The TCP port, if it is one.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        match self {
            Self::Port(port) | Self::Machine(_, port) => Some(*port),
            Self::Udp(..) | Self::Path(_) => None,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(port) | Self::Machine(_, port) => write!(f, "port {port}"),
            Self::Udp(_, port) => write!(f, "UDP port {port}"),
            Self::Path(path) => f.write_str(path),
        }
    }
}
