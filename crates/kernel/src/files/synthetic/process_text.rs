//! Texts about one process or thread (`proc(5)`).

use super::item::Scope;
use super::{descriptors, memory_text};
use crate::files::file_system::{DEVICE_DEV, DEVICE_FILES, DEVICE_PROC, DEVICE_SYS};
use crate::files::place::Node;
use crate::process::{Process, State};
use crate::{Kernel, time};
use memory::Memory;

fn subject(kernel: &Kernel, scope: Scope) -> Option<&Process> {
    kernel.processes.get(&scope.pid)
}

fn joined(strings: &[Vec<u8>]) -> Vec<u8> {
    strings.iter().flat_map(|string| string.iter().copied().chain([0])).collect()
}

/// `cmdline`.
pub fn command_line(kernel: &Kernel, _: &Memory, scope: Scope) -> Vec<u8> {
    let living = subject(kernel, scope).filter(|process| !process.is_zombie());
    living.map(|process| joined(&process.image.arguments)).unwrap_or_default()
}

/// `environ`.
pub fn environment(kernel: &Kernel, _: &Memory, scope: Scope) -> Vec<u8> {
    subject(kernel, scope).map(|process| joined(&process.image.environment)).unwrap_or_default()
}

/// `auxv`.
pub fn auxiliary(kernel: &Kernel, _: &Memory, scope: Scope) -> Vec<u8> {
    subject(kernel, scope).map(|process| process.image.auxiliary.clone()).unwrap_or_default()
}

/// A thread's name; a zombie's is that of its program.
fn short_name(kernel: &Kernel, scope: Scope) -> String {
    let of_thread = kernel.threads.get(&scope.tid).map(|thread| thread.name.clone());
    let of_program = || {
        let path = subject(kernel, scope).map(|process| process.image.path.clone()).unwrap_or_default();
        let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        last[..last.len().min(15)].to_vec()
    };
    let name = of_thread.filter(|name| !name.is_empty()).unwrap_or_else(of_program);
    String::from_utf8_lossy(&name).into_owned()
}

/// `comm`.
pub fn name(kernel: &Kernel, _: &Memory, scope: Scope) -> Vec<u8> {
    format!("{}\n", short_name(kernel, scope)).into_bytes()
}

/// The letter and word of a state.
fn state(kernel: &Kernel, scope: Scope) -> (char, &'static str) {
    match subject(kernel, scope).map(|process| process.state) {
        Some(State::Stopped { .. }) => ('T', "stopped"),
        Some(State::Zombie(_)) | None => ('Z', "zombie"),
        Some(State::Running) => match kernel.threads.get(&scope.tid) {
            Some(thread) if thread.wait.is_some() => ('S', "sleeping"),
            Some(_) => ('R', "running"),
            None => ('Z', "zombie"),
        },
    }
}

/// `stat`: 52 fields.
pub fn stat(kernel: &Kernel, memory: &Memory, scope: Scope) -> Vec<u8> {
    let Some(process) = subject(kernel, scope) else { return Vec::new() };
    let (tid, name, letter) = (scope.tid.0, short_name(kernel, scope), state(kernel, scope).0);
    let (parent, group, session) = (process.parent.0, process.group.0, process.session.0);
    let threads = process.threads.len();
    let [pages, ..] = memory_text::counts(kernel, memory, scope);
    let (bytes, limit) = (pages * 4096, process.limits[5].0);
    let own = match kernel.threads.get(&scope.tid) {
        Some(thread) if tid != process.pid.0 => thread.processor_time(kernel.clock.now()),
        _ => time::process_time(kernel, process),
    };
    let (user, children) = (own / time::TICK, process.usage.children / time::TICK);
    // tty_nr to cmajflt: no terminal, no faults. All time is the user's.
    let head = format!("{tid} ({name}) {letter} {parent} {group} {session} 0 -1 4194304 0 0 0 0 {user} 0 {children} 0");
    // priority to rsslim, then addresses, signals and the rest as a reader without rights sees them.
    format!("{head} 20 0 {threads} 0 60000 {bytes} {pages} {limit}{}\n", " 0".repeat(27)).into_bytes()
}

/// Signals of a set as `status` shows them.
fn signal_sets(kernel: &Kernel, scope: Scope, process: &Process) -> String {
    let set = |pending: &[crate::process::SignalInfo]| {
        pending.iter().fold(0u64, |set, info| set | 1 << (u32::from(info.number) - 1))
    };
    let thread = kernel.threads.get(&scope.tid);
    let own = thread.map_or(0, |thread| set(&thread.pending));
    let blocked = thread.map_or(0, |thread| thread.blocked);
    let with = |handled: fn(u64) -> bool| {
        let actions = process.signals.actions.iter().enumerate().skip(1);
        actions.filter(|(_, action)| handled(action.handler)).fold(0u64, |set, (number, _)| set | 1 << (number - 1))
    };
    let (ignored, caught) = (with(|handler| handler == 1), with(|handler| handler > 1));
    let shared = set(&process.signals.pending);
    format!(
        "SigPnd:\t{own:016x}\nShdPnd:\t{shared:016x}\nSigBlk:\t{blocked:016x}\nSigIgn:\t{ignored:016x}\nSigCgt:\t{caught:016x}\n"
    )
}

/// `status`.
pub fn status(kernel: &Kernel, memory: &Memory, scope: Scope) -> Vec<u8> {
    let Some(process) = subject(kernel, scope) else { return Vec::new() };
    let (letter, word) = state(kernel, scope);
    let ids = |numbers: &[u32; 4]| numbers.map(|number| number.to_string()).join("\t");
    let groups: String = process.credentials.groups.iter().map(|group| format!("{group} ")).collect();
    let [pages, code, data] = memory_text::counts(kernel, memory, scope).map(|pages| pages * 4);
    let mask = process.directories.mask;
    let last = process.descriptors.iter().last().map_or(0, |(fd, _)| fd as u32 + 1);
    let [effective, permitted, inheritable] = process.credentials.capability_sets();
    let mut text = format!(
        "Name:\t{}\nUmask:\t{mask:04o}\nState:\t{letter} ({word})\nTgid:\t{}\nNgid:\t0\nPid:\t{}\nPPid:\t{}\nTracerPid:\t0\n",
        short_name(kernel, scope),
        process.pid.0,
        scope.tid.0,
        process.parent.0,
    );
    text += &format!("Uid:\t{}\nGid:\t{}\n", ids(&process.credentials.user), ids(&process.credentials.group));
    text += &format!("FDSize:\t{}\nGroups:\t{groups}\n", last.next_power_of_two().max(64));
    for (name, kib) in [("VmPeak", pages), ("VmSize", pages), ("VmLck", 0), ("VmHWM", pages), ("VmRSS", pages)] {
        text += &format!("{name}:\t{kib:>8} kB\n");
    }
    for (name, kib) in [("VmData", data), ("VmStk", 132), ("VmExe", code), ("VmLib", 0), ("VmSwap", 0)] {
        text += &format!("{name}:\t{kib:>8} kB\n");
    }
    text += &format!("Threads:\t{}\nSigQ:\t0/{}\n", process.threads.len(), process.limits[11].0);
    text += &signal_sets(kernel, scope, process);
    text += &format!("CapInh:\t{inheritable:016x}\nCapPrm:\t{permitted:016x}\nCapEff:\t{effective:016x}\n");
    text += &format!("CapBnd:\t{:016x}\nCapAmb:\t{:016x}\n", crate::capability::ALL, 0);
    text += &format!("NoNewPrivs:\t{}\nSeccomp:\t0\n", u8::from(process.controls.no_new_privileges));
    text += "Cpus_allowed:\t1\nCpus_allowed_list:\t0\nMems_allowed:\t1\nMems_allowed_list:\t0\n";
    text += "voluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_switches:\t0\n";
    text.into_bytes()
}

/// Rows of `limits`: name and unit, by `RLIMIT_*` number.
const LIMITS: [(&str, &str); 16] = [
    ("Max cpu time", "seconds"),
    ("Max file size", "bytes"),
    ("Max data size", "bytes"),
    ("Max stack size", "bytes"),
    ("Max core file size", "bytes"),
    ("Max resident set", "bytes"),
    ("Max processes", "processes"),
    ("Max open files", "files"),
    ("Max locked memory", "bytes"),
    ("Max address space", "bytes"),
    ("Max file locks", "locks"),
    ("Max pending signals", "signals"),
    ("Max msgqueue size", "bytes"),
    ("Max nice priority", ""),
    ("Max realtime priority", ""),
    ("Max realtime timeout", "us"),
];

/// `limits`.
pub fn limits(kernel: &Kernel, _: &Memory, scope: Scope) -> Vec<u8> {
    let Some(process) = subject(kernel, scope) else { return Vec::new() };
    let shown = |limit: u64| if limit == u64::MAX { "unlimited".to_string() } else { limit.to_string() };
    let row = |((name, unit), (soft, hard)): (&(&str, &str), &(u64, u64))| {
        format!("{name:<25} {:<20} {:<20} {unit:<10}\n", shown(*soft), shown(*hard))
    };
    let head = format!("{:<25} {:<20} {:<20} {:<10}\n", "Limit", "Soft Limit", "Hard Limit", "Units");
    let rows: String = LIMITS.iter().zip(process.limits.iter()).map(row).collect();
    (head + &rows).into_bytes()
}

/// `mounts`.
pub fn mounts(_: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    MOUNTS
        .iter()
        .map(|(_, _, kind, place, options)| format!("{kind} {place} {kind} {options} 0 0\n"))
        .collect::<String>()
        .into()
}

/// Number, device, kind, place and options of what is mounted.
const MOUNTS: [(u32, u32, &str, &str, &str); 4] = [
    (21, DEVICE_FILES, "tmpfs", "/", "rw,noatime"),
    (22, DEVICE_PROC, "proc", "/proc", "rw,nosuid,nodev,noexec,relatime"),
    (23, DEVICE_SYS, "sysfs", "/sys", "ro,nosuid,nodev,noexec,relatime"),
    (24, DEVICE_DEV, "devtmpfs", "/dev", "rw,nosuid,noexec,relatime"),
];

/// `mountinfo`.
pub fn mount_details(_: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    let row = |(number, device, kind, place, options): &(u32, u32, &str, &str, &str)| {
        let parent = if *number == 21 { 1 } else { 21 };
        let (major, minor) = (device >> 8, device & 0xff);
        format!("{number} {parent} {major}:{minor} / {place} {options} - {kind} {kind} rw\n")
    };
    MOUNTS.iter().map(row).collect::<String>().into_bytes()
}

/// `cgroup`.
pub fn control_group(_: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    b"0::/\n".to_vec()
}

/// `oom_score_adj`.
pub fn out_of_memory(kernel: &Kernel, _: &Memory, scope: Scope) -> Vec<u8> {
    let (adjustment, _) = subject(kernel, scope).map_or((0, 0), |process| process.controls.out_of_memory);
    format!("{adjustment}\n").into_bytes()
}

/// `oom_score`: nobody is killed when memory runs out, the run ends.
pub fn zero(_: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    b"0\n".to_vec()
}

/// `loginuid` and `sessionid`: never set.
pub fn login(_: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    b"4294967295".to_vec()
}

/// `personality`.
pub fn personality(kernel: &Kernel, _: &Memory, scope: Scope) -> Vec<u8> {
    let personality = subject(kernel, scope).map_or(0, |process| process.controls.personality);
    format!("{personality:08x}\n").into_bytes()
}

/// `setgroups`.
pub fn set_groups(_: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    b"allow\n".to_vec()
}

/// `uid_map` and `gid_map`: everybody is who they are.
pub fn id_map(_: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    b"         0          0 4294967295\n".to_vec()
}

/// `io`: nothing is counted, nothing goes to a disk.
pub fn transfers(_: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    let names = ["rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "cancelled_write_bytes"];
    names.iter().map(|name| format!("{name}: 0\n")).collect::<String>().into_bytes()
}

/// `syscall`: what a thread waits in.
pub fn current_call(kernel: &Kernel, _: &Memory, scope: Scope) -> Vec<u8> {
    let waiting = kernel.threads.get(&scope.tid).filter(|thread| thread.wait.is_some());
    let Some((number, args)) = waiting.and_then(|thread| thread.call) else { return b"running\n".to_vec() };
    let args: String = args.iter().map(|argument| format!(" {argument:#x}")).collect();
    format!("{number}{args} 0x0 0x0\n").into_bytes()
}

/// `wchan`.
pub fn wait_channel(_: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    b"0".to_vec()
}

/// `fdinfo/N`.
pub fn descriptor(kernel: &Kernel, scope: Scope, fd: i32) -> Vec<u8> {
    let entry = subject(kernel, scope).and_then(|process| process.descriptors.get(fd).ok());
    let Some((entry, open)) = entry.and_then(|entry| Some((entry, kernel.descriptions.get(&entry.description)?)))
    else {
        return Vec::new();
    };
    let flags = open.flags | if entry.close_on_exec { crate::descriptor::O_CLOEXEC } else { 0 };
    let number = match descriptors::node(kernel, entry.description) {
        Node::Inode(id) => kernel.inode(id).map_or(0, |inode| inode.number),
        Node::Open(id) => id.0 >> 24,
    };
    format!("pos:\t{}\nflags:\t0{flags:o}\nmnt_id:\t21\nino:\t{number}\n", open.offset).into_bytes()
}
