//! Namespaces of an instance: a network on which no port is taken, processes that end with the first, mounts.

use super::{OWN_NETWORK, OWN_PIDS};
use std::os::fd::AsRawFd;

/// What is unshared. Shared memory of System V would otherwise outlive an instance.
const WANTED: i32 = libc::CLONE_NEWNET | libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWIPC;

/// Enters namespaces of its own, where the system allows it; what is kept apart then. Processes that it starts from now on are in
/// the pid namespace.
///
/// Who may do so without a user namespace does: files keep their owners.
pub(super) fn enter() -> i32 {
    // SAFETY: numbers only.
    let (uid, gid) = unsafe { (libc::getuid(), libc::getgid()) };
    // SAFETY: numbers only; a supervisor has one thread.
    if unsafe { libc::unshare(WANTED) } == 0 {
        return OWN_NETWORK | OWN_PIDS;
    }
    // SAFETY: as above.
    if unsafe { libc::unshare(WANTED | libc::CLONE_NEWUSER) } != 0 {
        return 0;
    }
    // Everybody stays who they are (user_namespaces(7): a group map needs that groups cannot be dropped).
    let maps = [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{uid} {uid} 1")),
        ("gid_map", format!("{gid} {gid} 1")),
    ];
    for (file, text) in maps {
        let _ = std::fs::write(format!("/proc/self/{file}"), text);
    }
    OWN_NETWORK | OWN_PIDS
}

/// Brings the loopback device up, and shows processes of the namespace under `/proc`, as far as that is allowed.
pub(super) fn set_up() {
    let (none, root, proc) = (std::ptr::null(), c"/".as_ptr(), c"proc".as_ptr());
    // SAFETY: constant strings. Where it is not allowed, programs see the processes of the host.
    unsafe {
        if libc::mount(none, root, none, libc::MS_REC | libc::MS_PRIVATE, none.cast()) == 0 {
            libc::mount(proc, c"/proc".as_ptr(), proc, 0, none.cast());
        }
    }
    raise_loopback();
}

/// `netdevice(7)`.
fn raise_loopback() {
    let Ok(socket) = crate::host::sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0) else { return };
    // SAFETY: plain data.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    (request.ifr_name[0], request.ifr_name[1]) = (b'l' as libc::c_char, b'o' as libc::c_char);
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    // SAFETY: the request lives as long as the call. If it fails nobody can connect, and that is told.
    unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &request) };
}
