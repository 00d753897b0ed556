//! Calls by what they concern.

/// Calls on descriptors that change nothing of a file.
pub const READING: &[&str] =
    &["read", "readv", "pread64", "fstat", "lseek", "getdents64", "fadvise64", "close", "fsync", "fdatasync", "ioctl"];

/// Calls on descriptors that change a file's content.
pub const WRITING: &[&str] = &["write", "writev", "pwrite64", "ftruncate"];

/// Calls that concern nobody but the calling thread: nobody else changes what they tell.
pub const LOCAL: &[&str] = &[
    "getpid",
    "gettid",
    "rt_sigprocmask",
    "sigaltstack",
    "rt_sigreturn",
    "set_tid_address",
    "set_robust_list",
    "rseq",
    "arch_prctl",
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "time",
    "getrandom",
    "sched_yield",
    "getcpu",
    "membarrier",
];

/// Who can change what a call tells of the caller's process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changers {
    /// Other threads of it.
    Threads,
    /// Those, and its parent: by its end, or by `setpgid(2)`.
    Relatives,
    /// Any process.
    Anybody,
}

/// Calls that look at the caller's process and change nothing.
pub const LOOKING: &[&str] = &[
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getresuid",
    "getresgid",
    "getgroups",
    "getrusage",
    "times",
    "getppid",
    "getpgrp",
    "getpgid",
    "getsid",
    "getrlimit",
    "prlimit64",
    "sched_getaffinity",
    "get_robust_list",
    "uname",
];

/// Who can change what such a call tells.
pub fn changers(name: &str) -> Changers {
    match name {
        "getppid" | "getpgrp" | "getpgid" | "getsid" => Changers::Relatives,
        "getrlimit" | "prlimit64" | "sched_getaffinity" | "get_robust_list" | "uname" => Changers::Anybody,
        _ => Changers::Threads,
    }
}

/// Calls that tell whether something can be read or written.
pub const POLLING: &[&str] = &["poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait"];

/// Calls that make descriptors of something that nobody else has.
pub const MAKING: &[&str] = &[
    "pipe",
    "pipe2",
    "eventfd2",
    "eventfd",
    "socket",
    "socketpair",
    "epoll_create1",
    "epoll_create",
    "timerfd_create",
];

/// Calls on one object of System V.
pub const OF_IPC: &[&str] = &["semop", "semtimedop", "semctl", "msgsnd", "msgrcv", "msgctl"];

/// Calls that change what a process does with signals, and what it may do.
pub const OF_PROCESS: &[&str] = &[
    "rt_sigaction",
    "alarm",
    "setitimer",
    "getitimer",
    "setuid",
    "setgid",
    "setreuid",
    "setregid",
    "setresuid",
    "setresgid",
    "setgroups",
    "prctl",
];

/// Calls on mappings.
pub const OF_SPACE: &[&str] = &["mmap", "munmap", "mprotect", "mremap", "brk", "madvise"];

/// Calls on one descriptor.
pub const OF_DESCRIPTOR: &[&str] = &[
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "pwrite64",
    "fstat",
    "lseek",
    "fsync",
    "fdatasync",
    "ftruncate",
    "sendto",
    "recvfrom",
    "sendmsg",
    "recvmsg",
    "getsockname",
    "getpeername",
    "setsockopt",
    "getsockopt",
    "getdents64",
    "flock",
    "fcntl",
    "ioctl",
    "fadvise64",
    "fchmod",
    "fchown",
];
