//! Stores enter the buffer of their thread; its loads see them there.

use crate::options::MemoryModel;
use crate::store_buffer::drain::{of_store, stored};
use crate::system::overlay::{BufferedStore, Part};
use crate::system::programs::Programs;
use crate::system::state::State;
use crate::system::step::Step;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use explore::graph::Access;
use kernel::Tid;
use memory::SpaceId;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use world::World;
use x86::Cpu;

/// Whether a store buffer was full: then what holds, holds for so many stores.
#[derive(Clone, Default)]
pub(crate) struct BufferOverflow(Arc<AtomicBool>);

impl BufferOverflow {
    fn note(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it happened.
    pub fn has_happened(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Whether a search needed store buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StoreBuffers {
    /// No triangular race was found: all executions are sequentially consistent.
    #[default]
    Unneeded,
    /// They never had to hold more stores than they could.
    Sufficed,
    /// One was full: what holds, holds for so many stores.
    Full,
}

impl Programs {
    /// Whether the search so far needed store buffers.
    #[must_use]
    pub fn store_buffers(&self) -> StoreBuffers {
        match (self.executor.refinement.triangular.buffers_stores, self.executor.buffer_overflow.has_happened()) {
            (false, _) => StoreBuffers::Unneeded,
            (true, false) => StoreBuffers::Sufficed,
            (true, true) => StoreBuffers::Full,
        }
    }
}

impl Programs {
    /// Stores that have not reached memory in the present state, by thread, oldest first.
    pub fn buffered_stores(&self) -> impl Iterator<Item = (Tid, Part)> {
        let buffers = self.state.overlay.buffers();
        buffers.flat_map(|(tid, buffer)| buffer.iter().map(move |store| (tid, store.part)))
    }
}

impl View<'_> {
    /// Whether stores of a thread to racing words are buffered. Not before there are two threads, and not in functions that are
    /// executed as a whole. That others exist now is not asked: their ends would change what the thread does next.
    pub(crate) fn buffers_stores(&self, tid: Tid) -> bool {
        self.executor.refinement.triangular.buffers_stores
            && !self.state.is_quiet(tid)
            && !self.state.overlay.is_in_prefix()
            && !self.workload.options.only_breaks
    }

    /// How many stores of a thread wait at most.
    fn buffered_max(&self) -> usize {
        match self.workload.options.memory {
            MemoryModel::Sequential => 0,
            MemoryModel::Tso { buffered_max } => buffered_max,
        }
    }
}

impl Stepper<'_> {
    /// A store enters the buffer of its thread; the oldest one leaves it if there is no room.
    ///
    /// Every word that it covers is one at which threads stop from now on: a load of the thread that did not stop would miss
    /// the store.
    pub(crate) fn buffer_store(&mut self, step: &mut Step, space: SpaceId, store: BufferedStore) {
        let most = self.view().buffered_max();
        while self.state.buffered(step.tid).len() >= most.max(1) {
            self.executor.buffer_overflow.note();
            self.drain_oldest(step);
        }
        let end = store.part.addr + u64::from(store.part.size);
        let words = (store.part.addr & !3..end).step_by(4).map(|word| (space, word));
        self.executor.refinement.promote(words);
        self.state.overlay.thread_mut(step.tid).buffer.push(store);
        step.accesses.push(of_store(step.tid, &store));
        step.accesses.push(Access { object: stored(step.tid), write: true, plain: false });
    }
}

impl State {
    /// Stores of a thread that have not reached memory, oldest first.
    pub(crate) fn buffered(&self, tid: Tid) -> &[BufferedStore] {
        self.overlay.thread(tid).map_or(&[], |overlay| &overlay.buffer)
    }

    /// Looks at a thread as if it were at another instruction: that of a store which it has made.
    pub(crate) fn at_instruction<R>(&mut self, tid: Tid, rip: u64, look: impl FnOnce(&World) -> R) -> R {
        let here = std::mem::replace(&mut self.cpu_mut(tid).rip, rip);
        let seen = look(&self.world);
        self.cpu_mut(tid).rip = here;
        seen
    }

    fn cpu_mut(&mut self, tid: Tid) -> &mut Cpu {
        self.world.cpus.get_mut(&tid).expect("a thread that has stored exists")
    }

    /// Writes the buffered stores of a thread to memory, to be taken back by [`State::put_values`]: what was there.
    pub(crate) fn show_own_stores(&mut self, tid: Tid, space: SpaceId) -> Vec<(Part, u64)> {
        let stores: Vec<Part> = self.buffered(tid).iter().map(|store| store.part).collect();
        let before = stores.iter().map(|part| (*part, self.part_value(space, part))).collect();
        self.put_values(space, &stores.iter().map(|part| (*part, part.value)).collect::<Vec<_>>());
        before
    }

    /// Writes values to memory.
    pub(crate) fn put_values(&mut self, space: SpaceId, values: &[(Part, u64)]) {
        for (part, value) in values {
            self.store(space, part, *value);
        }
    }

    /// The value that a thread reads: of its own newest store, byte by byte, or in memory.
    pub(crate) fn own_value(&mut self, tid: Tid, space: SpaceId, part: &Part) -> u64 {
        let before = self.show_own_stores(tid, space);
        let value = self.part_value(space, part);
        self.put_values(space, &before);
        value
    }
}
