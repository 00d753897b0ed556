//! What a syscall touches, beyond the memory of its caller: kernel objects, by name.
//!
//! The reduction asks whether two calls can be exchanged. Too much here costs states; too little would be wrong. So whatever
//! is not listed touches the whole world.

use explore::graph::Touch;
use kernel::descriptor::File;
use kernel::{Id, Kernel, Pid, Tid, table};
use memory::{Backing, Memory, Sharing, SpaceId};

/// Kinds of objects; an object is a kind and a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Everything: read by every visible step, written by those that may touch anything.
    World,
    /// Four bytes of private memory.
    Word,
    /// Four bytes of memory that processes share, or of a file.
    SharedWord,
    /// The mappings of an address space.
    Space,
    /// The descriptors of a process.
    Descriptors,
    /// Names in the file system.
    Names,
    /// One file's content and attributes.
    Inode,
    /// A pipe, socket pair, event counter: anything that descriptors refer to.
    File,
    /// Ports and names of sockets.
    Ports,
    /// A process: its life, signals and children.
    Process,
    /// A set of System V semaphores, or a queue.
    Ipc,
    /// Threads that wait at a word.
    Futex,
    /// A lock or semaphore of the C library.
    Lock,
    /// A condition variable or barrier of the C library.
    Condition,
    /// The life of a thread.
    Thread,
    /// One byte of memory, of a word that is used byte by byte.
    Byte,
}

/// One number for an object.
#[must_use]
pub fn object(kind: Kind, one: u64, two: u64) -> u64 {
    let mixed = Id(one).child(two).0;
    mixed << 4 | kind as u64
}

/// The kind of an object.
#[must_use]
pub fn kind(object: u64) -> Kind {
    const KINDS: [Kind; 16] = [
        Kind::World,
        Kind::Word,
        Kind::SharedWord,
        Kind::Space,
        Kind::Descriptors,
        Kind::Names,
        Kind::Inode,
        Kind::File,
        Kind::Ports,
        Kind::Process,
        Kind::Ipc,
        Kind::Futex,
        Kind::Lock,
        Kind::Condition,
        Kind::Thread,
        Kind::Byte,
    ];
    KINDS[(object & 15) as usize]
}

fn reads(kind: Kind, one: u64) -> Touch {
    Touch { object: object(kind, one, 0), write: false, plain: false }
}

fn writes(kind: Kind, one: u64) -> Touch {
    Touch { object: object(kind, one, 0), write: true, plain: false }
}

/// What a syscall touches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reach {
    /// Nothing that anybody else could notice: it goes on with the instructions around it.
    Nothing,
    /// These objects.
    Objects(Vec<Touch>),
}

/// Everything, for calls about which no more is known.
#[must_use]
pub fn everything() -> Vec<Touch> {
    vec![writes(Kind::World, 0)]
}

/// A call about to be made, as far as this file looks at it.
pub struct Asked<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// All memory.
    pub memory: &'a Memory,
    /// Who calls.
    pub tid: Tid,
    /// The call's number.
    pub number: u64,
    /// Its arguments.
    pub args: [u64; 6],
}

impl Asked<'_> {
    fn pid(&self) -> Pid {
        self.kernel.threads.get(&self.tid).expect("the caller").pid
    }

    /// Whether nobody shares the caller's memory and descriptors.
    fn is_alone(&self) -> bool {
        let pid = self.pid();
        let space = self.kernel.processes.get(&pid).map(|process| process.space);
        let sharing = self.kernel.processes.values().filter(|process| Some(process.space) == space);
        sharing.map(|process| process.threads.len()).sum::<usize>() <= 1
    }

    /// What the call touches.
    #[must_use]
    pub fn reach(&self) -> Reach {
        let Some(row) = table::row(self.number) else { return Reach::Objects(everything()) };
        match row.name {
            name if LOCAL.contains(&name) => Reach::Nothing,
            name if OF_SPACE.contains(&name) => self.own(Kind::Space, self.space().0),
            name if OF_DESCRIPTOR.contains(&name) => self.through(self.args[0] as i32),
            name if OF_NAMES.contains(&name) => self.names(),
            "futex" => Reach::Objects(self.futex()),
            "pipe" | "pipe2" | "eventfd2" | "eventfd" | "socket" | "socketpair" | "epoll_create1" | "epoll_create"
            | "timerfd_create" | "dup" | "dup2" | "dup3" => self.own(Kind::Descriptors, u64::from(self.pid().0)),
            "close" => self.close(),
            "bind" | "listen" | "connect" => {
                let mut touches = self.description(self.args[0] as i32);
                touches.push(writes(Kind::Ports, 0));
                Reach::Objects(touches)
            }
            "clone" | "clone3" | "fork" | "vfork" => Reach::Objects(vec![
                writes(Kind::Process, u64::from(self.pid().0)),
                writes(Kind::Space, self.space().0),
            ]),
            "wait4" | "waitid" => Reach::Objects(vec![writes(Kind::Process, u64::from(self.pid().0))]),
            "semop" | "semtimedop" | "semctl" | "msgsnd" | "msgrcv" | "msgctl" => {
                Reach::Objects(vec![writes(Kind::Ipc, self.args[0])])
            }
            "exit" if self.threads() > 1 => {
                let cleared = self.kernel.threads.get(&self.tid).map_or(0, |thread| thread.clear_at_end);
                Reach::Objects(vec![writes(Kind::Space, self.space().0), self.futex_at(cleared)])
            }
            _ => Reach::Objects(everything()),
        }
    }

    fn threads(&self) -> usize {
        self.kernel.processes.get(&self.pid()).map_or(0, |process| process.threads.len())
    }

    fn space(&self) -> SpaceId {
        self.kernel.processes.get(&self.pid()).map_or(SpaceId(0), |process| process.space)
    }

    /// Something that only threads of one process share.
    fn own(&self, kind: Kind, number: u64) -> Reach {
        if self.is_alone() { Reach::Nothing } else { Reach::Objects(vec![writes(kind, number)]) }
    }

    /// What a descriptor refers to.
    fn through(&self, fd: i32) -> Reach {
        match self.description(fd) {
            touches if touches.is_empty() => Reach::Nothing,
            touches => Reach::Objects(touches),
        }
    }

    fn description(&self, fd: i32) -> Vec<Touch> {
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        let mut touches = Vec::new();
        if !self.is_alone() {
            touches.push(reads(Kind::Descriptors, u64::from(self.pid().0)));
        }
        let Ok(descriptor) = process.descriptors.get(fd) else { return touches };
        let Some(description) = self.kernel.descriptions.get(&descriptor.description) else { return touches };
        let has_state = !matches!(description.file, File::Console(_) | File::Device(_));
        if has_state && (description.references > 1 || !self.is_alone()) {
            touches.push(writes(Kind::File, descriptor.description.0));
        }
        touches.extend(self.file(description.file));
        touches
    }

    /// What the call touches of an open file. Whatever changes a file's content also changes what `stat(2)` tells of it.
    fn file(&self, file: File) -> Vec<Touch> {
        let only_reads = table::row(self.number).is_some_and(|row| READING.contains(&row.name));
        match file {
            File::Inode(id) if only_reads => vec![reads(Kind::Inode, id.0)],
            File::Inode(id) => vec![writes(Kind::Inode, id.0), writes(Kind::Inode, ANY)],
            other => through_file(self.kernel, other).into_iter().collect(),
        }
    }

    /// Calls on paths: names are read, and changed by some.
    fn names(&self) -> Reach {
        const O_CREAT_OR_TRUNC: u64 = 0o100 | 0o1000;
        let name = table::row(self.number).map_or("", |row| row.name);
        let flags = match name {
            "open" => self.args[1],
            "openat" => self.args[2],
            _ => 0,
        };
        let looks_only = LOOKING.contains(&name) && flags & O_CREAT_OR_TRUNC == 0;
        Reach::Objects(match looks_only {
            true => vec![reads(Kind::Names, 0), reads(Kind::Inode, ANY)],
            false => vec![writes(Kind::Names, 0), writes(Kind::Inode, ANY)],
        })
    }

    fn close(&self) -> Reach {
        let mut touches = self.description(self.args[0] as i32);
        if !self.is_alone() {
            touches.push(writes(Kind::Descriptors, u64::from(self.pid().0)));
        }
        if touches.is_empty() { Reach::Nothing } else { Reach::Objects(touches) }
    }

    fn futex(&self) -> Vec<Touch> {
        let mut touches = vec![self.futex_at(self.args[0])];
        const REQUEUE: [u64; 3] = [3, 4, 5];
        if REQUEUE.contains(&(self.args[1] & 0x7f)) {
            touches.push(self.futex_at(self.args[4]));
        }
        touches
    }

    fn futex_at(&self, address: u64) -> Touch {
        Touch { write: true, ..word(self.memory, self.space(), address, false, Kind::Futex) }
    }
}

/// A word of memory as an object.
#[must_use]
pub fn word(memory: &Memory, space: SpaceId, address: u64, write: bool, as_kind: Kind) -> Touch {
    let plain = as_kind == Kind::Word;
    let object = match memory.mapping_at(space, address) {
        Some(mapping) if mapping.sharing == Sharing::Shared => match mapping.backing {
            Backing::Object { id, offset } => {
                let at = (address - mapping.start + offset) >> 2;
                object(if plain { Kind::SharedWord } else { as_kind }, id.0, at)
            }
            Backing::Anonymous => object(as_kind, space.0, address >> 2),
        },
        _ => object(as_kind, space.0, address >> 2),
    };
    Touch { object, write, plain }
}

/// What using a file that is no inode touches.
fn through_file(kernel: &Kernel, file: File) -> Option<Touch> {
    match file {
        File::PipeReader(id) | File::PipeWriter(id) | File::PipeBoth(id) => Some(writes(Kind::File, id.0)),
        File::Socket(id) => Some(writes(Kind::File, connection(kernel, id))),
        File::Event(id) | File::Timer(id) | File::Signal(id) | File::Inotify(id) => Some(writes(Kind::File, id.0)),
        File::Device(_) | File::Console(_) | File::Text(_) => None,
        _ => Some(writes(Kind::World, 0)),
    }
}

/// Both ends of a connection are one object; a socket that listens is one with its port.
fn connection(kernel: &Kernel, socket: Id) -> u64 {
    let peer = kernel.net.sockets.get(&socket).and_then(|socket| socket.peer.or(socket.twin));
    peer.map_or(socket.0, |peer| socket.0.min(peer.0))
}

/// What may end a thread's wait: whatever its call touches, and signals.
#[must_use]
pub fn awaited(kernel: &Kernel, memory: &Memory, tid: Tid) -> Vec<u64> {
    let Some(thread) = kernel.threads.get(&tid) else { return Vec::new() };
    let mut objects = vec![object(Kind::Process, u64::from(thread.pid.0), 0)];
    if let Some((number, args)) = thread.call {
        let asked = Asked { kernel, memory, tid, number, args };
        match asked.reach() {
            Reach::Nothing => objects.push(object(Kind::World, 0, 0)),
            Reach::Objects(touches) => objects.extend(touches.iter().map(|touch| touch.object)),
        }
    }
    objects
}

/// Stands for all inodes, where it is not known which.
const ANY: u64 = u64::MAX;

/// Calls on descriptors that change nothing of a file.
const READING: &[&str] = &["read", "readv", "pread64", "fstat", "lseek", "getdents64", "fadvise64", "close"];

/// Calls on paths that change nothing (`open(2)` without `O_CREAT`).
const LOOKING: &[&str] = &[
    "open",
    "openat",
    "stat",
    "lstat",
    "newfstatat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "getcwd",
    "chdir",
    "statfs",
];

/// Calls that concern nobody but the calling thread.
const LOCAL: &[&str] = &[
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
    "prlimit64",
    "getrlimit",
    "getrusage",
    "times",
    "membarrier",
    "getpgrp",
    "getpgid",
    "getsid",
];

/// Calls on mappings.
const OF_SPACE: &[&str] = &["mmap", "munmap", "mprotect", "mremap", "brk", "madvise"];

/// Calls on one descriptor.
const OF_DESCRIPTOR: &[&str] = &[
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
    "shutdown",
    "accept",
    "accept4",
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

/// Calls on paths.
const OF_NAMES: &[&str] = &[
    "open",
    "openat",
    "creat",
    "stat",
    "lstat",
    "newfstatat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "unlink",
    "unlinkat",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
    "rmdir",
    "chmod",
    "fchmodat",
    "chown",
    "lchown",
    "fchownat",
    "utimensat",
    "utime",
    "truncate",
    "getcwd",
    "chdir",
    "statfs",
];
