//! Options of sockets (`socket(7)`, `tcp(7)`, `ip(7)`, `ipv6(7)`).

use super::family::{Family, Kind};
use std::collections::BTreeMap;

/// `SOL_SOCKET`.
pub const SOL_SOCKET: i32 = 1;
/// `IPPROTO_IP`.
pub const SOL_IP: i32 = 0;
/// `IPPROTO_TCP`.
pub const SOL_TCP: i32 = 6;
/// `IPPROTO_UDP`.
pub const SOL_UDP: i32 = 17;
/// `IPPROTO_IPV6`.
pub const SOL_IPV6: i32 = 41;

/// An option: level and number.
pub type Key = (i32, i32);

/// May bind to a name that old connections still use.
pub const SO_REUSEADDR: Key = (SOL_SOCKET, 2);
/// May share a name with others that set it.
pub const SO_REUSEPORT: Key = (SOL_SOCKET, 15);
/// Messages tell who sent them.
pub const SO_PASSCRED: Key = (SOL_SOCKET, 16);
/// How many bytes make a stream readable.
pub const SO_RCVLOWAT: Key = (SOL_SOCKET, 18);
/// Datagrams are held back until this is switched off.
pub const UDP_CORK: Key = (SOL_UDP, 1);
/// An IPv6 socket does not speak IPv4.
pub const IPV6_V6ONLY: Key = (SOL_IPV6, 26);
/// Errors of datagrams are reported even without a connection.
pub const IP_RECVERR: Key = (SOL_IP, 11);
/// The same for IPv6.
pub const IPV6_RECVERR: Key = (SOL_IPV6, 25);

/// How an option's value is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Not zero means 1.
    Switch,
    /// A number between these two.
    Number(i32, i32),
    /// Only this default: asking for something else is not modelled.
    Fixed,
}

/// One option that is an `int` and does not need more than being remembered; those with an effect are read elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Plain {
    /// Level and number.
    pub key: Key,
    /// Its name.
    pub name: &'static str,
    /// Its first value.
    pub default: i32,
    /// What values it takes.
    pub shape: Shape,
}

const fn plain(level: i32, number: i32, name: &'static str, default: i32, shape: Shape) -> Plain {
    Plain { key: (level, number), name, default, shape }
}

use Shape::{Fixed, Number, Switch};

/// All plain options. Those about timing and packets (`TCP_NODELAY`, `SO_KEEPALIVE`, `IP_TOS`, ...) change nothing that a
/// program could notice on a loopback interface that loses nothing.
pub const PLAIN: &[Plain] = &[
    plain(SOL_SOCKET, 1, "SO_DEBUG", 0, Fixed),
    plain(SOL_SOCKET, 2, "SO_REUSEADDR", 0, Switch),
    plain(SOL_SOCKET, 5, "SO_DONTROUTE", 0, Switch),
    plain(SOL_SOCKET, 6, "SO_BROADCAST", 0, Switch),
    plain(SOL_SOCKET, 9, "SO_KEEPALIVE", 0, Switch),
    plain(SOL_SOCKET, 10, "SO_OOBINLINE", 0, Switch),
    plain(SOL_SOCKET, 11, "SO_NO_CHECK", 0, Switch),
    plain(SOL_SOCKET, 12, "SO_PRIORITY", 0, Number(0, 6)),
    plain(SOL_SOCKET, 15, "SO_REUSEPORT", 0, Switch),
    plain(SOL_SOCKET, 16, "SO_PASSCRED", 0, Switch),
    plain(SOL_SOCKET, 18, "SO_RCVLOWAT", 1, Number(i32::MIN, i32::MAX)),
    plain(SOL_SOCKET, 29, "SO_TIMESTAMP", 0, Fixed),
    plain(SOL_SOCKET, 35, "SO_TIMESTAMPNS", 0, Fixed),
    plain(SOL_SOCKET, 36, "SO_MARK", 0, Number(i32::MIN, i32::MAX)),
    plain(SOL_SOCKET, 40, "SO_RXQ_OVFL", 0, Fixed),
    plain(SOL_SOCKET, 46, "SO_BUSY_POLL", 0, Number(0, i32::MAX)),
    plain(SOL_TCP, 1, "TCP_NODELAY", 0, Switch),
    plain(SOL_TCP, 2, "TCP_MAXSEG", 536, Number(88, 32767)),
    plain(SOL_TCP, 3, "TCP_CORK", 0, Switch),
    plain(SOL_TCP, 4, "TCP_KEEPIDLE", 7200, Number(1, 32767)),
    plain(SOL_TCP, 5, "TCP_KEEPINTVL", 75, Number(1, 32767)),
    plain(SOL_TCP, 6, "TCP_KEEPCNT", 9, Number(1, 127)),
    plain(SOL_TCP, 7, "TCP_SYNCNT", 6, Number(1, 127)),
    plain(SOL_TCP, 8, "TCP_LINGER2", 60, Number(i32::MIN, i32::MAX)),
    plain(SOL_TCP, 9, "TCP_DEFER_ACCEPT", 0, Number(i32::MIN, i32::MAX)),
    plain(SOL_TCP, 10, "TCP_WINDOW_CLAMP", 0, Number(0, i32::MAX)),
    plain(SOL_TCP, 12, "TCP_QUICKACK", 1, Switch),
    plain(SOL_TCP, 18, "TCP_USER_TIMEOUT", 0, Number(0, i32::MAX)),
    plain(SOL_TCP, 23, "TCP_FASTOPEN", 0, Number(0, i32::MAX)),
    plain(SOL_TCP, 25, "TCP_NOTSENT_LOWAT", 0, Number(i32::MIN, i32::MAX)),
    plain(SOL_TCP, 30, "TCP_FASTOPEN_CONNECT", 0, Fixed),
    plain(SOL_UDP, 1, "UDP_CORK", 0, Switch),
    plain(SOL_IP, 1, "IP_TOS", 0, Number(0, 255)),
    plain(SOL_IP, 2, "IP_TTL", 64, Number(1, 255)),
    plain(SOL_IP, 8, "IP_PKTINFO", 0, Fixed),
    plain(SOL_IP, 10, "IP_MTU_DISCOVER", 1, Number(0, 5)),
    plain(SOL_IP, 11, "IP_RECVERR", 0, Switch),
    plain(SOL_IP, 12, "IP_RECVTTL", 0, Fixed),
    plain(SOL_IP, 13, "IP_RECVTOS", 0, Fixed),
    plain(SOL_IP, 15, "IP_FREEBIND", 0, Fixed),
    plain(SOL_IP, 24, "IP_BIND_ADDRESS_NO_PORT", 0, Switch),
    plain(SOL_IP, 33, "IP_MULTICAST_TTL", 1, Number(0, 255)),
    plain(SOL_IP, 34, "IP_MULTICAST_LOOP", 1, Switch),
    plain(SOL_IPV6, 16, "IPV6_UNICAST_HOPS", 64, Number(-1, 255)),
    plain(SOL_IPV6, 18, "IPV6_MULTICAST_HOPS", 1, Number(-1, 255)),
    plain(SOL_IPV6, 19, "IPV6_MULTICAST_LOOP", 1, Switch),
    plain(SOL_IPV6, 23, "IPV6_MTU_DISCOVER", 1, Number(0, 5)),
    plain(SOL_IPV6, 25, "IPV6_RECVERR", 0, Switch),
    plain(SOL_IPV6, 26, "IPV6_V6ONLY", 0, Switch),
    plain(SOL_IPV6, 49, "IPV6_RECVPKTINFO", 0, Fixed),
    plain(SOL_IPV6, 67, "IPV6_TCLASS", 0, Number(-1, 255)),
];

/// The row of a plain option.
#[must_use]
pub fn find(key: Key) -> Option<&'static Plain> {
    PLAIN.iter().find(|plain| plain.key == key)
}

/// `net.core.wmem_max` and `net.core.rmem_max`, and the buffers that sockets start with.
pub const BUFFER_MAX: i32 = 212_992;
/// `SOCK_MIN_SNDBUF`.
pub const SEND_BUFFER_MIN: usize = 4608;
/// `SOCK_MIN_RCVBUF`.
pub const RECEIVE_BUFFER_MIN: usize = 2304;
/// The middle of `tcp_wmem` and `tcp_rmem` (`tcp(7)`). Linux would let them grow with use; ours stay.
const TCP_BUFFERS: (usize, usize) = (16_384, 131_072);

/// The options of one socket.
///
/// **Invariant:** `changed` has no entry that equals its default: sockets with the same options are
/// equal, however they got them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Options {
    /// Plain options that were changed.
    changed: BTreeMap<Key, i32>,
    /// `SO_SNDBUF`, as `getsockopt(2)` shows it: twice what was asked for.
    pub send_buffer: usize,
    /// `SO_RCVBUF`.
    pub receive_buffer: usize,
    /// `SO_LINGER`, in seconds.
    pub linger: Option<u32>,
    /// `SO_RCVTIMEO`, in nanoseconds.
    pub receive_timeout: Option<u64>,
    /// `SO_SNDTIMEO`.
    pub send_timeout: Option<u64>,
}

impl Options {
    /// The options of a new socket.
    #[must_use]
    pub fn new(family: Family, kind: Kind) -> Self {
        let (send_buffer, receive_buffer) = match (family, kind) {
            (Family::Inet | Family::Inet6, Kind::Stream) => TCP_BUFFERS,
            _ => (BUFFER_MAX as usize, BUFFER_MAX as usize),
        };
        Self {
            changed: BTreeMap::new(),
            send_buffer,
            receive_buffer,
            linger: None,
            receive_timeout: None,
            send_timeout: None,
        }
    }

    /// The value of a plain option.
    #[must_use]
    pub fn get(&self, key: Key) -> i32 {
        let default = || find(key).map_or(0, |plain| plain.default);
        self.changed.get(&key).copied().unwrap_or_else(default)
    }

    /// Whether a plain option is on.
    #[must_use]
    pub fn is_on(&self, key: Key) -> bool {
        self.get(key) != 0
    }

    /// Sets a plain option; one that is back at its default leaves no trace.
    pub fn set(&mut self, key: Key, value: i32) {
        self.changed.insert(key, value);
        if find(key).is_some_and(|plain| plain.default == value) {
            self.changed.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_set_back_to_its_default_leaves_no_trace() {
        let fresh = Options::new(Family::Inet, Kind::Stream);
        let mut options = fresh.clone();
        options.set(SO_REUSEADDR, 1);
        assert!(options.is_on(SO_REUSEADDR));
        assert_ne!(options, fresh);
        options.set(SO_REUSEADDR, 0);
        assert_eq!(options, fresh);
    }

    #[test]
    fn every_plain_option_has_its_own_number() {
        let keys: std::collections::BTreeSet<Key> = PLAIN.iter().map(|plain| plain.key).collect();
        assert_eq!(keys.len(), PLAIN.len());
    }
}
