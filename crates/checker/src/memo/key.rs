//! Memo keys: fingerprints of all that decides a step, without memory and other threads.
//!
//! What is in the key is compared by identity (one hash lookup), what is in the read set word by
//! word. So the key has what changes together and rarely: registers decide nearly everything,
//! mappings and the rest of the overlay seldom differ.

use crate::system::state::Snapshot;
use kernel::map::Wide;
use kernel::shared::Shared;
use kernel::{Kernel, Tid};
use rustc_hash::FxHashMap;
use trace::Choice;

/// Views of kernels that are kept at most.
const VIEWS_MAX: usize = 1 << 17;

/// The key of a step: `silent` if it makes no syscall, `any` if it may make one.
///
/// Key and read set together decide a step. The key has the thread's registers and overlay, the layout of memory, the
/// rest of the overlay with the history, and the kernel as far as the step can read it. The read set has the words of
/// memory and the dependencies on other threads. A step that depends on more is not memoized.
///
/// `silent` ignores what other threads do in the kernel. A step that turns out to make a call is
/// kept under `any`, which has the identity of the whole kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemoKey {
    pub silent: u128,
    pub any: u128,
}

/// Computes keys.
#[derive(Default)]
pub(crate) struct Keys {
    /// Fingerprints of kernels as seen by threads that make no syscall.
    views: FxHashMap<(u128, Tid), u128>,
}

impl Keys {
    /// The key of a step of a thread; nothing if there is no such thread.
    pub fn of(&mut self, state: &Snapshot, choice: Choice) -> Option<MemoKey> {
        let tid = Tid(choice.actor);
        let (cpu, overlay) = (state.cpus.shared(&tid)?, state.overlay.shared(tid)?);
        let view = self.view(&state.kernel, tid)?;
        let parts = [cpu.identity(), overlay.identity(), state.memory.layout_fingerprint(), state.aside];
        let silent = Wide::hash_of_few((choice.actor, choice.index, parts, view));
        Some(MemoKey { silent, any: silent.rotate_left(1) ^ state.kernel.identity() })
    }

    /// Fingerprint of the kernel as seen by a thread that makes no syscall: of other threads only their existence.
    /// While a process-directed signal is pending, all threads decide which one handles it, and the whole kernel
    /// counts.
    ///
    /// Cloning the kernel costs reference counts; its maps are shared, and hashing it costs what
    /// differs. Memoized by identity, for thousands of states share a kernel.
    fn view(&mut self, kernel: &Shared<Kernel>, tid: Tid) -> Option<u128> {
        let pid = kernel.threads.get(&tid)?.pid;
        let view = || {
            if kernel.processes.values().any(|process| !process.signals.pending.is_empty()) {
                return kernel.identity();
            }
            let mut own = Kernel::clone(kernel);
            own.threads.retain(|other| *other == tid);
            let threads = &mut own.processes.get_mut(&pid).expect("a thread has a process").threads;
            let others = threads.iter().find(|other| **other != tid).map(|_| Tid(0));
            *threads = others.into_iter().chain([tid]).collect();
            Wide::hash_of((own, kernel.threads.len() > 1))
        };
        if self.views.len() >= VIEWS_MAX {
            self.views.clear();
        }
        Some(*self.views.entry((kernel.identity(), tid)).or_insert_with(view))
    }
}
