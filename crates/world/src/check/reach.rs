//! What a syscall touches, beyond the memory of its caller: kernel objects, by name.
//!
//! The reduction asks whether two calls can be exchanged. Too much here costs states; too little would be wrong. So whatever
//! is not listed touches the whole world.

use super::sockets;
use super::touch::{self, Kind, reads, writes};
use explore::graph::Touch;
use kernel::descriptor::File;
use kernel::{Id, Kernel, Pid, Tid, table};
use memory::{Memory, SpaceId};

/// What a syscall touches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reach {
    /// Nothing that anybody else could notice: it goes on with the instructions around it.
    Nothing,
    /// These objects.
    Objects(Vec<Touch>),
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
    /// Whether other threads have used the caller's memory and descriptors, and may have done so later.
    pub was_shared: bool,
}

impl Asked<'_> {
    fn pid(&self) -> Pid {
        self.kernel.threads.get(&self.tid).expect("the caller").pid
    }

    /// Whether nobody shares the caller's memory and descriptors.
    fn is_alone(&self) -> bool {
        if self.was_shared {
            return false;
        }
        let pid = self.pid();
        let space = self.kernel.processes.get(&pid).map(|process| process.space);
        let sharing = self.kernel.processes.values().filter(|process| Some(process.space) == space);
        sharing.map(|process| process.threads.len()).sum::<usize>() <= 1
    }

    /// What the call touches.
    #[must_use]
    pub fn reach(&self) -> Reach {
        let Some(row) = table::row(self.number) else { return Reach::Objects(touch::everything()) };
        match row.name {
            name if LOCAL.contains(&name) => Reach::Nothing,
            name if OF_SPACE.contains(&name) => self.own(Kind::Space, self.space().0),
            name if OF_DESCRIPTOR.contains(&name) => self.through(self.args[0] as i32),
            name if OF_NAMES.contains(&name) => self.names(),
            "futex" => Reach::Objects(self.futex()),
            "exit_group" => Reach::Objects(self.end()),
            "accept" | "accept4" => Reach::Objects(self.accept()),
            "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait" => Reach::Objects(self.look()),
            "shutdown" => Reach::Objects(self.shutdown()),
            "pipe" | "pipe2" | "eventfd2" | "eventfd" | "socket" | "socketpair" | "epoll_create1" | "epoll_create"
            | "timerfd_create" => self.own(Kind::Descriptors, u64::from(self.pid().0)),
            "dup" | "dup2" | "dup3" => some(self.duplicate(row.name != "dup")),
            "close" => self.close(),
            "bind" | "listen" | "connect" => Reach::Objects(self.name_socket(row.name == "connect")),
            "clone" | "clone3" | "fork" | "vfork" => Reach::Objects(self.birth()),
            "wait4" | "waitid" => Reach::Objects(vec![writes(Kind::Process, u64::from(self.pid().0))]),
            "semop" | "semtimedop" | "semctl" | "msgsnd" | "msgrcv" | "msgctl" => {
                Reach::Objects(vec![writes(Kind::Ipc, self.args[0])])
            }
            "exit" if self.threads() > 1 => {
                let cleared = self.kernel.threads.get(&self.tid).map_or(0, |thread| thread.clear_at_end);
                Reach::Objects(vec![writes(Kind::Space, self.space().0), self.futex_at(cleared)])
            }
            _ => Reach::Objects(touch::everything()),
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
        some(self.description(fd))
    }

    /// The caller's descriptors, as far as somebody shares them.
    fn descriptors(&self, write: bool) -> Option<Touch> {
        let touch = reads(Kind::Descriptors, u64::from(self.pid().0));
        (!self.is_alone()).then_some(Touch { write, ..touch })
    }

    /// Whether a call on a descriptor may change which ones there are, or what becomes of them.
    fn changes_descriptors(&self) -> bool {
        const CHANGING: [u64; 3] = [0, 2, 1030]; // F_DUPFD, F_SETFD, F_DUPFD_CLOEXEC
        const ON_EXEC: [u64; 2] = [0x5450, 0x5451]; // FIONCLEX, FIOCLEX
        match table::row(self.number).map_or("", |row| row.name) {
            "fcntl" => CHANGING.contains(&self.args[1]),
            "ioctl" => ON_EXEC.contains(&self.args[1]),
            "recvmsg" => true,
            _ => false,
        }
    }

    /// A descriptor more for an open file; the one that had its number before is closed.
    fn duplicate(&self, replaces: bool) -> Vec<Touch> {
        let mut touches: Vec<Touch> = self.descriptors(true).into_iter().collect();
        touches.extend(self.count_of(self.args[0] as i32));
        if replaces {
            touches.extend(self.close_one(self.args[1] as i32));
        }
        touches
    }

    /// The number of descriptors of an open file, if others may have some.
    fn count_of(&self, fd: i32) -> Option<Touch> {
        let process = self.kernel.processes.get(&self.pid())?;
        let id = process.descriptors.get(fd).ok()?.description;
        let is_shared = self.kernel.descriptions.get(&id).is_some_and(|open| open.was_shared);
        is_shared.then(|| Touch { object: touch::object(Kind::File, id.0, 1), write: true, plain: false })
    }

    fn description(&self, fd: i32) -> Vec<Touch> {
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        let changes = self.changes_descriptors();
        let mut touches: Vec<Touch> = self.descriptors(changes).into_iter().collect();
        if changes {
            touches.extend(self.count_of(fd));
        }
        let Ok(descriptor) = process.descriptors.get(fd) else { return touches };
        let Some(description) = self.kernel.descriptions.get(&descriptor.description) else { return touches };
        let has_state = !matches!(description.file, File::Console(_) | File::Device(_));
        if has_state && (description.was_shared || !self.is_alone()) {
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
            File::Socket(id) => self.socket(id),
            File::Signal(id) => vec![writes(Kind::File, id.0), writes(Kind::Process, u64::from(self.pid().0))],
            other => through_file(other),
        }
    }

    /// Calls on paths: names are read, and changed by some. Where they begin is the business of all threads of a process.
    fn names(&self) -> Reach {
        const FROM_HERE: i32 = -100; // AT_FDCWD
        const O_CREAT_OR_TRUNC: u64 = 0o100 | 0o1000;
        let name = table::row(self.number).map_or("", |row| row.name);
        let flags = match name {
            "open" => self.args[1],
            "openat" => self.args[2],
            _ => 0,
        };
        if name == "chdir" && !self.is_alone() {
            return Reach::Objects(touch::everything());
        }
        let looks_only = LOOKING.contains(&name) && flags & O_CREAT_OR_TRUNC == 0;
        let mut touches = match looks_only {
            true => vec![reads(Kind::Names, 0), reads(Kind::Inode, ANY)],
            false => vec![writes(Kind::Names, 0), writes(Kind::Inode, ANY)],
        };
        if matches!(name, "open" | "openat" | "creat") {
            touches.extend(self.descriptors(true));
        } else if self.args[0] as i32 != FROM_HERE {
            touches.extend(self.descriptors(false));
        }
        Reach::Objects(touches)
    }

    fn close(&self) -> Reach {
        some(self.close_one(self.args[0] as i32).into_iter().chain(self.descriptors(true)).collect())
    }

    /// Only the last of several descriptors closes a file; whether it is the last depends on the others.
    fn close_one(&self, fd: i32) -> Vec<Touch> {
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        let Ok(descriptor) = process.descriptors.get(fd) else { return Vec::new() };
        let Some(description) = self.kernel.descriptions.get(&descriptor.description) else { return Vec::new() };
        let count = |write| {
            let object = touch::object(Kind::File, descriptor.description.0, 1);
            Touch { object, write, plain: false }
        };
        let unlocks = self.unlock(description.file);
        match description.references {
            0 | 1 => {
                let others = description.was_shared.then(|| count(true));
                self.close_file(description.file).into_iter().chain(others).collect()
            }
            2 => unlocks.chain([count(true)]).collect(),
            _ => unlocks.chain([count(false)]).collect(),
        }
    }

    /// Closing any descriptor of a file releases the process's locks on it (`fcntl_locking(2)`).
    fn unlock(&self, file: File) -> impl Iterator<Item = Touch> {
        let inode = match file {
            File::Inode(id) if !self.kernel.files.locks.is_empty() => Some(id),
            _ => None,
        };
        inode.into_iter().flat_map(|id| [writes(Kind::Inode, id.0), writes(Kind::Inode, ANY)])
    }

    fn close_file(&self, file: File) -> Vec<Touch> {
        match file {
            File::Inode(id) if self.kernel.files.locks.is_empty() => vec![reads(Kind::Inode, id.0)],
            File::Inode(_) => self.unlock(file).collect(),
            File::Socket(id) => sockets::end(self.kernel, id),
            other => through_file(other),
        }
    }

    fn fds(&self) -> Vec<i32> {
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        process.descriptors.iter().map(|(fd, _)| fd).collect()
    }

    /// The end of a process: everything that it has is given back, and its parent is told.
    fn end(&self) -> Vec<Touch> {
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        let is_plain = process.children.is_empty()
            && self.is_alone()
            && self.kernel.terminals.is_empty()
            && !kernel::ipc::notices_end(self.kernel, process.pid)
            && !self.kernel.processes.values().any(kernel::Process::is_stopped);
        if !is_plain {
            return touch::everything();
        }
        let mut touches: Vec<Touch> = self.fds().into_iter().flat_map(|fd| self.close_one(fd)).collect();
        touches.push(writes(Kind::Process, u64::from(process.pid.0)));
        touches.push(writes(Kind::Process, u64::from(process.parent.0)));
        touches
    }

    /// A new process or thread: what it inherits is shared from now on. Memory that is copied is read, all of it.
    fn birth(&self) -> Vec<Touch> {
        if !self.is_alone() && !self.shares_space() {
            return touch::everything();
        }
        let mut touches = vec![writes(Kind::Process, u64::from(self.pid().0)), writes(Kind::Space, self.space().0)];
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        let shared = process.descriptors.iter().filter(|(_, descriptor)| {
            self.kernel.descriptions.get(&descriptor.description).is_some_and(|open| open.was_shared)
        });
        let count = |id: Id| Touch { object: touch::object(Kind::File, id.0, 1), write: true, plain: false };
        touches.extend(shared.map(|(_, descriptor)| count(descriptor.description)));
        touches
    }

    /// Whether the new one will use the caller's memory.
    fn shares_space(&self) -> bool {
        const CLONE_VM: u64 = 0x100;
        let flags = match table::row(self.number).map_or("", |row| row.name) {
            "clone" => self.args[0],
            "clone3" => {
                let mut bytes = [0; 8];
                let _ = self.memory.peek(self.space(), self.args[0], &mut bytes);
                u64::from_le_bytes(bytes)
            }
            _ => 0,
        };
        flags & CLONE_VM != 0
    }

    fn socket_at(&self, fd: i32) -> Option<Id> {
        let process = self.kernel.processes.get(&self.pid())?;
        let descriptor = process.descriptors.get(fd).ok()?;
        match self.kernel.descriptions.get(&descriptor.description)?.file {
            File::Socket(id) => Some(id),
            _ => None,
        }
    }

    /// Calls on a socket that is already there.
    fn socket(&self, id: Id) -> Vec<Touch> {
        let name = table::row(self.number).map_or("", |row| row.name);
        let length = match name {
            "read" | "recvfrom" | "write" | "sendto" => self.args[2],
            _ => u64::MAX,
        };
        match name {
            "read" | "readv" | "recvfrom" | "recvmsg" => sockets::receive(self.kernel, id, length),
            "write" | "writev" | "sendto" => sockets::send(self.kernel, id, length),
            "sendmsg" => touch::everything(),
            "getsockname" | "getpeername" | "getsockopt" | "fstat" => sockets::ask(id),
            _ => sockets::whole(self.kernel, id),
        }
    }

    fn accept(&self) -> Vec<Touch> {
        let fd = self.args[0] as i32;
        let mut touches = vec![writes(Kind::Descriptors, u64::from(self.pid().0))];
        if self.is_alone() {
            touches.clear();
        }
        touches.extend(self.socket_at(fd).map_or_else(touch::everything, |id| sockets::accept(self.kernel, id)));
        touches
    }

    fn shutdown(&self) -> Vec<Touch> {
        let mut touches =
            self.socket_at(self.args[0] as i32).map_or_else(touch::everything, |id| sockets::end(self.kernel, id));
        touches.extend(self.descriptors(false));
        touches
    }

    fn name_socket(&self, connects: bool) -> Vec<Touch> {
        let Some(id) = self.socket_at(self.args[0] as i32) else { return touch::everything() };
        let mut touches = sockets::whole(self.kernel, id);
        touches.push(writes(Kind::Ports, 0));
        touches.extend(self.descriptors(false));
        if connects {
            touches.extend(self.kernel.net.listening().flat_map(|listener| sockets::knock(self.kernel, listener)));
        }
        touches
    }

    /// Calls that look at many files: whatever the process has open.
    fn look(&self) -> Vec<Touch> {
        let process = self.kernel.processes.get(&self.pid()).expect("the caller's process");
        let mut touches = vec![reads(Kind::Descriptors, u64::from(self.pid().0))];
        for (_, descriptor) in process.descriptors.iter() {
            let file = self.kernel.descriptions.get(&descriptor.description).map(|description| description.file);
            match file {
                Some(File::Socket(id)) => touches.extend(sockets::look(self.kernel, id)),
                Some(File::Epoll(id)) => touches.push(writes(Kind::File, id.0)),
                Some(other) => touches.extend(through_file(other)),
                None => {}
            }
        }
        touches
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
        Touch { write: true, ..touch::word(self.memory, self.space(), address, false, Kind::Futex) }
    }
}

/// What using a file that is no inode touches.
fn through_file(file: File) -> Vec<Touch> {
    match file {
        File::PipeReader(id) | File::PipeWriter(id) | File::PipeBoth(id) => vec![writes(Kind::File, id.0)],
        File::Event(id) | File::Timer(id) | File::Signal(id) => vec![writes(Kind::File, id.0)],
        // Whatever happens to files may be told here.
        File::Inotify(id) => vec![writes(Kind::File, id.0), reads(Kind::Names, 0), reads(Kind::Inode, ANY)],
        File::Device(_) | File::Console(_) | File::Text(_) => Vec::new(),
        _ => touch::everything(),
    }
}

/// Some objects, or nothing if there are none.
fn some(touches: Vec<Touch>) -> Reach {
    if touches.is_empty() { Reach::Nothing } else { Reach::Objects(touches) }
}

/// What may end a thread's wait: whatever its call touches, and signals.
#[must_use]
pub fn awaited(kernel: &Kernel, memory: &Memory, tid: Tid, was_shared: bool) -> Vec<u64> {
    let Some(thread) = kernel.threads.get(&tid) else { return Vec::new() };
    let mut objects = vec![touch::object(Kind::Process, u64::from(thread.pid.0), 0)];
    if let Some((number, args)) = thread.call {
        let asked = Asked { kernel, memory, tid, number, args, was_shared };
        match asked.reach() {
            Reach::Nothing => objects.push(touch::object(Kind::World, 0, 0)),
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
