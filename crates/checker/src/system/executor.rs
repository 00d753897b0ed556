//! What executes steps and outlives them: code caches, hooks of library functions, and the refinement. A worker has its
//! own; hooks are shared between workers, refinements are merged after each round.

use crate::footprint::recent::Recent;
use crate::libc::Hooks;
use crate::refinement::Refinement;
use crate::store_buffer::BufferOverflow;
use crate::system::prefix::Prefix;
use crate::system::probe::Probe;
use crate::system::schedulers::{Scheduler, Schedulers};
use crate::system::state::State;
use explore::graph::Race;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use x86::{Code, Stops};

#[derive(Default)]
pub(crate) struct Executor {
    /// Where functions of the C library are.
    pub hooks: Hooks,
    /// Code that stops before visible operations and at hooks.
    pub code: Code,
    /// Code inside functions that are executed as a whole: it stops at hooks alone.
    pub quiet: Code,
    /// Code that stops before visible operations, but not at hooks.
    pub unhooked: Code,
    /// The abstraction as refined by earlier steps.
    pub refinement: Refinement,
    /// Words of memory by object, for reports and for watchpoints.
    pub words: FxHashMap<u64, Vec<(memory::SpaceId, u64)>>,
    /// A buffer for the log of memory accesses, kept for its capacity.
    pub log: Vec<memory::Logged>,
    /// Accesses that were recorded a moment ago.
    pub recent: Recent,
    /// Incremented whenever steps may begin or end elsewhere than before: memo entries of an older version are void.
    pub version: u64,
    /// Steps before there are several actors, shared by workers.
    prefix: Arc<Mutex<Prefix>>,
    /// Runtimes that schedule inside of threads, shared by workers.
    schedulers: Arc<Mutex<Schedulers>>,
    /// Whether a store buffer was full, shared by workers.
    pub buffer_overflow: BufferOverflow,
    /// Instructions executed so far: what steps have cost, the same on any machine.
    pub instructions: u64,
    /// Looks into steps, for a debugger.
    pub probe: Option<Box<Probe>>,
}

impl Executor {
    /// The executor of another worker, with the same hooks and refinement.
    pub fn for_worker(&self) -> Self {
        let (hooks, refinement) = (self.hooks.clone(), self.refinement.clone());
        let (prefix, schedulers) = (Arc::clone(&self.prefix), Arc::clone(&self.schedulers));
        let buffer_overflow = self.buffer_overflow.clone();
        let mut executor = Self { hooks, refinement, prefix, schedulers, buffer_overflow, ..Self::default() };
        executor.refresh_stops();
        executor
    }

    /// Steps before there are several actors.
    pub fn prefix(&self) -> MutexGuard<'_, Prefix> {
        self.prefix.lock().expect("no worker panics while it has it")
    }

    /// Looks for runtimes that schedule inside of threads, in an address space with a new thread.
    pub fn look_for_schedulers(&self, memory: &memory::Memory, space: memory::SpaceId) {
        self.schedulers.lock().expect("no worker panics while it has it").look(memory, space);
    }

    /// The runtimes found that schedule inside of threads.
    pub fn schedulers(&self) -> BTreeSet<Scheduler> {
        self.schedulers.lock().expect("no worker panics while it has it").found.clone()
    }

    /// Makes code stop where hooks are now.
    pub fn refresh_stops(&mut self) {
        self.version += 1;
        let addresses = self.hooks.addresses().clone();
        self.code.stop_before(Stops { synchronising: true, addresses: addresses.clone() });
        self.quiet.stop_before(Stops { synchronising: false, addresses });
        self.unhooked.stop_before(Stops { synchronising: true, addresses: BTreeSet::new() });
    }

    /// Takes over hooks that other workers have found.
    pub fn catch_up(&mut self) {
        if self.hooks.catch_up() {
            self.refresh_stops();
        }
    }

    pub fn set_refinement(&mut self, refinement: Refinement) {
        self.refinement = refinement;
        self.version += 1;
    }

    /// Makes every access to the words of these races a visible operation. Whether the abstraction is finer than that of the
    /// round before.
    pub fn refine(&mut self, races: &[Race]) -> bool {
        let words = races.iter().filter_map(|race| self.words.get(&race.object));
        self.refinement.promote(words.flatten().copied());
        races.iter().for_each(|race| self.refinement.observe_at(race.object));
        races.iter().for_each(|race| self.split_at(race.object));
        let has_grown = self.refinement.has_grown.swap(false, Ordering::Relaxed);
        if has_grown {
            self.refinement.begin_round();
            self.version += 1;
        }
        has_grown
    }

    /// Whether a race would refine the abstraction.
    pub fn needs_refinement(&self, race: &Race) -> bool {
        let mut places = self.words.get(&race.object).into_iter().flatten();
        places.any(|place| !self.refinement.is_promoted(*place))
            || self.refinement.is_unobserved_lock(race.object)
            || self.is_coarse_at(race.object)
    }

    /// Sets watchpoints on visible words and on pages of watched ranges, in all address spaces that exist now.
    pub fn arm(&self, state: &mut State) {
        let memory = &mut state.world.memory;
        for (space, address) in &self.refinement.promoted {
            if memory.space_exists(*space) {
                memory.arm(*space, *address..*address + 4);
            }
        }
        for (space, range) in self.refinement.watched() {
            if memory.space_exists(*space) {
                memory.arm(*space, range.clone());
            }
        }
    }
}
