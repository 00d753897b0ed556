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
use std::ops::Range;

impl Stepper<'_> {
    /// A thread accesses a racing word by a plain instruction, while stores reach memory at once.
    pub(crate) fn note_order(&mut self, tid: Tid, addr: u64, size: u32, write: bool) {
        let options = &self.workload.options;
        let is_asked = matches!(options.memory, MemoryModel::Tso { .. }) && !options.holes.triangles;
        if !is_asked
            || self.executor.refinement.buffers_stores
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
