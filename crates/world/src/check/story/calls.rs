//! Syscalls in words: `read fd 4 (socket) -> 2 bytes`, `connect fd 3 (socket) to 127.0.0.1:7000`.

use crate::world::World;
use kernel::descriptor::File;
use kernel::errno::Errno;
use kernel::table::{self, Argument};
use kernel::{Tid, files};
use memory::SpaceId;

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
    "newfstatat",
    "getppid",
];

/// How much of a text is shown.
const TEXT_MAX: usize = 24;

/// A call that begins. Looks at memory without leaving a trace in the log of accesses.
pub fn begun(world: &World, tid: Tid, number: u64, args: &[u64; 6]) -> String {
    let Some(row) = table::row(number) else { return crate::refusal::call_name(number) };
    let space = world.space(tid);
    let mut words = vec![row.name.to_owned()];
    let skipped = ["recvfrom", "sendto", "accept", "accept4", "getsockname", "getpeername"].contains(&row.name);
    for (index, argument) in row.arguments.iter().enumerate() {
        let value = args[index];
        match argument {
            Argument::Fd => words.push(descriptor(world, tid, value as i32)),
            Argument::Path => words.extend(text_at(world, space, value).map(|path| format!("\"{path}\""))),
            Argument::In(length) if row.name.starts_with("write") || row.name.starts_with("send") => {
                words.push(quoted(world, space, value, args[usize::from(*length)]));
            }
            Argument::Int if row.name.starts_with("exit") || row.name == "listen" => words.push(value.to_string()),
            Argument::Signal => words.push(crate::strace::signal_name(value)),
            _ => {}
        }
    }
    if ["connect", "bind"].contains(&row.name) && !skipped {
        let to = if row.name == "bind" { "as" } else { "to" };
        words.extend(address(world, space, args[1], args[2]).map(|name| format!("{to} {name}")));
    }
    if ["semop", "semtimedop"].contains(&row.name) {
        words.extend(semaphores(world, space, args));
    }
    words.join(" ")
}

/// What a call came to.
pub fn returned(world: &World, tid: Tid, number: u64, args: &[u64; 6], result: u64) -> String {
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
        "open" | "openat" | "socket" | "accept" | "accept4" | "dup" | "eventfd2" => format!(" -> fd {signed}"),
        "fork" | "vfork" | "wait4" | "waitid" => format!(" -> {signed}"),
        "poll" | "epoll_wait" | "select" | "pselect6" | "ppoll" => format!(" -> {signed} ready"),
        _ => String::new(),
    }
}

fn descriptor(world: &World, tid: Tid, fd: i32) -> String {
    let kind = described(world, tid, fd);
    if kind.is_empty() { format!("fd {fd}") } else { format!("fd {fd} ({kind})") }
}

fn described(world: &World, tid: Tid, fd: i32) -> &'static str {
    let kernel = &world.kernel;
    let process = kernel.threads.get(&tid).and_then(|thread| kernel.processes.get(&thread.pid));
    let descriptor = process.and_then(|process| process.descriptors.get(fd).ok());
    let description = descriptor.and_then(|descriptor| kernel.descriptions.get(&descriptor.description));
    match description.map(|description| description.file) {
        Some(File::Inode(id)) => match kernel.inode(id).map(|inode| inode.kind) {
            Some(files::Kind::Directory) => "directory",
            _ => "file",
        },
        Some(File::PipeReader(_) | File::PipeWriter(_) | File::PipeBoth(_)) => "pipe",
        Some(File::Socket(_)) => "socket",
        Some(File::Event(_)) => "eventfd",
        Some(File::Timer(_)) => "timerfd",
        Some(File::Epoll(_)) => "epoll",
        Some(File::Terminal(_) | File::PtyMaster(_)) => "terminal",
        Some(File::Console(_)) => "console",
        _ => "",
    }
}

fn text_at(world: &World, space: SpaceId, address: u64) -> Option<String> {
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
