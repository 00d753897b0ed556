//! What `proc(5)` says of the sockets of a network: who listens where, and what waits there.

use crate::address::Address;
use crate::host::channel::Transit;
use crate::problem::Problem;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// A TCP or UDP socket.
struct InetSocket {
    own_port: u16,
    far_port: u16,
    state: u8,
    /// Whether something was received and not read.
    is_unread: bool,
    /// Datagrams that were lost because there was no room for them.
    lost: u64,
}

/// A socket at a path.
struct UnixSocket {
    is_listening: bool,
    /// It is the other end of a connection that was not accepted.
    is_waiting: bool,
}

/// States of `tcp(7)`, as the kernel numbers them.
const SYN_SENT: u8 = 2;
const SYN_RECEIVED: u8 = 3;
const LISTENING: u8 = 10;

/// Whether a process listens at an address of the network that a process is on.
pub(crate) fn listens(pid: &str, address: &Address) -> bool {
    match address {
        Address::Tcp(port) => inet(pid, "tcp").any(|socket| socket.own_port == *port && socket.state == LISTENING),
        Address::Udp(port) => inet(pid, "udp").any(|socket| socket.own_port == *port),
        Address::Unix(path) => unix(pid, path).any(|socket| socket.is_listening),
    }
}

/// Whether somebody is about to connect to a port of the network that a process is on, or to get there.
pub(crate) fn is_approached(pid: &str, port: u16) -> bool {
    inet(pid, "tcp").any(|socket| match socket.state {
        SYN_SENT => socket.far_port == port,
        SYN_RECEIVED => socket.own_port == port,
        _ => false,
    })
}

/// Whether something waits where a program listens, and that belongs to no connection that is asked for itself.
pub(crate) fn waiting(pid: &str, address: &Address) -> Result<Transit, Problem> {
    match address {
        Address::Tcp(_) => Ok(Ok(false)),
        Address::Udp(port) => datagrams(pid, *port),
        Address::Unix(path) => Ok(Ok(unix(pid, path).any(|socket| socket.is_waiting))),
    }
}

/// Whether datagrams to a port are not read; or some are on their way.
fn datagrams(pid: &str, port: u16) -> Result<Transit, Problem> {
    if !is_all_delivered(pid) {
        return Ok(Err("has a datagram on its way"));
    }
    let all: Vec<InetSocket> = inet(pid, "udp").filter(|socket| socket.own_port == port).collect();
    match all.iter().any(|socket| socket.lost > 0) {
        true => Err(Problem::Unmodelled("has no room for datagrams that were sent to it".to_owned())),
        false => Ok(Ok(all.iter().any(|socket| socket.is_unread))),
    }
}

/// Whether all packets that were sent on a network of its own have been handled to their end.
///
/// A packet is counted when it is sent, and again once its receiver has it and was woken. On a network with nothing but the
/// loopback device both counts are equal when nothing is on its way.
fn is_all_delivered(pid: &str) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/net/snmp")).unwrap_or_default();
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Ip: "));
    let (Some(names), Some(counts)) = (lines.next(), lines.next()) else { return false };
    let count = |name: &str| {
        let mut both = names.split_whitespace().zip(counts.split_whitespace());
        both.find(|(of, _)| *of == name).map(|(_, count)| count)
    };
    count("InDelivers").is_some() && count("InDelivers") == count("OutRequests")
}

/// The sockets of a protocol, of both families.
fn inet(pid: &str, protocol: &str) -> impl Iterator<Item = InetSocket> {
    let table = |family: &str| fs::read_to_string(format!("/proc/{pid}/net/{protocol}{family}")).unwrap_or_default();
    let lines = format!("{}{}", table(""), table("6"));
    lines.lines().filter_map(inet_socket).collect::<Vec<_>>().into_iter()
}

/// A line: number, own address, the other one, state, queues, times, retransmits, user, timeout, inode, count, pointer, lost.
fn inet_socket(line: &str) -> Option<InetSocket> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let port = |word: &str| u16::from_str_radix(word.rsplit_once(':')?.1, 16).ok();
    let unread = words.get(4)?.split_once(':')?.1;
    Some(InetSocket {
        own_port: port(words.get(1)?)?,
        far_port: port(words.get(2)?)?,
        state: u8::from_str_radix(words.get(3)?, 16).ok()?,
        is_unread: unread.bytes().any(|digit| digit != b'0'),
        lost: words.get(12).and_then(|word| word.parse().ok()).unwrap_or(0),
    })
}

/// The sockets at a path: as whoever bound it has named it, which may be from its own folder or by another way. There are no
/// others on a network of its own but those of the program.
fn unix(pid: &str, path: &Path) -> impl Iterator<Item = UnixSocket> {
    let text = fs::read_to_string(format!("/proc/{pid}/net/unix")).unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_owned();
    text.lines().filter_map(|line| unix_socket(line, &name)).collect::<Vec<_>>().into_iter()
}

/// A line: pointer, count, protocol, flags, type, state, inode, path.
fn unix_socket(line: &str, name: &OsStr) -> Option<UnixSocket> {
    const ACCEPTS: u64 = 1 << 16;
    const CONNECTING: &str = "02";
    let (mut words, mut path) = ([""; 7], line);
    for word in &mut words {
        (*word, path) = path.trim_start().split_once(' ')?;
    }
    let [_, _, _, flags, _, state, _] = words;
    let is_named = Path::new(path).file_name() == Some(name);
    let flags = u64::from_str_radix(flags, 16).ok()?;
    is_named.then(|| UnixSocket { is_listening: flags & ACCEPTS != 0, is_waiting: state == CONNECTING })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_at_a_path_are_told_by_their_name() {
        let table = [
            ("0000: 00000002 00000000 00010000 0001 01 12345 /run/a b.sock", Some((true, false))),
            ("0000: 00000002 00000000 00010000 0001 01 12345 a b.sock", Some((true, false))),
            ("0000: 00000002 00000000 00000000 0001 02     0 /run/a b.sock", Some((false, true))),
            ("0000: 00000003 00000000 00000000 0001 03 12345 /run/a b.sock", Some((false, false))),
            ("0000: 00000003 00000000 00000000 0001 03 12345 /run/b.sock", None),
            ("0000: 00000003 00000000 00000000 0001 03 12345", None),
            ("Num       RefCount Protocol Flags    Type St Inode Path", None),
        ];
        for (line, expected) in table {
            let found = unix_socket(line, OsStr::new("a b.sock"));
            assert_eq!(found.map(|socket| (socket.is_listening, socket.is_waiting)), expected, "{line}");
        }
    }

    #[test]
    fn a_line_of_a_port_tells_what_is_unread_and_lost() {
        let line = "  10: 0100007F:14B4 00000000:0000 07 00000000:00000300 00:00000000 00000000 0 0 6 2 0 4";
        let socket = inet_socket(line).expect("a socket");
        assert_eq!((socket.own_port, socket.far_port, socket.state), (5300, 0, 7));
        assert_eq!((socket.is_unread, socket.lost), (true, 4));
        assert!(inet_socket("  sl  local_address rem_address   st tx_queue rx_queue tr").is_none());
    }
}
