//! Syscalls in words: `read fd 4 (socket) -> 2 bytes`, `connect fd 3 (socket) to 127.0.0.1:7000`.

use super::files::Use;
use super::heard::HeardEvent;
use kernel::descriptor::{Console, File};
use kernel::errno::{ECHILD, ENOENT, Errno};
use kernel::files::walk::AT_SYMLINK_NOFOLLOW;
use kernel::net::socket::Stage;
use kernel::table::{self, Argument};
use kernel::{Tid, files};
use memory::SpaceId;
use world::World;

/// Calls that say nothing about what a program is for.
pub const BORING: &[&str] = &[
    "mmap",
    "munmap",
    "mprotect",
    "mremap",
    "brk",
    "madvise",
    "rt_sigprocmask",
    "rt_sigaction",
    "rt_sigreturn",
    "sigaltstack",
    "set_robust_list",
    "set_tid_address",
    "rseq",
    "getrandom",
    "prlimit64",
    "fstat",
    "lseek",
    "clone",
    "clone3",
    "arch_prctl",
    "sched_yield",
    "gettid",
    "getpid",
    "clock_gettime",
    "ioctl",
    "futex",
    "getppid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getresuid",
    "getresgid",
    "setuid",
    "setgid",
    "setreuid",
    "setregid",
    "setresuid",
    "setresgid",
    "umask",
    "uname",
    "sysinfo",
    "gettimeofday",
    "time",
    "fadvise64",
    "sched_getaffinity",
    "getrlimit",
    "getrusage",
    "prctl",
    "setgroups",
    "alarm",
    "getcwd",
    "dup",
    "dup2",
    "dup3",
    "fcntl",
    "socket",
    "vfork",
];

/// How much of a text is shown.
const TEXT_MAX: usize = 24;
/// How much of a path is shown.
const PATH_MAX: usize = 28;
/// How much of the first of two.
const FIRST_PATH_MAX: usize = 15;

/// Whether a call says something. What `fstat(3)` asks has no name; that a standard stream or a socket that nobody knows is
/// closed interests nobody, nor does that there is no name service daemon or no child.
pub fn is_told(world: &World, tid: Tid, (name, args): (&str, &[u64; 6]), heard: &HeardEvent, result: u64) -> bool {
    let is_error = |errno: Errno| result as i64 == -i64::from(errno.0);
    match name {
        "newfstatat" => heard.uses.iter().any(|used| !matches!(used, Use::Content { .. })),
        "close" => !heard.is_private && result == 0,
        "read" => !matches!(file_of(world, tid, args[0] as i32), Some(File::Text(_))),
        "connect" => !(is_error(ENOENT) && is_alone(world, tid, args[0] as i32)),
        "wait4" | "waitid" => result != 0 && !is_error(ECHILD),
        "fcntl" => heard.text.ends_with("(fcntl)"),
        _ => !BORING.contains(&name),
    }
}

/// Whether nobody else can know of what a descriptor refers to: a standard stream, or a socket without peer.
pub fn is_alone(world: &World, tid: Tid, fd: i32) -> bool {
    match file_of(world, tid, fd) {
        Some(File::Console(_) | File::Text(_)) => true,
        Some(File::Socket(id)) => world.kernel.net.sockets.get(&id).is_some_and(|socket| socket.stage == Stage::Idle),
        _ => false,
    }
}

/// A call that begins. Looks at memory without leaving a trace in the log of accesses.
pub fn begun(world: &World, tid: Tid, number: u64, args: &[u64; 6]) -> String {
    let Some(row) = table::row(number) else { return world::refusal::call_name(number) };
    let space = world.space(tid);
    if let Some(whole) = whole(world, tid, row.name, args) {
        return whole;
    }
    let mut words = vec![called(row.name, args).to_owned()];
    for (index, argument) in row.arguments.iter().enumerate() {
        let value = args[index];
        match argument {
            Argument::Fd => words.push(descriptor(world, tid, value as i32)),
            Argument::Path => {
                // The second of two names is what the first gets.
                let is_second = words.len() > 1 && NAMING.contains(&row.name);
                let to = if is_second { "as " } else { "" };
                let room = if NAMING.contains(&row.name) && !is_second { FIRST_PATH_MAX } else { PATH_MAX };
                words.extend(text_at(world, space, value).map(|path| format!("{to}\"{}\"", short(&path, room))));
            }
            Argument::In(length) if row.name.starts_with("write") || row.name.starts_with("send") => {
                words.push(quoted(world, space, value, args[usize::from(*length)]));
            }
            Argument::Int if row.name.starts_with("exit") || row.name == "listen" => words.push(value.to_string()),
            Argument::Signal => words.push(world::strace::signal_name(value)),
            _ => {}
        }
    }
    if ["connect", "bind"].contains(&row.name) {
        let to = if row.name == "bind" { "as" } else { "to" };
        words.extend(address(world, space, args[1], args[2]).map(|name| format!("{to} {name}")));
    }
    if ["semop", "semtimedop"].contains(&row.name) {
        words.extend(semaphores(world, space, args));
    }
    words.join(" ")
}

/// Calls that give what has one name another one.
const NAMING: &[&str] = &["link", "linkat", "rename", "renameat", "renameat2", "symlink", "symlinkat"];

/// The name that people know a call by.
fn called(name: &'static str, args: &[u64; 6]) -> &'static str {
    match name {
        "newfstatat" if args[3] & u64::from(AT_SYMLINK_NOFOLLOW) != 0 => "lstat",
        "newfstatat" => "stat",
        "openat" => "open",
        "pipe2" => "pipe",
        "unlinkat" => "unlink",
        "renameat" | "renameat2" => "rename",
        "linkat" => "link",
        "mkdirat" => "mkdir",
        other => other,
    }
}

/// Calls that are told in words of their own.
fn whole(world: &World, tid: Tid, name: &str, args: &[u64; 6]) -> Option<String> {
    let space = world.space(tid);
    match name {
        "nanosleep" => Some(format!("sleep {}", timespec(world, space, args[0])?)),
        "clock_nanosleep" if args[1] & 1 == 0 => Some(format!("sleep {}", timespec(world, space, args[2])?)),
        "write" | "writev" => match file_of(world, tid, args[0] as i32)? {
            File::Console(stream) => Some(format!("write to {}", console(stream))),
            _ => None,
        },
        "fcntl" => record_lock(world, tid, args),
        "flock" => {
            let how = match args[1] & 0xb {
                1 => "lock for reading",
                2 => "lock",
                _ => "unlock",
            };
            Some(format!("{how} {} (flock)", descriptor(world, tid, args[0] as i32)))
        }
        _ => None,
    }
}

/// `fcntl(2)` with a `struct flock`.
fn record_lock(world: &World, tid: Tid, args: &[u64; 6]) -> Option<String> {
    const LOCKING: [u64; 4] = [6, 7, 37, 38];
    if !LOCKING.contains(&args[1]) {
        return None;
    }
    let mut kind = [0; 2];
    world.memory.peek(world.space(tid), args[2], &mut kind).ok()?;
    let how = match u16::from_le_bytes(kind) {
        0 => "lock for reading",
        1 => "lock",
        _ => "unlock",
    };
    Some(format!("{how} {} (fcntl)", descriptor(world, tid, args[0] as i32)))
}

fn timespec(world: &World, space: SpaceId, address: u64) -> Option<String> {
    let mut bytes = [0; 16];
    world.memory.peek(space, address, &mut bytes).ok()?;
    let part = |from: usize| u64::from_le_bytes(bytes[from..from + 8].try_into().expect("eight bytes"));
    Some(span(part(0).saturating_mul(1_000_000_000).saturating_add(part(8))))
}

/// Nanoseconds, for people.
pub fn span(nanoseconds: u64) -> String {
    const DAY: u64 = 86_400;
    let seconds = nanoseconds / 1_000_000_000;
    match nanoseconds {
        0..1_000_000 => format!("{nanoseconds} ns"),
        1_000_000..1_000_000_000 => format!("{} ms", nanoseconds / 1_000_000),
        _ if seconds >= 2 * DAY => format!("{} days", seconds / DAY),
        _ if nanoseconds.is_multiple_of(1_000_000_000) || seconds > 60 => format!("{seconds} s"),
        _ => format!("{:.3} s", nanoseconds as f64 / 1e9),
    }
}

/// A path that fits; of a long one the middle is left out.
fn short(path: &str, room: usize) -> String {
    let letters: Vec<char> = path.chars().collect();
    if letters.len() <= room {
        return path.to_owned();
    }
    let part = |letters: &[char]| letters.iter().collect::<String>();
    format!("{}...{}", part(&letters[..8]), part(&letters[letters.len() - (room - 11)..]))
}

/// What a call came to.
pub fn returned(world: &World, tid: Tid, (number, args): (u64, &[u64; 6]), result: u64, uses: &[Use]) -> String {
    let name = table::row(number).map_or("", |row| row.name);
    let signed = result as i64;
    if (-4095..0).contains(&signed) {
        return format!(" -> {}", Errno((-signed) as u16).name());
    }
    match name {
        "read" | "recvfrom" | "recvmsg" | "readv" | "pread64" if result == 0 => " -> end of input".to_owned(),
        "read" | "recvfrom" | "pread64" if world.kernel.threads.contains_key(&tid) => {
            format!(" -> {}", quoted(world, world.space(tid), args[1], result))
        }
        "stat" | "lstat" | "newfstatat" => age(world, uses).unwrap_or_default(),
        "open" | "openat" | "socket" | "accept" | "accept4" | "dup" | "eventfd2" => format!(" -> fd {signed}"),
        "fork" | "vfork" | "wait4" | "waitid" => format!(" -> {signed}"),
        "poll" | "epoll_wait" | "select" | "pselect6" | "ppoll" => format!(" -> {signed} ready"),
        _ => String::new(),
    }
}

/// How old a file is that was looked at.
fn age(world: &World, uses: &[Use]) -> Option<String> {
    let Some(Use::Name(named)) = uses.first() else { return None };
    let inode = world.kernel.inode(named.after?)?;
    let age = world.kernel.clock.real().saturating_sub(inode.modified);
    Some(if age < 1_000_000_000 { " -> just changed".to_owned() } else { format!(" -> {} old", span(age)) })
}

fn descriptor(world: &World, tid: Tid, fd: i32) -> String {
    let kind = described(world, tid, fd);
    if kind.is_empty() { format!("fd {fd}") } else { format!("fd {fd} ({kind})") }
}

/// What a descriptor refers to.
pub fn file_of(world: &World, tid: Tid, fd: i32) -> Option<File> {
    let kernel = &world.kernel;
    let process = kernel.threads.get(&tid).and_then(|thread| kernel.processes.get(&thread.pid));
    let descriptor = process.and_then(|process| process.descriptors.get(fd).ok())?;
    kernel.descriptions.get(&descriptor.description).map(|description| description.file)
}

fn console(stream: Console) -> &'static str {
    match stream {
        Console::Input => "standard input",
        Console::Output => "standard output",
        Console::Error => "standard error",
    }
}

fn described(world: &World, tid: Tid, fd: i32) -> &'static str {
    match file_of(world, tid, fd) {
        Some(File::Inode(id)) => match world.kernel.inode(id).map(|inode| inode.kind) {
            Some(files::Kind::Directory) => "directory",
            _ => "file",
        },
        Some(File::PipeReader(_) | File::PipeWriter(_) | File::PipeBoth(_)) => "pipe",
        Some(File::Socket(_)) => "socket",
        Some(File::Event(_)) => "eventfd",
        Some(File::Timer(_)) => "timerfd",
        Some(File::Epoll(_)) => "epoll",
        Some(File::Terminal(_) | File::PtyMaster(_)) => "terminal",
        Some(File::Console(stream)) => console(stream),
        _ => "",
    }
}

/// A text that ends with a zero byte.
pub fn text_at(world: &World, space: SpaceId, address: u64) -> Option<String> {
    let mut text = Vec::new();
    for offset in 0..256 {
        let mut byte = [0];
        world.memory.peek(space, address.checked_add(offset)?, &mut byte).ok()?;
        if byte[0] == 0 {
            break;
        }
        text.push(byte[0]);
    }
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn quoted(world: &World, space: SpaceId, address: u64, length: u64) -> String {
    let mut bytes = vec![0; length.min(TEXT_MAX as u64) as usize];
    if world.memory.peek(space, address, &mut bytes).is_err() {
        return format!("{length} bytes");
    }
    let is_text = bytes.iter().all(|byte| (0x20..0x7f).contains(byte) || b"\n\r\t".contains(byte));
    let dots = if length > TEXT_MAX as u64 { "..." } else { "" };
    match is_text {
        true => format!("{:?}{dots}", String::from_utf8_lossy(&bytes)),
        false if length == 1 => "1 byte".to_owned(),
        false => format!("{length} bytes"),
    }
}

/// The address in a `struct sockaddr`.
fn address(world: &World, space: SpaceId, at: u64, length: u64) -> Option<String> {
    const AF_UNIX: u16 = 1;
    const AF_INET: u16 = 2;
    let mut bytes = vec![0; length.clamp(2, 128) as usize];
    world.memory.peek(space, at, &mut bytes).ok()?;
    match u16::from_le_bytes([bytes[0], bytes[1]]) {
        AF_INET if bytes.len() >= 8 => {
            let port = u16::from_be_bytes([bytes[2], bytes[3]]);
            Some(format!("{}.{}.{}.{}:{port}", bytes[4], bytes[5], bytes[6], bytes[7]))
        }
        AF_UNIX => {
            let end = bytes[2..].iter().position(|byte| *byte == 0).unwrap_or(bytes.len() - 2);
            Some(String::from_utf8_lossy(&bytes[2..2 + end]).into_owned())
        }
        _ => None,
    }
}

/// What operations on System V semaphores do: `#1 -1`.
fn semaphores(world: &World, space: SpaceId, args: &[u64; 6]) -> Option<String> {
    let mut told = Vec::new();
    for index in 0..args[2].min(8) {
        let mut bytes = [0; 6];
        world.memory.peek(space, args[1].checked_add(index * 6)?, &mut bytes).ok()?;
        let number = u16::from_le_bytes([bytes[0], bytes[1]]);
        told.push(format!("#{number} {:+}", i16::from_le_bytes([bytes[2], bytes[3]])));
    }
    Some(format!("{} of set {}", told.join(", "), args[0] as i32))
}
