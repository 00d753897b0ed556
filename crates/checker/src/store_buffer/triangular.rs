//! Triangular races (Owens 2010): they show that store buffers matter.
//!
//! A thread stores to one racing word and then loads another one, with no operation in between that waits for the store; another
//! thread stores to what it loads. With a store buffer the load can come first.
//!
//! Whether the load and the store of the other thread can happen next to each other is not asked. Buffers that are not needed cost
//! time and no verdict.

use crate::footprint::access::{self, Kind};
use crate::options::MemoryModel;
use crate::system::overlay::Unfenced;
use crate::system::stepper::Stepper;
use kernel::Tid;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Triangular races, and the loads that may belong to one, as steps have shown so far. Nothing is ever removed.
#[derive(Clone, Default)]
pub(crate) struct TriangularRaces {
    /// Stores to words at which threads race wait in store buffers: with sequential consistency alone outcomes would be missed.
    pub buffers_stores: bool,
    /// A race was seen in this round. It counts from the next round on: within a round, all steps are of one machine.
    is_found: bool,
    /// Racing words that threads load behind a store to another one that may not have reached memory.
    late_loads: FxHashMap<u64, LateLoaders>,
}

/// Who loads a word behind a store to another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LateLoaders {
    One(Tid),
    Several,
}

impl TriangularRaces {
    /// What another search has shown.
    pub fn known(buffers_stores: bool) -> Self {
        Self { buffers_stores, ..Self::default() }
    }

    /// Records a late load. The stores of others to the word are looked at from the next round on. Whether that is new.
    pub fn note_late_load(&mut self, word: u64, tid: Tid) -> bool {
        self.add(word, LateLoaders::One(tid))
    }

    fn add(&mut self, word: u64, loaders: LateLoaders) -> bool {
        let known = self.late_loads.get(&word).copied();
        let both = if known.is_none_or(|known| known == loaders) { loaders } else { LateLoaders::Several };
        self.late_loads.insert(word, both);
        known != Some(both) && !self.buffers_stores
    }

    /// Records a store: a triangular race if another thread loads the word late. Whether that is new.
    pub fn note_store(&mut self, word: u64, tid: Tid) -> bool {
        self.late_loads.get(&word).is_some_and(|loaders| *loaders != LateLoaders::One(tid)) && self.find()
    }

    fn find(&mut self) -> bool {
        let is_new = !self.buffers_stores && !self.is_found;
        self.is_found = true;
        is_new
    }

    /// Takes over what another worker has seen. Whether any of it is new.
    #[allow(clippy::disallowed_methods, reason = "what comes of it does not depend on the order")]
    pub fn merge(&mut self, other: &Self) -> bool {
        let late = other.late_loads.iter().fold(false, |is_new, (word, loaders)| self.add(*word, *loaders) || is_new);
        other.is_found && self.find() || late
    }

    /// Begins a round.
    pub fn begin_round(&mut self) {
        self.buffers_stores |= self.is_found;
    }
}

impl Stepper<'_> {
    /// A thread accesses a racing word by a plain instruction, while stores reach memory at once.
    pub(crate) fn note_order(&mut self, tid: Tid, addr: u64, size: u32, write: bool) {
        let options = &self.workload.options;
        let is_asked = matches!(options.memory, MemoryModel::Tso { .. }) && !options.holes.triangles;
        if !is_asked
            || self.executor.refinement.triangular.buffers_stores
            || self.state.is_quiet(tid)
            || self.state.overlay.is_in_prefix()
        {
            return;
        }
        let before = self.state.overlay.thread(tid).map_or(Unfenced::Nothing, |overlay| overlay.unfenced);
        match write {
            true if before != before.and(addr, size) => {
                self.state.overlay.thread_mut(tid).unfenced = before.and(addr, size);
            }
            false if before.is_outside(addr, size) => self.note_late_load(tid, addr..addr + u64::from(size)),
            _ => {}
        }
    }
}

impl Stepper<'_> {
    fn note_late_load(&mut self, tid: Tid, range: Range<u64>) {
        let space = self.state.world.space(tid);
        for start in (range.start & !3..range.end).step_by(4) {
            let word = access::word(&self.state.world.memory, space, start, false, Kind::Word).object;
            self.executor.refinement.note_late_load(word, tid);
        }
    }
}

impl Unfenced {
    /// The same with one more store.
    fn and(self, addr: u64, size: u32) -> Self {
        let this = Self::Bytes { addr, size };
        match self {
            Self::Nothing => this,
            other if other == this => this,
            _ => Self::Several,
        }
    }

    /// Whether a load has bytes that no store of them wrote, or may have.
    fn is_outside(self, addr: u64, size: u32) -> bool {
        match self {
            Self::Nothing => false,
            Self::Bytes { addr: start, size: stored } => {
                addr < start || addr + u64::from(size) > start + u64::from(stored)
            }
            Self::Several => true,
        }
    }
}
