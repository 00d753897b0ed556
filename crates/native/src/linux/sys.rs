//! System calls that the standard library does not have, as safe functions.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The result of a call that says -1 if it fails.
pub(crate) fn checked(result: i64) -> io::Result<i64> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A descriptor that a call has just made.
fn owned(result: i64) -> io::Result<OwnedFd> {
    let fd = checked(result)? as RawFd;
    // SAFETY: the kernel gave this number to us just now, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// `socket(2)`, closed on exec.
pub(crate) fn socket(domain: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    // SAFETY: numbers only.
    owned(i64::from(unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) }))
}

/// `socketpair(2)` of local sockets, closed on exec.
pub(crate) fn socket_pair(kind: i32) -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: room for two descriptors.
    let made = unsafe { libc::socketpair(libc::AF_UNIX, kind | libc::SOCK_CLOEXEC, 0, fds.as_mut_ptr()) };
    checked(i64::from(made))?;
    Ok((owned(i64::from(fds[0]))?, owned(i64::from(fds[1]))?))
}

/// `signalfd(2)` for one signal, which is blocked.
pub(crate) fn signal_fd(signal: i32) -> io::Result<OwnedFd> {
    // SAFETY: a signal set is plain data, filled by `sigemptyset` before it is used.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set lives as long as the calls.
    let fd = unsafe {
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    };
    owned(i64::from(fd))
}

/// Sets an option of a socket.
pub(crate) fn set_option<T>(fd: &OwnedFd, level: i32, name: i32, value: &T) -> io::Result<()> {
    let size = size_of::<T>() as libc::socklen_t;
    // SAFETY: the value lives as long as the call, and the size is its own.
    let set = unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, std::ptr::from_ref(value).cast(), size) };
    checked(i64::from(set)).map(drop)
}

/// An address of the local machine.
fn loopback(port: u16) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_be_bytes([127, 0, 0, 1]).to_be() },
        sin_zero: [0; 8],
    }
}

/// `bind(2)` to a port of the local machine.
pub(crate) fn bind(fd: &OwnedFd, port: u16) -> io::Result<()> {
    let (address, size) = (loopback(port), size_of::<libc::sockaddr_in>() as libc::socklen_t);
    // SAFETY: the address lives as long as the call.
    let bound = unsafe { libc::bind(fd.as_raw_fd(), std::ptr::from_ref(&address).cast(), size) };
    checked(i64::from(bound)).map(drop)
}

/// `connect(2)` to a Unix socket that a descriptor leads to: through `/proc`, because it may lie in another mount namespace.
pub(crate) fn connect_unix(fd: &OwnedFd, to: &OwnedFd) -> io::Result<()> {
    let path = format!("/proc/self/fd/{}", to.as_raw_fd());
    // SAFETY: plain data.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, from) in address.sun_path.iter_mut().zip(path.bytes()) {
        *to = from as libc::c_char;
    }
    let size = size_of::<libc::sockaddr_un>() as libc::socklen_t;
    // SAFETY: the address lives as long as the call, and ends with a zero.
    let connected = unsafe { libc::connect(fd.as_raw_fd(), std::ptr::from_ref(&address).cast(), size) };
    checked(i64::from(connected)).map(drop)
}

/// A descriptor that leads to a file, and can do nothing with it.
pub(crate) fn lead_to(path: &Path) -> io::Result<OwnedFd> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: a path that lives as long as the call.
    owned(i64::from(unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) }))
}

/// A socket that listens on a port of the local machine, and does not wait.
pub(crate) fn listener(port: u16) -> io::Result<OwnedFd> {
    const BACKLOG: i32 = 256;
    let listener = socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_NONBLOCK, 0)?;
    set_option(&listener, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1)?;
    bind(&listener, port)?;
    // SAFETY: numbers only.
    checked(i64::from(unsafe { libc::listen(listener.as_raw_fd(), BACKLOG) }))?;
    Ok(listener)
}

/// A connection that waits at a listener, and the port that it comes from; nothing if there is none.
pub(crate) fn accept(listener: &OwnedFd) -> Option<(OwnedFd, u16)> {
    let (mut address, mut size) = (loopback(0), size_of::<libc::sockaddr_in>() as libc::socklen_t);
    let (name, flags) = (std::ptr::from_mut(&mut address).cast(), libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC);
    // SAFETY: room for an address of this size.
    let accepted = unsafe { libc::accept4(listener.as_raw_fd(), name, &mut size, flags) };
    owned(i64::from(accepted)).ok().map(|connection| (connection, u16::from_be(address.sin_port)))
}

/// `connect(2)` to a port of the local machine.
pub(crate) fn connect(fd: &OwnedFd, port: u16) -> io::Result<()> {
    let (address, size) = (loopback(port), size_of::<libc::sockaddr_in>() as libc::socklen_t);
    // SAFETY: the address lives as long as the call.
    let connected = unsafe { libc::connect(fd.as_raw_fd(), std::ptr::from_ref(&address).cast(), size) };
    checked(i64::from(connected)).map(drop)
}

/// The port of a socket's own address.
pub(crate) fn own_port(fd: &OwnedFd) -> io::Result<u16> {
    let (mut address, mut size) = (loopback(0), size_of::<libc::sockaddr_in>() as libc::socklen_t);
    // SAFETY: room for an address of this size.
    let named = unsafe { libc::getsockname(fd.as_raw_fd(), std::ptr::from_mut(&mut address).cast(), &mut size) };
    checked(i64::from(named))?;
    Ok(u16::from_be(address.sin_port))
}

/// `shutdown(2)` of the sending side.
pub(crate) fn finish(fd: &OwnedFd) {
    // SAFETY: numbers only. It fails if the connection is gone, which is as good.
    unsafe { libc::shutdown(fd.as_raw_fd(), libc::SHUT_WR) };
}

/// `send(2)` without a signal.
pub(crate) fn send(fd: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: the bytes live as long as the call.
    let sent = unsafe { libc::send(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
    checked(sent as i64).map(|sent| sent as usize)
}

/// `recv(2)` without waiting.
pub(crate) fn receive(fd: &OwnedFd, room: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the room lives as long as the call.
    let got = unsafe { libc::recv(fd.as_raw_fd(), room.as_mut_ptr().cast(), room.len(), libc::MSG_DONTWAIT) };
    checked(got as i64).map(|got| got as usize)
}

/// `recv(2)` of bytes without waiting: how many, and whether open files came with them, which are lost.
pub(crate) fn receive_plain(fd: &OwnedFd, room: &mut [u8], flags: i32) -> io::Result<(usize, bool)> {
    let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    // SAFETY: plain data; there is no room for what comes beside the bytes, and the kernel says if there was any.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    (header.msg_iov, header.msg_iovlen) = (&mut part, 1);
    // SAFETY: the room lives as long as the call.
    let got = unsafe { libc::recvmsg(fd.as_raw_fd(), &mut header, flags | libc::MSG_DONTWAIT) };
    checked(got as i64).map(|got| (got as usize, header.msg_flags & libc::MSG_CTRUNC != 0))
}

/// `sendto(2)` of a datagram to a port of the local machine.
pub(crate) fn send_to(fd: &OwnedFd, bytes: &[u8], port: u16) -> io::Result<()> {
    let (address, size) = (loopback(port), size_of::<libc::sockaddr_in>() as libc::socklen_t);
    let to = std::ptr::from_ref(&address).cast();
    // SAFETY: the bytes and the address live as long as the call.
    let sent = unsafe { libc::sendto(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0, to, size) };
    checked(sent as i64).map(drop)
}

/// `recvfrom(2)` of a datagram without waiting: its length, and the port that it comes from.
pub(crate) fn receive_from(fd: &OwnedFd, room: &mut [u8]) -> io::Result<(usize, u16)> {
    let (mut address, mut size) = (loopback(0), size_of::<libc::sockaddr_in>() as libc::socklen_t);
    let (from, into) = (std::ptr::from_mut(&mut address).cast(), room.as_mut_ptr().cast());
    // SAFETY: the room lives as long as the call, and so does that for an address.
    let got = unsafe { libc::recvfrom(fd.as_raw_fd(), into, room.len(), libc::MSG_DONTWAIT, from, &mut size) };
    checked(got as i64).map(|got| (got as usize, u16::from_be(address.sin_port)))
}

/// Takes an error that a datagram has caused, `ip(7)`; whether there was one.
pub(crate) fn take_error(fd: &OwnedFd) -> bool {
    // SAFETY: plain data: there is no room for anything, and nothing is wanted.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    // SAFETY: the header lives as long as the call.
    unsafe { libc::recvmsg(fd.as_raw_fd(), &mut header, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) >= 0 }
}

/// Whether datagrams to a socket were lost because there was no room for them, `SO_MEMINFO`.
pub(crate) fn has_lost(fd: &OwnedFd) -> bool {
    const LOST: usize = 8;
    let (mut words, mut size) = ([0u32; LOST + 1], (4 * (LOST + 1)) as libc::socklen_t);
    let room = words.as_mut_ptr().cast();
    // SAFETY: room for as many words as are said.
    unsafe { libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MEMINFO, room, &mut size) };
    words[LOST] > 0
}

/// Bytes that were received and not read, `FIONREAD`.
pub(crate) fn unread(fd: &OwnedFd) -> usize {
    let mut count = 0i32;
    // SAFETY: room for a number.
    unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONREAD, &raw mut count) };
    usize::try_from(count).unwrap_or(0)
}

/// What has happened to a socket: the events of `poll(2)`.
pub(crate) fn happened(fd: RawFd) -> i16 {
    poll([fd], libc::POLLIN | libc::POLLRDHUP, 0).map_or(0, |[events]| events)
}

/// `pipe2(2)`, closed on exec: where it is read, and where it is written without waiting.
pub(crate) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: room for two descriptors.
    checked(i64::from(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) }))?;
    let (reader, writer) = (owned(i64::from(fds[0]))?, owned(i64::from(fds[1]))?);
    // SAFETY: numbers only.
    checked(i64::from(unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) }))?;
    Ok((reader, writer))
}

/// An empty set of descriptors, `epoll(7)`.
pub(crate) fn epoll() -> io::Result<OwnedFd> {
    // SAFETY: numbers only.
    owned(i64::from(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }))
}

/// Adds a descriptor to a set, to be told when it has room.
pub(crate) fn watch_room(set: RawFd, fd: &OwnedFd) -> io::Result<()> {
    let mut event = libc::epoll_event { events: libc::EPOLLOUT as u32, u64: fd.as_raw_fd() as u64 };
    // SAFETY: the event lives as long as the call.
    checked(i64::from(unsafe { libc::epoll_ctl(set, libc::EPOLL_CTL_ADD, fd.as_raw_fd(), &mut event) })).map(drop)
}

/// Descriptors of a set that have room, or lead nowhere.
pub(crate) fn with_room(set: RawFd) -> Vec<RawFd> {
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; 16];
    // SAFETY: room for as many events as are said.
    let count = unsafe { libc::epoll_wait(set, events.as_mut_ptr(), events.len() as i32, 0) };
    events.iter().take(usize::try_from(count).unwrap_or(0)).map(|event| event.u64 as RawFd).collect()
}

/// `poll(2)`; what has happened to each.
pub(crate) fn poll<const N: usize>(fds: [RawFd; N], events: i16, timeout_ms: i32) -> io::Result<[i16; N]> {
    let mut all = fds.map(|fd| libc::pollfd { fd, events, revents: 0 });
    // SAFETY: as many entries as are said.
    checked(i64::from(unsafe { libc::poll(all.as_mut_ptr(), N as libc::nfds_t, timeout_ms) }))?;
    Ok(all.map(|entry| entry.revents))
}

/// Waits until no processor is still in the middle of handling a packet that it had begun with.
///
/// Packets are handled within sections that `membarrier(2)` waits for (an RCU grace period).
pub(crate) fn await_packet_handlers() {
    const MEMBARRIER_CMD_GLOBAL: i32 = 1;
    // SAFETY: numbers only.
    unsafe { libc::syscall(libc::SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) };
}

/// Whether something has happened to a socket that ends it, `SO_ERROR`.
pub(crate) fn has_error(fd: &OwnedFd) -> bool {
    let (mut error, mut size) = (0i32, size_of::<i32>() as libc::socklen_t);
    let value = std::ptr::from_mut(&mut error).cast();
    // SAFETY: room for a number.
    unsafe { libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ERROR, value, &mut size) };
    error != 0
}

/// Whether the other side has confirmed all that was sent on a socket, `tcp(7)`; or has read it, `unix(7)`.
pub(crate) fn is_all_taken(fd: &OwnedFd) -> bool {
    let mut left = 0i32;
    // SAFETY: room for a number.
    let asked = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCOUTQ, &raw mut left) };
    asked == 0 && left == 0
}
