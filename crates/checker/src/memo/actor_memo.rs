//! Memoized actors: an actor's record is kept under its key and validated against its read set, so that the state need
//! not be restored to compute it.
//!
//! An actor's record (can it move, what does it wait for, which locks does it hold) is asked for in
//! every new state, for every actor that the step may have touched. It depends on far less than the
//! state: that is recorded while it is computed, as for steps.

use super::key::MemoKey;
use crate::memo::lru::LruList;
use crate::memo::step_memo::{answers_in, are_answers_in};
use crate::system::actors::ActorRecord;
use crate::system::dependency::Dependency;
use crate::system::programs::Programs;
use crate::system::state::Snapshot;
use crate::system::view::View;
use kernel::Tid;
use memory::Effect;
use rustc_hash::FxHashMap;

/// Entries at most.
///
/// When full, everything goes: simpler than ageing, and what recurs is back soon.
const ACTORS_MAX: usize = 1 << 14;

/// Memoized actors of one search.
#[derive(Default)]
pub(crate) struct ActorMemo {
    actors: FxHashMap<u128, LruList<ActorEntry>>,
    count: usize,
}

/// A read set, and the record that it decides.
struct ActorEntry {
    memory: Effect,
    answers: Vec<(Dependency, u128)>,
    record: ActorRecord,
}

impl ActorEntry {
    fn fits(&self, state: &Snapshot) -> bool {
        state.memory.satisfies(&self.memory) && are_answers_in(state, &self.answers)
    }
}

impl ActorMemo {
    /// The record of an actor whose read set is the same in a state.
    ///
    /// Under the silent key first, which is valid in more states.
    pub fn find(&mut self, key: MemoKey, state: &Snapshot) -> Option<ActorRecord> {
        let mut find =
            |key| self.actors.get_mut(&key)?.find(|entry| entry.fits(state)).map(|entry| entry.record.clone());
        find(key.silent).or_else(|| find(key.any))
    }

    /// Keeps a record that was just computed in a state.
    pub fn add(
        &mut self,
        key: MemoKey,
        programs: &mut Programs,
        (tid, state): (Tid, &Snapshot),
        (record, reads): (&ActorRecord, Vec<Dependency>),
    ) {
        let is_silent = programs.view().is_kernel_independent(tid) && !programs.workload.may_ever_hasten();
        let key = if is_silent { key.silent } else { key.any };
        let effect = |space| programs.state.world.memory.effect(space, &state.memory, &state.memory);
        let Some(memory) = state.space(tid).and_then(effect) else { return };
        if self.count >= ACTORS_MAX {
            *self = Self::default();
        }
        let entry = ActorEntry { memory, answers: answers_in(state, reads), record: record.clone() };
        self.count += self.actors.entry(key).or_default().add(entry);
    }
}

impl View<'_> {
    /// Whether a thread's record does not depend on other threads in the kernel: it is at a library function, and is
    /// blocked neither in the kernel nor at a gate.
    fn is_kernel_independent(self, tid: Tid) -> bool {
        let waits = self.state.world.kernel.threads.get(&tid).is_none_or(|thread| thread.wait.is_some());
        !waits && self.pending_operation(tid).is_some() && self.gate(tid).is_none()
    }
}
