//! Files of `/proc` and `/sys` that belong to no process.

use super::item::{Item, Make, Scope};
use crate::Kernel;
use crate::files::lock::{Mode, Owner, Record};
use crate::files::locking;
use crate::system::{MEMORY, RELEASE, VERSION};
use memory::Memory;
use std::collections::BTreeSet;

/// Links with a fixed text.
const LINKS: &[(&str, &str)] = &[("/proc/mounts", "self/mounts"), ("/proc/net", "self/net")];

/// Texts: path, permissions, maker.
const TEXTS: &[(&str, u32, Make)] = &[
    ("/proc/cmdline", 0o444, |_, _, _| b"BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro\n".to_vec()),
    ("/proc/cpuinfo", 0o444, processors),
    ("/proc/filesystems", 0o444, |_, _, _| b"nodev\tproc\nnodev\tsysfs\nnodev\ttmpfs\nnodev\tdevtmpfs\n".to_vec()),
    ("/proc/loadavg", 0o444, load),
    ("/proc/locks", 0o444, locks),
    ("/proc/meminfo", 0o444, memory_info),
    ("/proc/stat", 0o444, stat),
    ("/proc/swaps", 0o444, |_, _, _| b"Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n".to_vec()),
    ("/proc/sys/fs/aio-max-nr", 0o644, |_, _, _| b"65536\n".to_vec()),
    ("/proc/sys/fs/file-max", 0o644, |_, _, _| b"9223372036854775807\n".to_vec()),
    ("/proc/sys/fs/file-nr", 0o444, open_files),
    ("/proc/sys/fs/inotify/max_queued_events", 0o644, |_, _, _| b"16384\n".to_vec()),
    ("/proc/sys/fs/inotify/max_user_instances", 0o644, |_, _, _| b"128\n".to_vec()),
    ("/proc/sys/fs/inotify/max_user_watches", 0o644, |_, _, _| b"65536\n".to_vec()),
    ("/proc/sys/fs/mqueue/msg_max", 0o644, |_, _, _| b"10\n".to_vec()),
    ("/proc/sys/fs/mqueue/msgsize_max", 0o644, |_, _, _| b"8192\n".to_vec()),
    ("/proc/sys/fs/nr_open", 0o644, |_, _, _| b"1048576\n".to_vec()),
    ("/proc/sys/fs/protected_hardlinks", 0o644, |_, _, _| b"0\n".to_vec()),
    ("/proc/sys/fs/protected_symlinks", 0o644, |_, _, _| b"0\n".to_vec()),
    ("/proc/sys/fs/pipe-max-size", 0o644, |_, _, _| b"1048576\n".to_vec()),
    ("/proc/sys/kernel/cap_last_cap", 0o444, |_, _, _| b"40\n".to_vec()),
    ("/proc/sys/kernel/core_pattern", 0o644, |_, _, _| b"core\n".to_vec()),
    ("/proc/sys/kernel/domainname", 0o644, domain_name),
    ("/proc/sys/kernel/hostname", 0o644, host_name),
    ("/proc/sys/kernel/msgmax", 0o644, |_, _, _| b"8192\n".to_vec()),
    ("/proc/sys/kernel/msgmnb", 0o644, |_, _, _| b"16384\n".to_vec()),
    ("/proc/sys/kernel/msgmni", 0o644, |_, _, _| b"32000\n".to_vec()),
    ("/proc/sys/kernel/ngroups_max", 0o444, |_, _, _| b"65536\n".to_vec()),
    ("/proc/sys/kernel/osrelease", 0o444, |_, _, _| line(RELEASE)),
    ("/proc/sys/kernel/ostype", 0o444, |_, _, _| b"Linux\n".to_vec()),
    ("/proc/sys/kernel/pid_max", 0o644, |_, _, _| b"4194304\n".to_vec()),
    ("/proc/sys/kernel/random/boot_id", 0o444, boot_id),
    ("/proc/sys/kernel/random/entropy_avail", 0o444, |_, _, _| b"256\n".to_vec()),
    ("/proc/sys/kernel/random/poolsize", 0o444, |_, _, _| b"256\n".to_vec()),
    ("/proc/sys/kernel/randomize_va_space", 0o644, |_, _, _| b"0\n".to_vec()),
    ("/proc/sys/kernel/sem", 0o644, |_, _, _| b"32000\t1024000000\t500\t32000\n".to_vec()),
    ("/proc/sys/kernel/shmall", 0o644, |_, _, _| b"18446744073692774399\n".to_vec()),
    ("/proc/sys/kernel/shmmax", 0o644, |_, _, _| b"18446744073692774399\n".to_vec()),
    ("/proc/sys/kernel/shmmni", 0o644, |_, _, _| b"4096\n".to_vec()),
    ("/proc/sys/kernel/threads-max", 0o644, |_, _, _| b"62000\n".to_vec()),
    ("/proc/sys/kernel/version", 0o444, |_, _, _| line(VERSION)),
    ("/proc/sys/net/core/rmem_max", 0o644, |_, _, _| b"212992\n".to_vec()),
    ("/proc/sys/net/core/somaxconn", 0o644, |_, _, _| b"4096\n".to_vec()),
    ("/proc/sys/net/core/wmem_max", 0o644, |_, _, _| b"212992\n".to_vec()),
    ("/proc/sys/net/ipv4/ip_local_port_range", 0o644, |_, _, _| b"32768\t60999\n".to_vec()),
    ("/proc/sys/net/ipv4/tcp_max_syn_backlog", 0o644, |_, _, _| b"512\n".to_vec()),
    ("/proc/sys/vm/max_map_count", 0o644, |_, _, _| b"65530\n".to_vec()),
    ("/proc/sys/vm/mmap_min_addr", 0o644, |_, _, _| b"65536\n".to_vec()),
    ("/proc/sys/vm/overcommit_memory", 0o644, |_, _, _| b"0\n".to_vec()),
    ("/proc/sys/vm/swappiness", 0o644, |_, _, _| b"60\n".to_vec()),
    ("/proc/uptime", 0o444, uptime),
    ("/proc/version", 0o444, |_, _, _| line(&format!("Linux version {RELEASE} (allways@allways) {VERSION}"))),
    ("/proc/vmstat", 0o444, |_, _, _| format!("nr_anon_pages {}\n", USED_KIB / 4).into_bytes()),
    ("/sys/devices/system/cpu/online", 0o444, |_, _, _| b"0\n".to_vec()),
    ("/sys/devices/system/cpu/possible", 0o444, |_, _, _| b"0\n".to_vec()),
    ("/sys/devices/system/cpu/present", 0o444, |_, _, _| b"0\n".to_vec()),
    ("/sys/devices/system/node/online", 0o444, |_, _, _| b"0\n".to_vec()),
    ("/sys/devices/system/node/possible", 0o444, |_, _, _| b"0\n".to_vec()),
    ("/sys/kernel/mm/transparent_hugepage/enabled", 0o644, |_, _, _| b"always madvise [never]\n".to_vec()),
    ("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", 0o444, |_, _, _| b"2097152\n".to_vec()),
];

/// Directories that have nothing in them.
const DIRECTORIES: &[&str] = &["/sys/devices/system/cpu/cpu0", "/sys/devices/system/node/node0", "/sys/fs/cgroup"];

/// A new one at every look.
const UUID: &str = "/proc/sys/kernel/random/uuid";

/// What is at a path.
pub fn item(path: &[u8]) -> Option<Item> {
    if let Some((_, mode, make)) = TEXTS.iter().find(|row| row.0.as_bytes() == path) {
        return Some(Item::Text(*mode, *make, None));
    }
    if path == UUID.as_bytes() {
        return Some(Item::Uuid);
    }
    if let Some((_, target)) = LINKS.iter().find(|row| row.0.as_bytes() == path) {
        return Some(Item::Link(target));
    }
    let is_directory =
        all().any(|known| below(known, path).is_some()) || DIRECTORIES.iter().any(|known| known.as_bytes() == path);
    is_directory.then_some(Item::Directory(None))
}

/// Names in a directory.
pub fn list(path: &[u8]) -> BTreeSet<Vec<u8>> {
    let first = |rest: &[u8]| rest.split(|byte| *byte == b'/').next().unwrap_or_default().to_vec();
    all().filter_map(|known| below(known, path)).map(first).collect()
}

fn all() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|row| row.0).chain(LINKS.iter().map(|row| row.0)).chain(DIRECTORIES.iter().copied()).chain([UUID])
}

/// What follows a directory's path in a longer one.
fn below<'a>(known: &'a str, directory: &[u8]) -> Option<&'a [u8]> {
    known.as_bytes().strip_prefix(directory)?.strip_prefix(b"/")
}

fn line(text: &str) -> Vec<u8> {
    format!("{text}\n").into_bytes()
}

/// Flags of the processor that is presented: x86-64-v2, BMI1 and LZCNT (`abm`).
const FLAGS: &str = "fpu de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 \
                     syscall nx lm constant_tsc rep_good nopl cpuid pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm abm bmi1";

fn processors(_: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    let fields = [
        ("processor\t", "0"),
        ("vendor_id\t", "GenuineIntel"),
        ("cpu family\t", "6"),
        ("model\t\t", "26"),
        ("model name\t", "Allways virtual processor"),
        ("stepping\t", "0"),
        ("cpu MHz\t\t", "1000.000"),
        ("cache size\t", "4096 KB"),
        ("physical id\t", "0"),
        ("siblings\t", "1"),
        ("core id\t\t", "0"),
        ("cpu cores\t", "1"),
        ("apicid\t\t", "0"),
        ("fpu\t\t", "yes"),
        ("fpu_exception\t", "yes"),
        ("cpuid level\t", "11"),
        ("wp\t\t", "yes"),
        ("flags\t\t", FLAGS),
        ("bugs\t\t", ""),
        ("bogomips\t", "2000.00"),
        ("clflush size\t", "64"),
        ("cache_alignment\t", "64"),
        ("address sizes\t", "40 bits physical, 48 bits virtual"),
    ];
    let text: String = fields.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    format!("{text}power management:\n\n").into_bytes()
}

/// Threads and those of them that can go on.
fn threads(kernel: &Kernel) -> (usize, usize) {
    (kernel.threads.len(), kernel.threads.values().filter(|thread| thread.wait.is_none()).count())
}

fn load(kernel: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    let (all, running) = threads(kernel);
    let last = kernel.processes.keys().next_back().map_or(0, |pid| pid.0);
    format!("0.00 0.00 0.00 {running}/{all} {last}\n").into_bytes()
}

/// Always half of it is said to be in use: how much really is depends on how pages are kept, which is no part of the state.
const USED_KIB: u64 = MEMORY / 1024 / 2;

fn memory_info(_: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    const MEMORY_KIB: u64 = MEMORY / 1024;
    let used = USED_KIB;
    let free = MEMORY_KIB - used;
    let rows = [
        ("MemTotal", MEMORY_KIB),
        ("MemFree", free),
        ("MemAvailable", free),
        ("Buffers", 0),
        ("Cached", 0),
        ("SwapCached", 0),
        ("Active", used),
        ("Inactive", 0),
        ("SwapTotal", 0),
        ("SwapFree", 0),
        ("Dirty", 0),
        ("Writeback", 0),
        ("AnonPages", used),
        ("Mapped", 0),
        ("Shmem", 0),
        ("CommitLimit", MEMORY_KIB / 2),
        ("Committed_AS", used),
        ("VmallocTotal", 34_359_738_367),
        ("Hugepagesize", 2048),
    ];
    let row = |(name, value): &(&str, u64)| format!("{:<16}{value:>8} kB\n", format!("{name}:"));
    rows.iter().map(row).collect::<String>().into_bytes()
}

fn stat(kernel: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    let ticks = kernel.clock.now() / 10_000_000;
    let boot = (kernel.clock.real() - kernel.clock.now()) / 1_000_000_000;
    let (_, running) = threads(kernel);
    let (all, blocked) = (kernel.processes.len(), 0);
    format!(
        "cpu  0 0 0 {ticks} 0 0 0 0 0 0\ncpu0 0 0 0 {ticks} 0 0 0 0 0 0\nintr 0\nctxt 0\nbtime {boot}\nprocesses {all}\n\
         procs_running {running}\nprocs_blocked {blocked}\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n"
    )
    .into_bytes()
}

/// One line for each lock; who holds it, the file, the range.
fn locks(kernel: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    let kind = |mode| if mode == Mode::Shared { "READ " } else { "WRITE" };
    let line = |(count, (file, record, whole)): (usize, (crate::Id, Option<Record>, Option<Mode>))| {
        let number = kernel.inode(file).map_or(file.0 >> 24, |inode| inode.number);
        let end = |end: u64| if end == i64::MAX as u64 { "EOF".to_string() } else { end.to_string() };
        let (family, mode, holder, start, end) = match (record, whole) {
            (Some(Record { start, end: last, owner: Owner::Process(pid), mode }), _) => {
                ("POSIX ", mode, i64::from(pid.0), start, end(last))
            }
            (Some(Record { start, end: last, mode, .. }), _) => ("OFDLCK", mode, -1, start, end(last)),
            (None, mode) => ("FLOCK ", mode.unwrap_or(Mode::Shared), 0, 0, end(i64::MAX as u64)),
        };
        format!("{}: {family} ADVISORY  {} {holder} 08:01:{number} {start} {end}\n", count + 1, kind(mode))
    };
    locking::all(kernel).enumerate().map(line).collect::<String>().into_bytes()
}

fn open_files(kernel: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    format!("{}\t0\t9223372036854775807\n", kernel.descriptions.len()).into_bytes()
}

fn uptime(kernel: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    let centis = kernel.clock.now() / 10_000_000;
    let shown = format!("{}.{:02}", centis / 100, centis % 100);
    format!("{shown} {shown}\n").into_bytes()
}

/// A version 4 UUID from a number (RFC 9562).
pub fn uuid(number: u64) -> Vec<u8> {
    let (high, low) = (crate::Id(number).child(1).0, crate::Id(number).child(2).0);
    let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0xfff);
    let (d, e) = (low >> 48 & 0x3fff | 0x8000, low & 0xffff_ffff_ffff);
    format!("{a:08x}-{b:04x}-4{c:03x}-{d:04x}-{e:012x}\n").into_bytes()
}

fn boot_id(kernel: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    uuid(kernel.seed)
}

fn host_name(kernel: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    [kernel.system.host.as_slice(), b"\n"].concat()
}

fn domain_name(kernel: &Kernel, _: &Memory, _: Scope) -> Vec<u8> {
    [kernel.system.domain.as_slice(), b"\n"].concat()
}
