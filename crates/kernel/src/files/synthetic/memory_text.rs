//! Texts about the address space of a process.

use super::item::Scope;
use crate::Kernel;
use memory::{Backing, Mapping, Memory, Protection, Sharing};

/// The mappings of a process, in address order.
fn mappings<'a>(kernel: &Kernel, memory: &'a Memory, scope: Scope) -> Vec<&'a Mapping> {
    let Some(process) = kernel.processes.get(&scope.pid).filter(|process| !process.is_zombie()) else {
        return Vec::new();
    };
    memory.mappings(process.space).collect()
}

/// One line of `/proc/PID/maps`.
fn line(kernel: &Kernel, mapping: &Mapping) -> String {
    let flag = |right, shown| if mapping.protection.contains(right) { shown } else { '-' };
    let sharing = if mapping.sharing == Sharing::Shared { 's' } else { 'p' };
    let (offset, device, number) = match mapping.backing {
        Backing::Object { id, offset } => match kernel.inode(crate::Id(id.0)) {
            Some(inode) => (offset, "08:01", inode.number),
            None => (offset, "00:01", id.0 >> 24),
        },
        Backing::Anonymous => (0, "00:00", 0),
    };
    let (read, write) = (flag(Protection::READ, 'r'), flag(Protection::WRITE, 'w'));
    let (execute, end) = (flag(Protection::EXECUTE, 'x'), mapping.start + mapping.len);
    let start = mapping.start;
    let head = format!("{start:08x}-{end:08x} {read}{write}{execute}{sharing} {offset:08x} {device} {number}");
    let name = mapping.name.text();
    // proc(5): the name starts in column 73.
    if name.is_empty() { format!("{head} \n") } else { format!("{head:<72} {name}\n") }
}

/// `/proc/PID/maps`.
pub fn maps(kernel: &Kernel, memory: &Memory, scope: Scope) -> Vec<u8> {
    mappings(kernel, memory, scope).into_iter().map(|mapping| line(kernel, mapping)).collect::<String>().into_bytes()
}

/// `/proc/PID/smaps`: sizes only, everything counted as resident.
pub fn details(kernel: &Kernel, memory: &Memory, scope: Scope) -> Vec<u8> {
    let detail = |mapping: &Mapping| line(kernel, mapping) + &sizes(mapping.len / 1024);
    mappings(kernel, memory, scope).into_iter().map(detail).collect::<String>().into_bytes()
}

/// `/proc/PID/smaps_rollup`.
pub fn summary(kernel: &Kernel, memory: &Memory, scope: Scope) -> Vec<u8> {
    let all = mappings(kernel, memory, scope);
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return Vec::new() };
    let head = format!("{:08x}-{:08x} ---p 00000000 00:00 0", first.start, last.start + last.len);
    let total = all.iter().map(|mapping| mapping.len).sum::<u64>() / 1024;
    format!("{head:<72} [rollup]\n{}", sizes(total)).into_bytes()
}

fn sizes(kib: u64) -> String {
    let rows = [("Size", kib), ("KernelPageSize", 4), ("MMUPageSize", 4), ("Rss", kib), ("Pss", kib), ("Swap", 0)];
    rows.iter().map(|(name, value)| format!("{:<16}{value:>8} kB\n", format!("{name}:"))).collect()
}

/// Pages of the address space: all, executable, writable.
pub fn counts(kernel: &Kernel, memory: &Memory, scope: Scope) -> [u64; 3] {
    let all = mappings(kernel, memory, scope);
    let sum = |which: fn(&Mapping) -> bool| {
        all.iter().filter(|mapping| which(mapping)).map(|mapping| mapping.len / memory::PAGE_SIZE).sum()
    };
    let executes = |mapping: &Mapping| mapping.protection.contains(Protection::EXECUTE);
    [sum(|_| true), sum(executes), sum(|mapping| mapping.protection.contains(Protection::WRITE))]
}

/// `/proc/PID/statm`.
pub fn pages(kernel: &Kernel, memory: &Memory, scope: Scope) -> Vec<u8> {
    let [all, code, data] = counts(kernel, memory, scope);
    format!("{all} {all} 0 {code} 0 {data} 0\n").into_bytes()
}
