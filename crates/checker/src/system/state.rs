//! The state of programs under check: what is saved, restored and fingerprinted.

use crate::libc::Seen;
use crate::system::dependency::Dependency;
use crate::system::overlay::Overlay;
use crate::system::read_set::LiveOverlay;
use kernel::map::{Map, Wide};
use kernel::shared::Shared;
use kernel::{Kernel, Pid, Tid};
use std::sync::atomic::{AtomicU64, Ordering};
use world::World;
use world::fingerprint::FACTORS;
use x86::Cpu;

/// The state: the world, and what the checker keeps beside it.
pub(crate) struct State {
    pub world: World,
    /// What the checker keeps of threads.
    pub overlay: LiveOverlay,
    /// What it keeps of the past: opened gates, time that passed early, faults, output that propositions read.
    pub history: History,
}

/// What the checker keeps of the past of a state, beside threads.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct History {
    /// Services with gates that have begun.
    pub begun: Map<Pid, ()>,
    /// How often time passed while another actor was enabled.
    pub hastened: u32,
    /// The output of programs, if a proposition reads it.
    pub output: Map<(Pid, u8), Vec<u8>>,
    /// Faults that have happened, by their numbers, sorted.
    pub faults: Vec<u16>,
    /// Whether the condition has been true before which no fault happens.
    pub may_fault: bool,
    /// Programs that a fault pauses, sorted.
    pub paused: Vec<Pid>,
}

/// A saved state: every part of `State`, so that restoring it leaves nothing of the state before. No part refers to
/// the worker that saved it; any worker may restore it.
#[derive(Clone)]
pub struct Snapshot {
    pub(crate) kernel: Shared<Kernel>,
    pub(crate) memory: memory::Snapshot,
    pub(crate) cpus: Map<Tid, Cpu>,
    pub(crate) overlay: Overlay,
    pub(crate) history: History,
    /// Fingerprint of the overlay without threads' entries, and of the history.
    pub(crate) aside: u128,
    /// Fingerprint of the whole state.
    pub(crate) fingerprint: u128,
    /// Whether a thread may be in a timed wait.
    pub(crate) is_timed: bool,
    /// The propositions that hold, where formulas ask for them.
    pub(crate) valuation: u64,
    /// Unique among the snapshots of all workers.
    pub(crate) number: u64,
}

impl Snapshot {
    /// Fingerprints of its parts, for comparison.
    pub(crate) fn parts(&self) -> [u128; 6] {
        let memory = [self.memory.fingerprint(), self.memory.layout_fingerprint()];
        [self.kernel.identity(), memory[0], memory[1], self.cpus.sum(), self.overlay.sum(), self.aside]
    }

    /// Fingerprint of a thread's registers; 0 if there is no such thread.
    pub(crate) fn cpu(&self, tid: Tid) -> u128 {
        self.cpus.shared(&tid).map_or(0, Shared::identity)
    }

    /// The address space of a thread.
    pub(crate) fn space(&self, tid: Tid) -> Option<memory::SpaceId> {
        let thread = self.kernel.threads.get(&tid)?;
        self.kernel.processes.get(&thread.pid).map(|process| process.space)
    }
}

impl State {
    pub fn new(world: World) -> Self {
        Self { world, overlay: LiveOverlay::default(), history: History::default() }
    }

    /// The parts of the state that functions of the C library read.
    pub fn seen(&self) -> Seen<'_> {
        let World { kernel, memory, cpus, .. } = &self.world;
        Seen { kernel, memory, cpus, overlay: &self.overlay }
    }

    /// Saves the state under a number.
    pub fn save(&mut self, number: u64) -> Snapshot {
        let aside = self.aside();
        Snapshot {
            fingerprint: self.fingerprint_with(aside),
            is_timed: true,
            valuation: 0,
            aside,
            kernel: self.world.kernel.clone(),
            memory: self.world.memory.snapshot(),
            cpus: self.world.cpus.clone(),
            overlay: Overlay::clone(&self.overlay),
            history: self.history.clone(),
            number,
        }
    }

    /// Records from now on what a thread reads: words of memory, and other threads.
    pub fn begin_notes(&mut self, tid: Tid) {
        self.world.memory.record_reads();
        self.overlay.begin_notes(tid);
    }

    /// Ends the recording; returns what was read of other threads.
    pub fn end_notes(&mut self) -> Vec<Dependency> {
        self.world.memory.stop_recording();
        self.overlay.end_notes()
    }

    /// Makes the state that of a snapshot.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        self.world.kernel = snapshot.kernel.clone();
        self.world.memory.restore(&snapshot.memory);
        self.world.cpus = snapshot.cpus.clone();
        self.overlay.restore(&snapshot.overlay);
        self.history = snapshot.history.clone();
    }

    /// Whether memory and registers are those of a snapshot. It takes no time if nothing was written since.
    pub fn is_restored(&mut self, snapshot: &Snapshot) -> bool {
        self.world.memory.fingerprint() == snapshot.memory.fingerprint() && self.world.cpus.sum() == snapshot.cpus.sum()
    }

    /// Fingerprint of the whole state.
    pub fn fingerprint(&mut self) -> u128 {
        let aside = self.aside();
        self.fingerprint_with(aside)
    }

    fn fingerprint_with(&mut self, aside: u128) -> u128 {
        let (aside, overlays) = (aside.wrapping_mul(FACTORS[3]), self.overlay.sum().wrapping_mul(FACTORS[2]));
        self.world.fingerprint().wrapping_add(overlays).wrapping_add(aside)
    }

    fn aside(&self) -> u128 {
        Wide::hash_of((self.overlay.aside(), &self.history))
    }
}

/// How many snapshot numbers a worker has.
pub(crate) const NUMBERS: u64 = 1 << 40;

/// The first number of a worker's snapshots. Workers use disjoint ranges: a number identifies one snapshot.
pub(crate) fn first_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(NUMBERS, Ordering::Relaxed)
}
