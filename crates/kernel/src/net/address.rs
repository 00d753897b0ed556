//! Names of sockets (`struct sockaddr`).

use super::family::Family;
use crate::errno::{EAFNOSUPPORT, EINVAL, Errno};
use crate::id::Id;
use std::net::{Ipv4Addr, Ipv6Addr};

/// `AF_UNSPEC`: connecting to it disconnects.
pub const AF_UNSPEC: u16 = 0;
/// `AF_UNIX`.
pub const AF_UNIX: u16 = 1;
/// `AF_INET`.
pub const AF_INET: u16 = 2;
/// `AF_INET6`.
pub const AF_INET6: u16 = 10;

/// Bytes of the longest name: `struct sockaddr_storage`.
pub const NAME_MAX: usize = 128;
/// Bytes of `struct sockaddr_in`.
const INET: usize = 16;
/// Bytes of `struct sockaddr_in6` without its scope (Linux's `SIN6_LEN_RFC2133`).
const INET6_MIN: usize = 24;
/// Bytes of `struct sockaddr_un`.
const UNIX: usize = 110;

/// The name of a socket.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Name {
    /// Address and port.
    Inet(Endpoint),
    /// A path in the file system, and the inode that it led to.
    Path(Vec<u8>, Id),
    /// A name outside the file system (`unix(7)`, abstract).
    Abstract(Vec<u8>),
}

/// An address and a port; IPv4 addresses are mapped (`::ffff:0:0/96`), as on a socket that speaks both.
///
/// One representation for both versions, so that an IPv6 socket that also speaks IPv4 compares
/// addresses without asking which it is (`ipv6(7)`, v4-mapped addresses).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Endpoint {
    /// Address.
    pub ip: Ipv6Addr,
    /// Port.
    pub port: u16,
}

/// What the guest gave as a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Given {
    /// `AF_UNSPEC`.
    Nothing,
    /// Address and port.
    Inet(Endpoint),
    /// A path.
    Path(Vec<u8>),
    /// An abstract name.
    Abstract(Vec<u8>),
    /// Only the family: a Unix socket takes a name of its own.
    Auto,
}

/// `INADDR_ANY`, mapped.
pub const ANY_V4: Ipv6Addr = Ipv4Addr::UNSPECIFIED.to_ipv6_mapped();
/// `INADDR_LOOPBACK`, mapped.
pub const LOOPBACK_V4: Ipv6Addr = Ipv4Addr::LOCALHOST.to_ipv6_mapped();

impl Endpoint {
    /// Whether it stands for all addresses.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.ip == ANY_V4 || self.ip.is_unspecified()
    }

    /// Whether it is an IPv4 address.
    #[must_use]
    pub fn is_v4(&self) -> bool {
        self.ip.to_ipv4_mapped().is_some()
    }

    /// Whether it is an address of this machine; the loopback interface is the only one.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.is_any() || self.ip.is_loopback() || self.ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback())
    }

    /// The address that talks to this one: the loopback address of the same version.
    #[must_use]
    pub fn source(&self) -> Ipv6Addr {
        if self.is_v4() { LOOPBACK_V4 } else { Ipv6Addr::LOCALHOST }
    }

    /// Where a packet to it goes: all addresses means this machine.
    #[must_use]
    pub fn destination(self) -> Self {
        if self.is_any() { Self { ip: self.source(), ..self } } else { self }
    }
}

pub(super) fn decode(bytes: &[u8], family: Family) -> Result<Given, Errno> {
    let kind = u16::from_le_bytes(*bytes.first_chunk().ok_or(EINVAL)?);
    match (family, kind) {
        (Family::Inet, AF_INET) => decode_v4(bytes),
        (Family::Inet6, AF_INET6) => decode_v6(bytes),
        (Family::Unix, AF_UNIX) => decode_unix(bytes),
        (_, AF_UNSPEC) => Ok(Given::Nothing),
        // An IPv6 socket may be told an IPv4 destination, as UDP's `sendto(2)` allows.
        (Family::Inet6, AF_INET) => Err(if bytes.len() < INET6_MIN { EINVAL } else { EAFNOSUPPORT }),
        (Family::Inet | Family::Inet6, _) if bytes.len() < INET => Err(EINVAL),
        (Family::Inet | Family::Inet6, _) => Err(EAFNOSUPPORT),
        (Family::Unix, _) => Err(EINVAL),
    }
}

fn decode_v4(bytes: &[u8]) -> Result<Given, Errno> {
    let bytes: &[u8; INET] = bytes.first_chunk().ok_or(EINVAL)?;
    let ip = Ipv4Addr::new(bytes[4], bytes[5], bytes[6], bytes[7]);
    Ok(Given::Inet(Endpoint { ip: ip.to_ipv6_mapped(), port: u16::from_be_bytes([bytes[2], bytes[3]]) }))
}

fn decode_v6(bytes: &[u8]) -> Result<Given, Errno> {
    let bytes: &[u8; INET6_MIN] = bytes.first_chunk().ok_or(EINVAL)?;
    let ip: [u8; 16] = bytes[8..24].try_into().expect("sixteen bytes");
    Ok(Given::Inet(Endpoint { ip: ip.into(), port: u16::from_be_bytes([bytes[2], bytes[3]]) }))
}

/// `unix(7)`, "Address format": a path ends at its zero byte, an abstract name has the given length.
fn decode_unix(bytes: &[u8]) -> Result<Given, Errno> {
    let name = &bytes[2..];
    match name.first() {
        _ if bytes.len() > UNIX => Err(EINVAL),
        None => Ok(Given::Auto),
        Some(0) => Ok(Given::Abstract(name[1..].to_vec())),
        Some(_) => Ok(Given::Path(name.split(|byte| *byte == 0).next().unwrap_or_default().to_vec())),
    }
}

/// The bytes of a name as a socket of this family shows it; a socket without name shows its family, and for Internet
/// sockets zeros.
#[must_use]
pub fn encode(name: Option<&Name>, family: Family) -> Vec<u8> {
    match (family, name) {
        (Family::Inet, Some(Name::Inet(endpoint))) => encode_v4(*endpoint),
        (Family::Inet6, Some(Name::Inet(endpoint))) => encode_v6(*endpoint),
        (Family::Inet, _) => encode_v4(Endpoint { ip: ANY_V4, port: 0 }),
        (Family::Inet6, _) => encode_v6(Endpoint { ip: Ipv6Addr::UNSPECIFIED, port: 0 }),
        (Family::Unix, name) => encode_unix(name),
    }
}

fn encode_v4(endpoint: Endpoint) -> Vec<u8> {
    let ip = endpoint.ip.to_ipv4_mapped().unwrap_or(Ipv4Addr::UNSPECIFIED);
    [&AF_INET.to_le_bytes()[..], &endpoint.port.to_be_bytes(), &ip.octets(), &[0; 8]].concat()
}

fn encode_v6(endpoint: Endpoint) -> Vec<u8> {
    let ip = endpoint.ip.octets();
    [&AF_INET6.to_le_bytes()[..], &endpoint.port.to_be_bytes(), &[0; 4], &ip, &[0; 4]].concat()
}

fn encode_unix(name: Option<&Name>) -> Vec<u8> {
    let family = AF_UNIX.to_le_bytes();
    match name {
        Some(Name::Path(path, _)) => [&family[..], path, &[0]].concat(),
        Some(Name::Abstract(name)) => [&family[..], &[0], name].concat(),
        _ => family.to_vec(),
    }
}
