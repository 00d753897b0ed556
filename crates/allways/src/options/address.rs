//! Where a peer listens, or what it connects to.
//!
//! Names of machines that no peer has a real address for get one of 10.99.0.0/16, a private range
//! (RFC 1918); so a literal address there is refused.

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::net::Ipv4Addr;

/// Where a peer listens, or what it connects to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// A port of the local machine.
    Port(u16),
    /// A port of a machine with a name or a number.
    Host(String, u16),
    /// A UDP port, of a machine with a name or a number or of the local machine.
    Udp(Option<String>, u16),
    /// A Unix socket.
    Path(String),
}

impl Address {
    /// Reads `PORT`, `HOST:PORT`, both with `/udp`, or `/PATH`.
    pub fn read(text: &str) -> Option<Self> {
        match text.strip_suffix("/udp").map(Self::read_tcp) {
            None => Self::read_tcp(text),
            Some(Some(Self::Port(port))) => Some(Self::Udp(None, port)),
            Some(Some(Self::Host(host, port))) => Some(Self::Udp(Some(host), port)),
            Some(_) => Some(text.to_owned()).filter(|text| text.starts_with('/')).map(Self::Path),
        }
    }

    fn read_tcp(text: &str) -> Option<Self> {
        let port = |text: &str| text.parse().ok().filter(|port| *port > 0);
        match text.rsplit_once(':') {
            _ if text.starts_with('/') => Some(Self::Path(text.to_owned())),
            Some((host, at)) => port(at).filter(|_| !host.is_empty()).map(|port| Self::Host(host.to_owned(), port)),
            None => port(text).map(Self::Port),
        }
    }

    /// The TCP port of the local machine, if it is one.
    pub fn local_port(&self) -> Option<u16> {
        match self {
            Self::Port(port) => Some(*port),
            Self::Host(_, port) => Some(*port).filter(|_| self.machine().is_none()),
            Self::Udp(..) | Self::Path(_) => None,
        }
    }

    /// The name or number of the machine; nothing if it is the local one.
    pub fn machine(&self) -> Option<&str> {
        match self {
            Self::Host(host, _) | Self::Udp(Some(host), _) => {
                let is_loopback = host.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback());
                Some(host.as_str()).filter(|host| *host != "localhost" && !is_loopback)
            }
            Self::Port(_) | Self::Udp(None, _) | Self::Path(_) => None,
        }
    }

    /// Whether a text can be the name of a machine (`hostname(7)`).
    pub fn is_name(text: &str) -> bool {
        let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        text.len() <= 253 && text.bytes().all(is_usual) && !is_number && !text.starts_with(['-', '.'])
    }

    /// Why nobody can listen there.
    pub fn refused(&self) -> Option<String> {
        let (Self::Host(host, _) | Self::Udp(Some(host), _)) = self else { return None };
        match host.parse::<Ipv4Addr>() {
            Ok(address) if address.octets()[..2] == [10, 99] => {
                Some(format!("{address} is one of the addresses that names are given (10.99.*.*)"))
            }
            Ok(address) if address.is_unspecified() || address.is_multicast() || address.is_broadcast() => {
                Some(format!("{address} is not the address of a machine"))
            }
            Err(_) if !Self::is_name(host) => Some(format!("`{host}` is neither a name nor an IPv4 address")),
            _ => None,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(port) => write!(f, "{port}"),
            Self::Host(host, port) => write!(f, "{host}:{port}"),
            Self::Udp(None, port) => write!(f, "{port}/udp"),
            Self::Udp(Some(host), port) => write!(f, "{host}:{port}/udp"),
            Self::Path(path) => f.write_str(path),
        }
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, file: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Port(port) => file.serialize_u16(*port),
            other => file.collect_str(other),
        }
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(file: D) -> Result<Self, D::Error> {
        file.deserialize_any(Reader)
    }
}

struct Reader;

impl Reader {
    fn number<E: de::Error>(port: Option<u16>) -> Result<Address, E> {
        port.filter(|port| *port > 0).map(Address::Port).ok_or_else(|| E::custom("a port is a number from 1 to 65535"))
    }
}

impl Visitor<'_> for Reader {
    type Value = Address;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a port, \"HOST:PORT\", \"PORT/udp\", or the path of a Unix socket")
    }

    fn visit_i64<E: de::Error>(self, port: i64) -> Result<Address, E> {
        Self::number(u16::try_from(port).ok())
    }

    fn visit_u64<E: de::Error>(self, port: u64) -> Result<Address, E> {
        Self::number(u16::try_from(port).ok())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Address, E> {
        let wrong = || {
            E::custom(format!(
                "`{text}` is not where something listens: a port, \"HOST:PORT\", \"PORT/udp\", or a path"
            ))
        };
        Address::read(text).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_port_a_host_with_a_port_or_a_path() {
        let host = |host: &str, port| Some(Address::Host(host.to_owned(), port));
        let table = [
            ("6379", Some(Address::Port(6379))),
            ("db.example:5432", host("db.example", 5432)),
            ("10.0.0.1:80", host("10.0.0.1", 80)),
            ("53/udp", Some(Address::Udp(None, 53))),
            ("db:53/udp", Some(Address::Udp(Some("db".to_owned()), 53))),
            ("/run/udp", Some(Address::Path("/run/udp".to_owned()))),
            ("0/udp", None),
            ("/udp/udp", Some(Address::Path("/udp/udp".to_owned()))),
            ("53/tcp", None),
            ("/run/db.sock", Some(Address::Path("/run/db.sock".to_owned()))),
            ("0", None),
            ("x", None),
            (":1", None),
            ("db:", None),
            ("70000", None),
        ];
        for (text, address) in table {
            assert_eq!(Address::read(text), address, "{text}");
            if let Some(address) = address {
                let kept = serde_json::to_value(&address).expect("it can be kept");
                assert_eq!(serde_json::from_value::<Address>(kept).expect("it comes back"), address);
            }
        }
        for text in
            ["10.99.0.1:1", "0.0.0.0:1", "255.255.255.255:1", "::1:1", "a b:1", "1.2.3:1", "-x:1", "0.0.0.0:1/udp"]
        {
            assert!(Address::read(text).is_some_and(|address| address.refused().is_some()), "{text}");
        }
        for text in ["1", "db:1", "db_1.example:1", "192.0.2.1:1"] {
            assert_eq!(Address::read(text).and_then(|address| address.refused()), None, "{text}");
        }
        for (text, machine) in [("127.0.0.2:1", None), ("localhost:1/udp", None), ("db:1", Some("db")), ("1", None)] {
            assert_eq!(Address::read(text).expect("an address").machine(), machine, "{text}");
        }
    }
}
