//! Where the program is reached: sockets that lead there, and a folder of its own for a Unix socket.
//!
//! A Unix socket is a file. Instances that listen at the same path would meet there, and a program that removes the file of an
//! earlier one would remove that of a server which has nothing to do with us. So the folder is covered, in the mount namespace of
//! the instance: what is in it is seen, and what is written there goes with the instance (an overlay on memory). A program that works
//! in that folder is another matter: what it writes there is meant to stay. It gets the folder as it is, and is the only instance.

use super::{OWN_FOLDER, OWN_NETWORK};
use crate::address::Address;
use crate::host::ports::listens;
use crate::host::sys;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

/// A socket that can reach an address.
pub(super) fn socket(address: &Address) -> io::Result<OwnedFd> {
    let (domain, kind) = match address {
        Address::Tcp(_) => (libc::AF_INET, libc::SOCK_STREAM),
        Address::Udp(_) => (libc::AF_INET, libc::SOCK_DGRAM),
        Address::Unix(_) => (libc::AF_UNIX, libc::SOCK_STREAM),
    };
    sys::socket(domain, kind | libc::SOCK_NONBLOCK, 0)
}

/// A descriptor that leads to the Unix socket at an address, if there is one.
pub(super) fn lead(address: &Address) -> Option<OwnedFd> {
    let Address::Unix(path) = address else { return None };
    sys::lead_to(path).ok()
}

/// Why no program can be reached at an address.
pub(super) fn refused(address: &Address, kept: i32) -> Option<String> {
    let has_network = kept & OWN_NETWORK != 0;
    match address {
        Address::Tcp(port) => (!has_network && listens("self", address))
            .then(|| format!("port {port} is in use on this machine, and it can have no network of its own")),
        // That all datagrams have arrived is known only where nobody else sends any.
        Address::Udp(_) => (!has_network || unlimit_errors().is_err())
            .then(|| "a UDP port needs a network of its own, which this system does not allow".to_owned()),
        Address::Unix(path) => (!removed(path)).then(|| format!("{address} is in use on this machine")),
    }
}

/// That nobody receives a datagram is always told: errors are not limited to so many a second, `icmp(7)`.
fn unlimit_errors() -> io::Result<()> {
    fs::write("/proc/sys/net/ipv4/icmp_ratemask", "0")
}

/// Removes the socket of a server that is gone; false if there is one that is not.
fn removed(path: &Path) -> bool {
    if !fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket()) {
        return true;
    }
    let connected = sys::lead_to(path).and_then(|target| {
        let socket = sys::socket(libc::AF_UNIX, libc::SOCK_STREAM | libc::SOCK_NONBLOCK, 0)?;
        sys::connect_unix(&socket, &target)
    });
    let is_gone = connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    is_gone && fs::remove_file(path).is_ok()
}

/// Gives a program the folder of its Unix socket, where it does not work in it; what is kept apart then.
pub(super) fn isolate_folder(address: &Address) -> i32 {
    let Address::Unix(path) = address else { return 0 };
    let folder = path.parent().unwrap_or(Path::new("/"));
    let there = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(folder);
    let works_there = std::env::current_dir().is_ok_and(|work| {
        let there = there.canonicalize();
        there.is_ok_and(|there| work.starts_with(there))
    });
    if works_there || cover(there).is_err() {
        return 0;
    }
    let _ = fs::create_dir_all(folder);
    if fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket()) {
        let _ = fs::remove_file(path);
    }
    OWN_FOLDER
}

/// Covers a folder: what is written there is kept in memory.
fn cover(folder: &Path) -> io::Result<()> {
    let (about, below) = (fs::metadata(folder)?, sys::lead_to(folder)?);
    mount(c"tmpfs", folder, "mode=0700")?;
    let covered = cover_over(folder, &below, &about);
    if covered.is_err() {
        let path = CString::new(folder.as_os_str().as_bytes())?;
        // SAFETY: a path that lives as long as the call.
        unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) };
    }
    covered
}

fn cover_over(folder: &Path, below: &OwnedFd, about: &fs::Metadata) -> io::Result<()> {
    let (upper, work) = (folder.join("upper"), folder.join("work"));
    fs::create_dir(&upper)?;
    fs::create_dir(&work)?;
    fs::set_permissions(&upper, fs::Permissions::from_mode(about.mode()))?;
    let _ = std::os::unix::fs::chown(&upper, Some(about.uid()), Some(about.gid()));
    let lower = format!("/proc/self/fd/{}", below.as_raw_fd());
    let options = format!("lowerdir={lower},upperdir={},workdir={}", upper.display(), work.display());
    // In a user namespace only attributes of users can be written.
    mount(c"overlay", folder, &options).or_else(|_| mount(c"overlay", folder, &format!("{options},userxattr")))
}

fn mount(kind: &std::ffi::CStr, folder: &Path, options: &str) -> io::Result<()> {
    let (folder, options) = (CString::new(folder.as_os_str().as_bytes())?, CString::new(options)?);
    let data = options.as_ptr().cast();
    // SAFETY: strings that live as long as the call.
    let mounted = unsafe { libc::mount(kind.as_ptr(), folder.as_ptr(), kind.as_ptr(), 0, data) };
    sys::checked(i64::from(mounted)).map(drop)
}
