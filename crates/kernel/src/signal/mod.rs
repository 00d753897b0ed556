//! Signals: actions, masks, sending, taking.

use crate::table::Row;

/// The calls of this family.
pub const ROWS: &[Row] = &[];

/// Whether a signal of the set (bit `n - 1` for signal `n`) is pending for the thread or its process.
#[must_use]
pub fn has_pending(kernel: &crate::Kernel, tid: crate::Tid, set: u64) -> bool {
    let Some(thread) = kernel.threads.get(&tid) else { return false };
    let process = kernel.processes.get(&thread.pid);
    let shared = process.into_iter().flat_map(|process| &process.signals.pending);
    thread.pending.iter().chain(shared).any(|info| set >> (info.number - 1) & 1 == 1)
}
