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
    /// A Unix socket, by its path.
    Path(String),
}

impl Address {
    /// The port; nothing for a Unix socket.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        match self {
            Self::Port(port) | Self::Machine(_, port) => Some(*port),
            Self::Path(_) => None,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(port) | Self::Machine(_, port) => write!(f, "port {port}"),
            Self::Path(path) => f.write_str(path),
        }
    }
}
