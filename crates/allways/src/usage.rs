//! What this process has used so far, as the host's kernel counts it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Memory at its peak; `None` where there is no `/proc`.
pub fn memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Memory in use now; `None` where there is no `/proc`.
pub fn memory_now() -> Option<u64> {
    let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = sizes.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// Bytes above which a single call of a guest gets no more memory.
static MOST: AtomicU64 = AtomicU64::new(u64::MAX);

/// Calls of guests that take much at once end when so many bytes are in use.
pub fn bound_memory(bytes: u64) {
    MOST.store(bytes, Relaxed);
}

/// Whether more memory is in use than [`bound_memory`] has allowed.
pub fn is_pressed() -> bool {
    memory_now().is_some_and(|bytes| bytes > MOST.load(Relaxed))
}

/// Memory that a search may use unless told otherwise: most of what is free, so that it ends with a verdict instead of
/// being killed; `None` where there is no `/proc`.
pub fn memory_to_use() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024 / 5 * 4)
}

/// Time on all cores; `None` where there is no `/proc`.
pub fn cpu_seconds() -> Option<f64> {
    // proc_pid_stat(5): fields 14 and 15, in hundredths of a second. The name before them may contain blanks.
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / 100.0)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_used_some_memory_and_no_absurd_time() {
        assert!(memory_to_use().is_some_and(|bytes| bytes > 1_000_000));
        assert!(memory_bytes().is_some_and(|bytes| bytes > 100_000));
        assert!(cpu_seconds().is_some_and(|seconds| (0.0..1e6).contains(&seconds)));
    }
}
