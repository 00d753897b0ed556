//! Where a program is reached, as it sees it.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// What tells a UDP port from a TCP one.
const UDP: &[u8] = b"/udp";

/// Where a program is reached, as it sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// A TCP port of the local machine.
    Tcp(u16),
    /// A UDP port of the local machine.
    Udp(u16),
    /// A Unix socket, by its path from the root.
    Unix(PathBuf),
}

impl Address {
    /// As an argument of another process.
    pub(crate) fn word(&self) -> OsString {
        match self {
            Self::Tcp(port) => port.to_string().into(),
            Self::Udp(port) => format!("{port}/udp").into(),
            Self::Unix(path) => path.clone().into(),
        }
    }

    /// From such an argument.
    pub(crate) fn read(word: &[u8]) -> Option<Self> {
        if word.starts_with(b"/") {
            return Some(Self::Unix(OsString::from_vec(word.to_vec()).into()));
        }
        let port = |digits: &[u8]| OsStr::from_bytes(digits).to_str()?.parse().ok();
        match word.strip_suffix(UDP) {
            Some(digits) => port(digits).map(Self::Udp),
            None => port(word).map(Self::Tcp),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(port) => write!(f, "port {port}"),
            Self::Udp(port) => write!(f, "UDP port {port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_comes_back_as_the_same_address() {
        for address in [Address::Tcp(7000), Address::Udp(53), Address::Unix("/run/53/udp".into())] {
            assert_eq!(Address::read(address.word().as_bytes()), Some(address));
        }
        assert_eq!([&b"udp"[..], b"70000", b"", b"x/udp"].map(Address::read), [None, None, None, None]);
    }
}
