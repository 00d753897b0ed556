//! Locks that programs acquire by an instruction of their own where they are free, such as Rust's `Mutex`.
//!
//! Their word says that they are held, and not by whom: whoever moved when it came to be held has acquired it. So the states of
//! the run are asked, when the run is told; no state has to know.

use super::Narration;
use crate::libc::{Does, Operation};
use crate::system::programs::Programs;
use crate::system::state::Snapshot;
use kernel::Tid;
use trace::{Change, EventKind, Verb};

/// Parts of Rust's own types, at the end of a way through them: the author knows what they are in.
const OF_LIBRARY: [&str; 9] = [
    "->inner.futex",
    ".inner.futex",
    "->futex",
    ".futex",
    ".raw.state",
    "->raw.state",
    "->state",
    ".ptr.pointer->data",
    ".lock",
];

/// A lock by the name of what its author declared.
pub(super) fn of_author(path: &str) -> &str {
    let shorter = OF_LIBRARY.iter().find_map(|part| path.strip_suffix(part));
    shorter.map_or(path, of_author)
}

impl Programs {
    /// Tells who acquired the locks of this kind that threads wait for in the last state.
    pub(super) fn tell_inline_locks(&mut self, story: &mut Narration, states: &[Snapshot]) {
        let Some(last) = states.last() else { return };
        self.load(last);
        for operation in self.waits_for_inline_locks() {
            let name = self.narrator().object_name(&operation);
            if let Some(step) = self.acquisition(&operation, states) {
                self.tell_acquisition(story, states, (&operation, name), step);
            }
            self.load(last);
        }
    }

    fn waits_for_inline_locks(&mut self) -> Vec<Operation> {
        let tids: Vec<Tid> = self.state.world.kernel.threads.keys().copied().collect();
        let narrator = self.narrator();
        let view = &narrator.view;
        let waiting = tids.into_iter().filter_map(|tid| view.hook(tid).map(|hook| view.operation(tid, hook)));
        let is_inline = |operation: &Operation| operation.function.does().is_some_and(Does::is_of_inline_locks);
        waiting.filter(|operation| is_inline(operation) && !operation.is_enabled(view.state.seen())).collect()
    }

    /// The last step that made a free lock a held one.
    fn acquisition(&mut self, operation: &Operation, states: &[Snapshot]) -> Option<usize> {
        let mut is_held = |state: &Snapshot| {
            self.load(state);
            operation.is_held_inline(self.state.seen())
        };
        (1..states.len()).rev().find(|step| is_held(&states[*step]) && !is_held(&states[*step - 1]))
    }

    fn tell_acquisition(
        &mut self,
        story: &mut Narration,
        states: &[Snapshot],
        (operation, name): (&Operation, String),
        step: usize,
    ) {
        let told = &mut story.told.trace.steps[step - 1];
        let tid = Tid(told.choice.actor);
        self.load(&states[step - 1]);
        let location = self.narrator().place(tid).location;
        let Some(lock) = operation.inline_lock(self.state.seen()) else { return };
        self.listener.context.inline_holders.insert(lock, tid);
        self.listener.context.held.insert(lock, step);
        let Some(event) = told.events.last_mut() else { return };
        // The instruction that acquires the lock was told as a write to its word.
        if matches!(event.kind, EventKind::Local | EventKind::Access { is_write: true, .. }) {
            let object = Some(name.clone());
            event.kind = EventKind::Operation(trace::Operation { verb: Verb::Lock, object, has_time_limit: false });
            event.location = location;
        }
        event.changes.push(Change { name, before: "free".to_owned(), after: self.listener.thread(tid) });
        told.is_local = Some(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_called_by_what_its_author_declared() {
        let told = |path: &str, name: &str| assert_eq!(of_author(path), name);
        told("alice.ptr.pointer->data.inner.futex", "alice");
        told("from.lock->inner.futex", "from");
        told("bank.accounts[1].raw.state", "bank.accounts[1]");
        told("HITS", "HITS");
    }
}
