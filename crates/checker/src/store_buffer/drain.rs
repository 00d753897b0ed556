//! Drains: for each thread an actor whose steps take its oldest buffered store to memory.

use crate::footprint::access::{self, Kind};
use crate::system::choice::Alternative;
use crate::system::executor::Executor;
use crate::system::overlay::{BufferedStore, Overlay};
use crate::system::state::{Snapshot, State};
use crate::system::step::Step;
use crate::system::stepper::Stepper;
use explore::graph::{Access, Actor, Race};
use kernel::{Id, Tid};
use memory::Logged;

/// Numbers of drains have this bit, and below it the number of their thread: those of threads have five digits.
const DRAIN: u32 = 1 << 20;

/// Numbers from here on are those of deliveries of peers.
const END: u32 = DRAIN << 1;

/// Whether an actor takes the stores of a thread to memory.
#[must_use]
pub fn is_drain(actor: u32) -> bool {
    (DRAIN..END).contains(&actor)
}

/// The thread whose stores an actor takes to memory; none for any other actor.
pub(crate) fn drained_thread(actor: u32) -> Option<Tid> {
    is_drain(actor).then_some(Tid(actor & !DRAIN))
}

/// Whether a race is one of a thread with its own stores: it reads what it has stored.
pub(crate) fn is_of_one_thread(race: &Race) -> bool {
    let thread = |actor: u32| drained_thread(actor).map_or(actor, |tid| tid.0);
    thread(race.one.0) == thread(race.other.0)
}

/// Parts of "threads store": a thread writes its own part, whoever interrupts processors reads all. Threads that exist later are
/// among them.
const STORERS: u32 = 32;

/// That a thread stores, as an object: what its drain waits for while the buffer is empty.
pub(super) fn stored(tid: Tid) -> u64 {
    storers(tid.0 % STORERS)
}

fn storers(part: u32) -> u64 {
    access::object(Kind::World, 7, u64::from(part))
}

/// That a store of a thread reaches memory, as an object: what its next fence waits for.
pub(super) fn drained(tid: Tid) -> u64 {
    access::object(Kind::World, 8, u64::from(tid.0))
}

/// The accesses of a store that enters a buffer, or of its drain, which must come behind. Stores behind it in the buffer are not
/// in their way, and it is not in theirs.
pub(super) fn of_store(tid: Tid, store: &BufferedStore) -> Access {
    let id = Id(u64::from(tid.0)).child(store.rip).child(store.part.addr).child(store.part.value);
    Access { object: access::object(Kind::World, 9, id.0), write: true, plain: false }
}

impl Executor {
    /// A drain for each thread, where stores are buffered: blocked while its buffer is empty.
    pub(crate) fn drain_actors(&self, overlay: &Overlay) -> Vec<Actor> {
        if !self.refinement.triangular.buffers_stores {
            return Vec::new();
        }
        let drains = overlay.buffers().map(|(tid, buffer)| {
            let choices = u32::from(!buffer.is_empty());
            let awaits = if buffer.is_empty() { vec![stored(tid)] } else { Vec::new() };
            Actor { number: DRAIN | tid.0, creator: tid.0, choices, awaits, ..Actor::default() }
        });
        drains.collect()
    }
}

impl Stepper<'_> {
    /// The oldest buffered store of a thread reaches memory; the accesses.
    pub(crate) fn drain(&mut self, tid: Tid) -> Vec<Access> {
        let mut step = Step::begin(self.state, tid, Alternative::Run);
        let pid = self.state.world.kernel.threads.get(&tid).expect("it has stored").pid;
        self.hear_drain(tid);
        self.drain_oldest(&mut step);
        if self.workload.options.awaits {
            self.state.disturb(&step);
        }
        step.accesses.push(Access { object: access::object(Kind::World, 0, 0), write: false, plain: false });
        step.accesses.extend(self.view().reads_life(pid));
        step.accesses
    }

    /// All buffered stores of a thread reach memory.
    pub(crate) fn drain_all(&mut self, step: &mut Step) {
        while !self.state.buffered(step.tid).is_empty() {
            self.drain_oldest(step);
        }
    }

    /// The same for threads whose processors a step interrupts: the accesses. That buffers are empty is seen, too.
    pub(crate) fn drain_threads(&mut self, tids: &[Tid]) -> Vec<Access> {
        let mut accesses: Vec<Access> =
            (0..STORERS).map(|part| Access { object: storers(part), write: false, plain: false }).collect();
        for tid in tids {
            let mut step = Step::begin(self.state, *tid, Alternative::Run);
            self.drain_all(&mut step);
            accesses.append(&mut step.accesses);
        }
        accesses
    }

    pub(super) fn drain_oldest(&mut self, step: &mut Step) {
        let space = self.state.world.space(step.tid);
        let store = self.state.overlay.thread_mut(step.tid).buffer.remove(0);
        let part = store.part;
        self.state.store(space, &part, part.value);
        self.state.world.memory.forget_log();
        self.note(step, space, Logged { addr: part.addr, size: part.size, write: true }, true);
        step.accesses.push(of_store(step.tid, &store));
        step.accesses.push(Access { object: drained(step.tid), write: true, plain: false });
    }
}

impl State {
    /// Threads of an earlier state that exist no more although some of their stores had not reached memory.
    pub(crate) fn ended_with_stores(&self, before: &Snapshot) -> Vec<Tid> {
        let ended = before
            .overlay
            .buffers()
            .filter(|(tid, buffer)| !buffer.is_empty() && !self.world.kernel.threads.contains_key(tid));
        ended.map(|(tid, _)| tid).collect()
    }
}
