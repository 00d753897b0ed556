//! Calls by what they concern.

/// Calls on descriptors that change nothing of a file.
pub const READING: &[&str] =
    &["read", "readv", "pread64", "fstat", "lseek", "getdents64", "fadvise64", "close", "fsync", "fdatasync", "ioctl"];

/// Calls on descriptors that change a file's content.
pub const WRITING: &[&str] = &["write", "writev", "pwrite64", "ftruncate"];

/// Calls that concern nobody but the calling thread.
pub const LOCAL: &[&str] = &[
    "getpid",
    "gettid",
    "getppid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getresuid",
    "getresgid",
    "getgroups",
    "rt_sigprocmask",
    "sigaltstack",
    "rt_sigreturn",
    "set_tid_address",
    "set_robust_list",
    "get_robust_list",
    "rseq",
    "arch_prctl",
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "time",
    "uname",
    "sysinfo",
    "getrandom",
    "sched_yield",
    "sched_getaffinity",
    "getcpu",
    "getrlimit",
    "getrusage",
    "times",
    "membarrier",
    "getpgrp",
    "getpgid",
    "getsid",
];

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
