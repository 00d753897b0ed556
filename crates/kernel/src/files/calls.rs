//! The rows of this family.

use super::{directory, ioctl, open, path_calls, stat, transfer};
use crate::table::Argument::{Dir, Fd, Hex, In, Int, Mode, Out, Path, Size};
use crate::table::Row;

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(0, "read", transfer::read, &[Fd, Out, Size]),
    Row::full(1, "write", transfer::write, &[Fd, In(2), Size]),
    Row::full(2, "open", open::open, &[Path, Hex, Mode]),
    Row::full(3, "close", crate::descriptor::calls::close, &[Fd]),
    Row::full(4, "stat", stat::stat, &[Path, Hex]),
    Row::full(5, "fstat", stat::fstat, &[Fd, Hex]),
    Row::full(6, "lstat", stat::lstat, &[Path, Hex]),
    Row::full(8, "lseek", directory::lseek, &[Fd, Int, Int]),
    Row::full(16, "ioctl", ioctl::ioctl, &[Fd, Hex, Hex]).partial("each kind of file has its own requests"),
    Row::full(17, "pread64", transfer::pread, &[Fd, Out, Size, Size]),
    Row::full(18, "pwrite64", transfer::pwrite, &[Fd, In(2), Size, Size]),
    Row::full(19, "readv", transfer::readv, &[Fd, Hex, Size]),
    Row::full(20, "writev", transfer::writev, &[Fd, Hex, Size]),
    Row::full(21, "access", path_calls::access, &[Path, Int]),
    Row::full(78, "getdents", directory::getdents, &[Fd, Hex, Size]),
    Row::full(79, "getcwd", directory::getcwd, &[Out, Size]),
    Row::full(80, "chdir", directory::chdir, &[Path]),
    Row::full(81, "fchdir", directory::fchdir, &[Fd]),
    Row::full(85, "creat", open::creat, &[Path, Mode]),
    Row::full(89, "readlink", path_calls::readlink, &[Path, Out, Size]),
    Row::full(95, "umask", directory::umask, &[Mode]),
    Row::full(137, "statfs", stat::statfs, &[Path, Hex]),
    Row::full(138, "fstatfs", stat::fstatfs, &[Fd, Hex]),
    Row::full(161, "chroot", directory::chroot, &[Path]).partial("to / only"),
    Row::full(217, "getdents64", directory::getdents64, &[Fd, Hex, Size]),
    Row::full(257, "openat", open::openat, &[Dir, Path, Hex, Mode]),
    Row::full(262, "newfstatat", stat::newfstatat, &[Dir, Path, Hex, Hex]),
    Row::full(267, "readlinkat", path_calls::readlinkat, &[Dir, Path, Out, Size]),
    Row::full(269, "faccessat", path_calls::faccessat, &[Dir, Path, Int]),
    Row::full(295, "preadv", transfer::preadv, &[Fd, Hex, Size, Size]),
    Row::full(296, "pwritev", transfer::pwritev, &[Fd, Hex, Size, Size]),
    Row::full(327, "preadv2", transfer::preadv2, &[Fd, Hex, Size, Size, Size, Hex])
        .partial("RWF_NOWAIT on regular files only"),
    Row::full(328, "pwritev2", transfer::pwritev2, &[Fd, Hex, Size, Size, Size, Hex])
        .partial("RWF_NOWAIT on regular files only"),
    Row::full(332, "statx", stat::statx, &[Dir, Path, Hex, Hex, Hex]),
    Row::full(437, "openat2", open::openat2, &[Dir, Path, Hex, Size]),
    Row::full(439, "faccessat2", path_calls::faccessat2, &[Dir, Path, Int, Hex]),
];
