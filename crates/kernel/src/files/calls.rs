//! The rows of this family.
//!
//! The table is the interface: a call that is not in a row is refused as unmodelled, never answered
//! with `ENOSYS` by accident. `Words` say how a report tells it, the footprint rule what it may
//! touch.

use super::{
    attribute, directory, duplicate, fcntl, ioctl, lock_calls, metadata, mount, namespace, notify_calls, open,
    path_calls, rename, seal, size, splice, stat, transfer,
};
use crate::table::footprint::FootprintRule::{
    Closes, Duplicates, Everything, Names, Replaces, SharedByThreads, Through,
};
use crate::table::footprint::{Amount, FileUse, Follow, NameUse, OpenFlags, SocketUse};
use crate::table::narration::{Called, ResultWords, Shown, Verb, Words};
use crate::table::syscall::Argument::{Dir, Fd, Hex, In, Int, Mode, Out, Path, Size};
use crate::table::syscall::Row;
use crate::table::syscall::Startup;

const NOWAIT: &str = "RWF_NOWAIT on regular files only";

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(0, "read", transfer::read, &[Fd, Out, Size], Through(FileUse::Read, SocketUse::Receive(Amount::Given)))
        .at_startup(Startup::Reads)
        .shown(Shown::UnlessText)
        .returns(ResultWords::Bytes),
    Row::full(1, "write", transfer::write, &[Fd, In(2), Size], Through(FileUse::Write, SocketUse::Send(Amount::Given)))
        .says(Words::Output),
    Row::full(2, "open", open::open, &[Path, Hex, Mode], Names(NameUse::Open(OpenFlags::Argument(1))))
        .at_startup(Startup::LooksUp)
        .returns(ResultWords::Descriptor),
    Row::full(3, "close", duplicate::close, &[Fd], Closes).at_startup(Startup::Loads).shown(Shown::IfShared),
    Row::full(4, "stat", stat::stat, &[Path, Hex], Names(NameUse::Stat))
        .at_startup(Startup::LooksUp)
        .returns(ResultWords::Age),
    Row::full(5, "fstat", stat::fstat, &[Fd, Hex], Through(FileUse::List, SocketUse::Ask))
        .at_startup(Startup::Loads)
        .silent(),
    Row::full(6, "lstat", stat::lstat, &[Path, Hex], Names(NameUse::Stat)).returns(ResultWords::Age),
    Row::full(8, "lseek", directory::lseek, &[Fd, Int, Int], Through(FileUse::Read, SocketUse::Any)).silent(),
    Row::full(16, "ioctl", ioctl::ioctl, &[Fd, Hex, Hex], Through(FileUse::Ioctl, SocketUse::Any))
        .partial("each kind of file has its own requests")
        .silent(),
    Row::full(17, "pread64", transfer::pread, &[Fd, Out, Size, Size], Through(FileUse::Read, SocketUse::Any))
        .at_startup(Startup::Reads)
        .returns(ResultWords::Bytes),
    Row::full(18, "pwrite64", transfer::pwrite, &[Fd, In(2), Size, Size], Through(FileUse::Write, SocketUse::Any)),
    Row::full(19, "readv", transfer::readv, &[Fd, Hex, Size], Through(FileUse::Read, SocketUse::Receive(Amount::Any)))
        .returns(ResultWords::EndOfInput),
    Row::full(20, "writev", transfer::writev, &[Fd, Hex, Size], Through(FileUse::Write, SocketUse::Send(Amount::Any)))
        .says(Words::Output),
    Row::full(21, "access", path_calls::access, &[Path, Int], Names(NameUse::Look)).at_startup(Startup::LooksUp),
    Row::full(32, "dup", duplicate::dup, &[Fd], Duplicates).silent(),
    Row::full(33, "dup2", duplicate::dup2, &[Fd, Fd], Replaces).silent(),
    Row::full(40, "sendfile", splice::sendfile, &[Fd, Fd, Hex, Size], Everything),
    Row::full(72, "fcntl", fcntl::fcntl, &[Fd, Int, Hex], Through(FileUse::Fcntl, SocketUse::Any))
        .partial("no leases, no SIGIO (O_ASYNC, F_SETSIG)")
        .shown(Shown::IfLock)
        .says(Words::RecordLock),
    Row::full(73, "flock", lock_calls::flock, &[Fd, Int], Through(FileUse::Any, SocketUse::Any)).says(Words::FileLock),
    Row::full(74, "fsync", size::fsync, &[Fd], Through(FileUse::Sync, SocketUse::Any)),
    Row::full(75, "fdatasync", size::fdatasync, &[Fd], Through(FileUse::Sync, SocketUse::Any)),
    Row::full(76, "truncate", size::truncate, &[Path, Size], Names(NameUse::Change(Follow::Always))),
    Row::full(77, "ftruncate", size::ftruncate, &[Fd, Size], Through(FileUse::Write, SocketUse::Any)),
    Row::full(78, "getdents", directory::getdents, &[Fd, Hex, Size], Everything),
    Row::full(79, "getcwd", directory::getcwd, &[Out, Size], Names(NameUse::Tell)).silent(),
    Row::full(80, "chdir", directory::chdir, &[Path], Names(NameUse::Enter)),
    Row::full(81, "fchdir", directory::fchdir, &[Fd], Everything),
    Row::full(82, "rename", rename::rename, &[Path, Path], Names(NameUse::Rename)).says(Words::NewName),
    Row::full(83, "mkdir", namespace::mkdir, &[Path, Mode], Names(NameUse::Make)),
    Row::full(84, "rmdir", namespace::rmdir, &[Path], Names(NameUse::RemoveDirectory)),
    Row::full(85, "creat", open::creat, &[Path, Mode], Names(NameUse::Open(OpenFlags::Creat))),
    Row::full(86, "link", namespace::link, &[Path, Path], Names(NameUse::Link(Follow::Never))).says(Words::NewName),
    Row::full(87, "unlink", namespace::unlink, &[Path], Names(NameUse::Remove(None))),
    Row::full(88, "symlink", namespace::symlink, &[Path, Path], Names(NameUse::Make)).says(Words::NewName),
    Row::full(89, "readlink", path_calls::readlink, &[Path, Out, Size], Names(NameUse::Look))
        .at_startup(Startup::LooksUp),
    Row::full(90, "chmod", metadata::chmod, &[Path, Mode], Names(NameUse::Change(Follow::Always))),
    Row::full(91, "fchmod", metadata::fchmod, &[Fd, Mode], Through(FileUse::Attributes, SocketUse::Any)),
    Row::full(92, "chown", metadata::chown, &[Path, Int, Int], Names(NameUse::Change(Follow::Always))),
    Row::full(93, "fchown", metadata::fchown, &[Fd, Int, Int], Through(FileUse::Attributes, SocketUse::Any)),
    Row::full(94, "lchown", metadata::lchown, &[Path, Int, Int], Names(NameUse::Change(Follow::Never))),
    Row::full(95, "umask", directory::umask, &[Mode], SharedByThreads).silent(),
    Row::full(132, "utime", metadata::utime, &[Path, Hex], Names(NameUse::Change(Follow::Always))),
    Row::full(133, "mknod", namespace::mknod, &[Path, Mode, Hex], Everything),
    Row::full(137, "statfs", stat::statfs, &[Path, Hex], Names(NameUse::Look)),
    Row::full(138, "fstatfs", stat::fstatfs, &[Fd, Hex], Everything),
    Row::full(155, "pivot_root", mount::refuse, &[Path, Path], Everything).partial(mount::NOTE),
    Row::full(161, "chroot", directory::chroot, &[Path], Everything).partial("to / only"),
    Row::full(162, "sync", size::sync, &[], Everything),
    Row::full(165, "mount", mount::refuse, &[Path, Path, Path, Hex, Hex], Everything).partial(mount::NOTE),
    Row::full(166, "umount2", mount::refuse, &[Path, Hex], Everything).partial(mount::NOTE),
    Row::full(187, "readahead", size::readahead, &[Fd, Size, Size], Everything),
    Row::full(188, "setxattr", attribute::setxattr, &[Path, Path, Hex, Size, Hex], Everything),
    Row::full(189, "lsetxattr", attribute::lsetxattr, &[Path, Path, Hex, Size, Hex], Everything),
    Row::full(190, "fsetxattr", attribute::fsetxattr, &[Fd, Path, Hex, Size, Hex], Everything),
    Row::full(191, "getxattr", attribute::getxattr, &[Path, Path, Out, Size], Everything),
    Row::full(192, "lgetxattr", attribute::lgetxattr, &[Path, Path, Out, Size], Everything),
    Row::full(193, "fgetxattr", attribute::fgetxattr, &[Fd, Path, Out, Size], Everything),
    Row::full(194, "listxattr", attribute::listxattr, &[Path, Out, Size], Everything),
    Row::full(195, "llistxattr", attribute::llistxattr, &[Path, Out, Size], Everything),
    Row::full(196, "flistxattr", attribute::flistxattr, &[Fd, Out, Size], Everything),
    Row::full(197, "removexattr", attribute::removexattr, &[Path, Path], Everything),
    Row::full(198, "lremovexattr", attribute::lremovexattr, &[Path, Path], Everything),
    Row::full(199, "fremovexattr", attribute::fremovexattr, &[Fd, Path], Everything),
    Row::full(217, "getdents64", directory::getdents64, &[Fd, Hex, Size], Through(FileUse::List, SocketUse::Any)),
    Row::full(221, "fadvise64", size::fadvise, &[Fd, Size, Size, Int], Through(FileUse::Read, SocketUse::Any)).silent(),
    Row::full(235, "utimes", metadata::utimes, &[Path, Hex], Everything),
    Row::full(253, "inotify_init", notify_calls::inotify_init, &[], Everything),
    Row::full(254, "inotify_add_watch", notify_calls::inotify_add_watch, &[Fd, Path, Hex], Everything)
        .partial("no IN_EXCL_UNLINK"),
    Row::full(255, "inotify_rm_watch", notify_calls::inotify_rm_watch, &[Fd, Int], Everything),
    Row::full(257, "openat", open::openat, &[Dir, Path, Hex, Mode], Names(NameUse::Open(OpenFlags::Argument(2))))
        .at_startup(Startup::LooksUp)
        .called(Called::As("open"))
        .returns(ResultWords::Descriptor),
    Row::full(258, "mkdirat", namespace::mkdirat, &[Dir, Path, Mode], Names(NameUse::Make)).called(Called::As("mkdir")),
    Row::full(259, "mknodat", namespace::mknodat, &[Dir, Path, Mode, Hex], Everything),
    Row::full(
        260,
        "fchownat",
        metadata::fchownat,
        &[Dir, Path, Int, Int, Hex],
        Names(NameUse::Change(Follow::Unless(4))),
    ),
    Row::full(261, "futimesat", metadata::futimesat, &[Dir, Path, Hex], Everything),
    Row::full(262, "newfstatat", stat::newfstatat, &[Dir, Path, Hex, Hex], Names(NameUse::Stat))
        .at_startup(Startup::LooksUp)
        .called(Called::Stat(3))
        .shown(Shown::IfNamed)
        .returns(ResultWords::Age),
    Row::full(263, "unlinkat", namespace::unlinkat, &[Dir, Path, Hex], Names(NameUse::Remove(Some(2))))
        .called(Called::As("unlink")),
    Row::full(264, "renameat", rename::renameat, &[Dir, Path, Dir, Path], Names(NameUse::Rename))
        .called(Called::As("rename"))
        .says(Words::NewName),
    Row::full(265, "linkat", namespace::linkat, &[Dir, Path, Dir, Path, Hex], Names(NameUse::Link(Follow::If(4))))
        .called(Called::As("link"))
        .says(Words::NewName),
    Row::full(266, "symlinkat", namespace::symlinkat, &[Path, Dir, Path], Names(NameUse::Make)).says(Words::NewName),
    Row::full(267, "readlinkat", path_calls::readlinkat, &[Dir, Path, Out, Size], Names(NameUse::Look))
        .at_startup(Startup::LooksUp),
    Row::full(268, "fchmodat", metadata::fchmodat, &[Dir, Path, Mode], Names(NameUse::Change(Follow::Always))),
    Row::full(269, "faccessat", path_calls::faccessat, &[Dir, Path, Int], Names(NameUse::Look)),
    Row::full(275, "splice", splice::splice, &[Fd, Hex, Fd, Hex, Size, Hex], Everything),
    Row::full(276, "tee", splice::tee, &[Fd, Fd, Size, Hex], Everything),
    Row::full(277, "sync_file_range", size::sync_file_range, &[Fd, Size, Size, Hex], Everything),
    Row::full(278, "vmsplice", splice::vmsplice, &[Fd, Hex, Size, Hex], Everything),
    Row::full(280, "utimensat", metadata::utimensat, &[Dir, Path, Hex, Hex], Names(NameUse::Change(Follow::Unless(3))))
        .partial("no times before 1970"),
    Row::full(285, "fallocate", size::fallocate, &[Fd, Hex, Size, Size], Everything),
    Row::full(292, "dup3", duplicate::dup3, &[Fd, Fd, Hex], Replaces).silent(),
    Row::full(294, "inotify_init1", notify_calls::inotify_init1, &[Hex], Everything),
    Row::full(295, "preadv", transfer::preadv, &[Fd, Hex, Size, Size], Everything),
    Row::full(296, "pwritev", transfer::pwritev, &[Fd, Hex, Size, Size], Everything),
    Row::full(306, "syncfs", size::syncfs, &[Fd], Everything),
    Row::full(316, "renameat2", rename::renameat2, &[Dir, Path, Dir, Path, Hex], Names(NameUse::Rename))
        .partial("no RENAME_WHITEOUT")
        .called(Called::As("rename"))
        .says(Words::NewName),
    Row::full(319, "memfd_create", seal::memfd_create, &[Path, Hex], Everything)
        .partial("no huge pages, no MFD_NOEXEC_SEAL"),
    Row::full(326, "copy_file_range", splice::copy_file_range, &[Fd, Hex, Fd, Hex, Size, Hex], Everything),
    Row::full(327, "preadv2", transfer::preadv2, &[Fd, Hex, Size, Size, Size, Hex], Everything).partial(NOWAIT),
    Row::full(328, "pwritev2", transfer::pwritev2, &[Fd, Hex, Size, Size, Size, Hex], Everything).partial(NOWAIT),
    Row::full(332, "statx", stat::statx, &[Dir, Path, Hex, Hex, Hex], Names(NameUse::Stat)),
    Row::full(436, "close_range", duplicate::close_range, &[Int, Int, Hex], Everything)
        .partial("no CLOSE_RANGE_UNSHARE with several threads"),
    Row::full(437, "openat2", open::openat2, &[Dir, Path, Hex, Size], Everything).does(Verb::Opened),
    Row::full(439, "faccessat2", path_calls::faccessat2, &[Dir, Path, Int, Hex], Names(NameUse::Look)),
    Row::full(428, "open_tree", mount::refuse, &[Dir, Path, Hex], Everything).partial(mount::NOTE).does(Verb::Opened),
    Row::full(429, "move_mount", mount::refuse, &[Dir, Path, Dir, Path, Hex], Everything).partial(mount::NOTE),
    Row::full(430, "fsopen", mount::refuse, &[Path, Hex], Everything).partial(mount::NOTE),
    Row::full(431, "fsconfig", mount::refuse, &[Fd, Hex, Path, Hex, Hex], Everything).partial(mount::NOTE),
    Row::full(432, "fsmount", mount::refuse, &[Fd, Hex, Hex], Everything).partial(mount::NOTE),
    Row::full(433, "fspick", mount::refuse, &[Dir, Path, Hex], Everything).partial(mount::NOTE),
    Row::full(442, "mount_setattr", mount::refuse, &[Dir, Path, Hex, Hex, Size], Everything).partial(mount::NOTE),
    Row::absent(134, "uselib", "ENOSYS: gone since Linux 5.1"),
    Row::absent(136, "ustat", "ENOSYS: a kernel built without it"),
    Row::absent(139, "sysfs", "ENOSYS: a kernel built without it"),
    Row::absent(163, "acct", "ENOSYS: a kernel without process accounting"),
    Row::absent(167, "swapon", "ENOSYS: a kernel without swap"),
    Row::absent(168, "swapoff", "ENOSYS: a kernel without swap"),
    Row::absent(179, "quotactl", "ENOSYS: a kernel without quotas"),
    Row::absent(206, "io_setup", "ENOSYS: a kernel without asynchronous I/O; libraries use threads"),
    Row::absent(207, "io_destroy", "ENOSYS: a kernel without asynchronous I/O"),
    Row::absent(208, "io_getevents", "ENOSYS: a kernel without asynchronous I/O"),
    Row::absent(209, "io_submit", "ENOSYS: a kernel without asynchronous I/O"),
    Row::absent(210, "io_cancel", "ENOSYS: a kernel without asynchronous I/O"),
    Row::absent(212, "lookup_dcookie", "ENOSYS: a kernel without profiling"),
    Row::absent(300, "fanotify_init", "ENOSYS: a kernel built without it"),
    Row::absent(301, "fanotify_mark", "ENOSYS: a kernel built without it"),
    Row::absent(303, "name_to_handle_at", "ENOSYS: a kernel without file handles"),
    Row::absent(304, "open_by_handle_at", "ENOSYS: a kernel without file handles"),
    Row::absent(333, "io_pgetevents", "ENOSYS: a kernel without asynchronous I/O"),
    Row::absent(443, "quotactl_fd", "ENOSYS: a kernel without quotas"),
    Row::absent(447, "memfd_secret", "ENOSYS: off unless asked for at boot"),
    Row::absent(451, "cachestat", "ENOSYS: as before Linux 6.5"),
    Row::absent(457, "statmount", "ENOSYS: as before Linux 6.8"),
    Row::absent(458, "listmount", "ENOSYS: as before Linux 6.8"),
    Row::absent(463, "setxattrat", "ENOSYS: as before Linux 6.13"),
    Row::absent(464, "getxattrat", "ENOSYS: as before Linux 6.13"),
    Row::absent(465, "listxattrat", "ENOSYS: as before Linux 6.13"),
    Row::absent(466, "removexattrat", "ENOSYS: as before Linux 6.13"),
    Row::full(452, "fchmodat2", metadata::fchmodat2, &[Dir, Path, Mode, Hex], Everything),
];
