//! Memoized steps.
//!
//! A thread takes the same step in thousands of states that differ only in what other threads did elsewhere. An entry
//! keeps the read set of a step (registers, kernel, mappings and the thread's own overlay in the key; other threads and
//! words of memory in the entry) and its effect, the change of the fingerprint included. Where the read set is the
//! same, so is the effect.

use super::key::MemoKey;
use crate::libc::living;
use crate::memo::lru::LruList;
use crate::options::Holes;
use crate::system::dependency::Dependency;
use crate::system::overlay::{Overlay, ThreadOverlay};
use crate::system::programs::{Executed, Programs};
use crate::system::state::History;
use crate::system::state::Snapshot;
use explore::graph::Access;
use kernel::kernel::Output;
use kernel::shared::Shared;
use kernel::{Kernel, Tid};
use memory::Effect;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use x86::Cpu;

/// Entries at most: each keeps words, and may keep a kernel alive that no state has any more.
const STEPS_MAX: usize = 1 << 13;

/// Keys at most, with entries or without.
const KEYS_MAX: usize = 1 << 17;

/// Hits or misses in a row that decide whether further hits are expected.
///
/// Programs in which nothing recurs (a counter in every state) would pay for lookups and never hit.
const BALANCE_MAX: i32 = 1000;

/// Where nothing is hit, so many steps are executed without a lookup.
const SKIPPED_MAX: u32 = 15;

/// Steps that were tried and may be taken soon.
const TRIED_MAX: usize = 1 << 10;

/// Memoized steps of one search.
#[derive(Default)]
pub(crate) struct StepMemo {
    steps: FxHashMap<u128, LruList<MemoEntry>>,
    count: usize,
    /// Recent hits minus misses.
    hit_balance: i32,
    /// Steps since the last lookup.
    skipped: u32,
    /// Steps that were tried, by snapshot number and choice: most are taken soon.
    tried: FxHashMap<(u64, u32, u32), Arc<MemoEntry>>,
}

/// A memoized step.
///
/// **Invariant:** applied to any state that it fits, it gives what executing would give. Whatever a
/// step reads must therefore be in the key, in `memory` or in `answers`; a new kind of dependence
/// of steps on other threads needs a new [`Dependency`], or the audit finds it.
pub(crate) struct MemoEntry {
    /// Layout fingerprint of the state that it was made in: the words below are meaningful only under the same
    /// mappings.
    layout: u128,
    /// Words that it read, with their values, and those that it wrote.
    memory: Effect,
    /// What it read of other threads.
    answers: Vec<(Dependency, u128)>,
    /// Registers and overlays afterwards, where they changed.
    cpus: Vec<(Tid, Option<Shared<Cpu>>)>,
    overlays: Vec<(Tid, Option<Shared<ThreadOverlay>>)>,
    /// Fingerprints of the registers before, of other threads whose registers changed.
    cpus_before: Vec<(Tid, u128)>,
    /// The kernel afterwards, if the step made a syscall.
    kernel: Option<Shared<Kernel>>,
    /// Whether it reads what other threads do in the kernel.
    reads_kernel: bool,
    /// The overlay without threads' entries, and the history, afterwards.
    overlay: Overlay,
    history: History,
    /// Fingerprint of these two.
    aside: u128,
    pub printed: Vec<Output>,
    /// What it adds to the fingerprint. A fingerprint is a sum over parts, so the change does not depend on the other
    /// parts.
    change: u128,
    by: Tid,
    pub accesses: Vec<Access>,
    pub progress: bool,
}

impl StepMemo {
    /// The entry of a step that was tried in this snapshot.
    pub fn take_tried(&mut self, at: (u64, u32, u32)) -> Option<Arc<MemoEntry>> {
        let entry = self.tried.remove(&at)?;
        self.note(true);
        Some(entry)
    }

    /// Keeps the entry of a step that was tried.
    pub fn keep_tried(&mut self, at: (u64, u32, u32), entry: &Arc<MemoEntry>) {
        if self.tried.len() >= TRIED_MAX {
            self.tried.clear();
        }
        self.tried.insert(at, Arc::clone(entry));
    }

    /// Whether a lookup pays: where nothing is hit, only now and then.
    pub fn pays(&mut self) -> bool {
        self.skipped =
            if self.hit_balance > -BALANCE_MAX || self.skipped >= SKIPPED_MAX { 0 } else { self.skipped + 1 };
        self.skipped == 0
    }

    /// An entry whose read set is the same in a state.
    pub fn find(&mut self, key: MemoKey, state: &Snapshot, holes: Holes) -> Option<Arc<MemoEntry>> {
        let mut find = |key| self.steps.get_mut(&key)?.find(|entry| entry.fits(state, holes)).cloned();
        let entry = find(key.silent).or_else(|| find(key.any));
        self.note(entry.is_some());
        entry
    }

    /// Whether a step is to be memoized: its key occurred before, and not with too many read sets, or hits are likely.
    pub fn is_wanted(&mut self, key: MemoKey) -> bool {
        if self.steps.len() >= KEYS_MAX {
            *self = Self::default();
        }
        let is_recurrent = self.steps.contains_key(&key.silent);
        let is_full = self.steps.entry(key.silent).or_default().is_full()
            || self.steps.get(&key.any).is_some_and(LruList::is_full);
        self.hit_balance > 0 || is_recurrent && !is_full
    }

    pub fn add(&mut self, key: MemoKey, entry: MemoEntry) {
        if self.count >= STEPS_MAX {
            *self = Self::default();
        }
        let key = if entry.reads_kernel { key.any } else { key.silent };
        self.count += self.steps.entry(key).or_default().add(entry);
    }

    /// Counts a hit or a miss.
    fn note(&mut self, is_hit: bool) {
        let more = if is_hit { 1 } else { -1 };
        self.hit_balance = (self.hit_balance + more).clamp(-BALANCE_MAX, BALANCE_MAX);
    }
}

impl MemoEntry {
    /// The entry of a step that was just executed; nothing if a part of its read set was not recorded.
    ///
    /// `None` where something was read that has no place in a read set: then the step is executed
    /// each time, which is always right.
    pub fn new(
        programs: &mut Programs,
        by: Tid,
        (before, after): (&Snapshot, &Snapshot),
        executed: &Executed,
    ) -> Option<Self> {
        let Executed { step, reads } = executed;
        // How spinning threads react to its writes is not in the read set.
        let is_quiet = before.overlay.disturbed(by, &step.accesses).is_empty();
        let space = before.space(by).filter(|_| is_quiet)?;
        let memory = programs.state.world.memory.effect(space, &before.memory, &after.memory)?;
        let is_silent = after.kernel.is_same(&before.kernel);
        let overlays = after.overlay.differing(&before.overlay);
        let cpus: Vec<Tid> = after.cpus.differing(&before.cpus).into_iter().copied().collect();
        let others = overlays.iter().filter(|other| **other != by).map(|other| Dependency::Thread(*other));
        Some(Self {
            layout: before.memory.layout_fingerprint(),
            memory,
            answers: answers_in(before, reads.iter().copied().chain(others).collect()),
            cpus_before: cpus.iter().filter(|other| **other != by).map(|other| (*other, before.cpu(*other))).collect(),
            cpus: cpus.into_iter().map(|tid| (tid, after.cpus.shared(&tid).cloned())).collect(),
            overlays: overlays.into_iter().map(|tid| (tid, after.overlay.shared(tid).cloned())).collect(),
            kernel: (!is_silent).then(|| after.kernel.clone()),
            // Whether a deadline is pending that time may pass to early.
            reads_kernel: !is_silent || programs.workload.may_ever_hasten(),
            overlay: after.overlay.without_threads(),
            history: after.history.clone(),
            aside: after.aside,
            printed: programs.printed.clone(),
            change: step.reached.fingerprint.wrapping_sub(before.fingerprint),
            by,
            accesses: step.accesses.clone(),
            progress: step.progress,
        })
    }

    /// The fingerprint of the state that it leads to.
    pub fn fingerprint_after(&self, state: &Snapshot) -> u128 {
        state.fingerprint.wrapping_add(self.change)
    }

    /// The state that it leads to.
    ///
    /// O(words written + threads changed). Pages are found by content among interned ones, so equal
    /// successors share them.
    pub fn apply(&self, programs: &mut Programs, state: &Snapshot) -> Snapshot {
        assert_eq!(self.layout, state.memory.layout_fingerprint(), "a memoized step is applied under other mappings");
        let mut after = Snapshot {
            memory: programs.state.world.memory.apply(&state.memory, &self.memory),
            aside: self.aside,
            fingerprint: self.fingerprint_after(state),
            number: programs.next_number(),
            history: self.history.clone(),
            kernel: self.kernel.as_ref().unwrap_or(&state.kernel).clone(),
            ..state.clone()
        };
        for (tid, cpu) in &self.cpus {
            match cpu {
                Some(cpu) => drop(after.cpus.put(*tid, cpu.clone())),
                None => drop(after.cpus.remove(tid)),
            }
        }
        self.overlays.iter().for_each(|(tid, overlay)| after.overlay.put(*tid, overlay.clone()));
        after.overlay.know_aside(&self.overlay);
        after
    }

    /// Whether its read set is the same in a state.
    fn fits(&self, state: &Snapshot, holes: Holes) -> bool {
        (holes.memo || state.memory.satisfies(&self.memory))
            && state.overlay.disturbed(self.by, &self.accesses).is_empty()
            && self.cpus_before.iter().all(|(tid, known)| state.cpu(*tid) == *known)
            && are_answers_in(state, &self.answers)
    }
}

/// The values of dependencies in a state, each once.
pub(crate) fn answers_in(state: &Snapshot, mut reads: Vec<Dependency>) -> Vec<(Dependency, u128)> {
    reads.sort_unstable();
    reads.dedup();
    reads.into_iter().map(|read| (read, answer(state, read))).collect()
}

/// Whether dependencies have the same values in a state.
pub(crate) fn are_answers_in(state: &Snapshot, answers: &[(Dependency, u128)]) -> bool {
    answers.iter().all(|(read, known)| answer(state, *read) == *known)
}

/// Fingerprint of the value of a dependency.
///
/// Dependencies are questions with 128-bit answers, so that a read set is compared without knowing
/// what each was about.
fn answer(state: &Snapshot, read: Dependency) -> u128 {
    let living = |space, base| living(&state.kernel, &state.cpus, space, base);
    match read {
        Dependency::Base(base, space) => living(space, base).map_or(0, |tid| u128::from(tid.0)),
        _ => state.overlay.answer(read),
    }
}
