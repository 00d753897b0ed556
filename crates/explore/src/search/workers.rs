//! The workers of a breadth-first search: one on the calling thread, the others on threads of their own.

use super::frontier::{Counts, Frontier, Sighting};
use super::origin::{Member, can_share};
use super::shared::Shared;
use super::watch::Rhythm;
use super::worker::Worker;
use crate::store::Visited;
use crate::system::TransitionSystem;
use crate::threads;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvError, Sender, channel};
use std::thread::Scope;

/// Most states that a worker takes from the level at a time. Taking them costs little, and at the end of a level the
/// others wait for whoever has the last ones.
const CHUNK_MOST: usize = 32;
/// Times that a worker takes from its part of a level, if the chunks are smaller than they may be.
const CHUNKS: usize = 8;
/// How many states ahead of its expansion a state is fetched from the store.
const AHEAD: usize = 3;
/// Smaller levels are done by one worker: waking the others takes longer.
const LEVEL_SHARED: usize = 1024;
/// How often to look for a message before the thread goes to sleep: levels follow each other quickly, and waking a
/// thread takes as long as expanding a hundred states.
const LOOKS: u32 = 1000;

/// One level, taken apart by all workers.
///
/// Each worker has a part and helps others when that is done. Neighbours have successors in common, so it is best if the
/// same worker expands them: what it has just stored it finds in its own cache.
struct Level<S> {
    states: Frontier<S>,
    parts: Vec<Part>,
    chunk: usize,
    /// Whether these states are at the depth bound.
    last: bool,
}

/// One worker's part of a level, on a line of its own.
#[repr(align(128))]
struct Part {
    /// First state that nobody has taken.
    next: AtomicUsize,
    end: usize,
}

impl<S> Level<S> {
    fn new(states: Frontier<S>, workers: usize, last: bool) -> Self {
        let cut = |part: usize| states.len() * part / workers;
        let part = |part| Part { next: AtomicUsize::new(cut(part)), end: cut(part + 1) };
        let parts = (0..workers).map(part).collect();
        let chunk = (states.len() / (workers * CHUNKS)).clamp(1, CHUNK_MOST);
        Self { states, parts, chunk, last }
    }

    /// Whether several workers take it apart.
    fn is_shared(&self) -> bool {
        self.parts.len() > 1
    }

    /// Some states that nobody has taken, from a worker's own part as long as there are any.
    fn take(&self, worker: usize) -> Option<Range<usize>> {
        let (before, from_own) = self.parts.split_at(worker);
        from_own.iter().chain(before).find_map(|part| {
            let start = part.next.fetch_add(self.chunk, Relaxed);
            (start < part.end).then(|| start..(start + self.chunk).min(part.end))
        })
    }
}

/// The next message, looking for a while before going to sleep.
fn receive<T>(from: &Receiver<T>) -> Result<T, RecvError> {
    for _ in 0..LOOKS {
        if let Ok(message) = from.try_recv() {
            return Ok(message);
        }
        std::hint::spin_loop();
    }
    from.recv()
}

/// What a worker brings back from a level.
pub struct Harvest<S> {
    /// New states.
    pub found: Frontier<S>,
    /// New failures.
    pub sightings: Vec<Sighting>,
    /// Whether a state at the depth bound had a step.
    pub cut: bool,
    counts: Counts,
}

/// A worker on a thread of its own. Channels, not a barrier: if the thread panics its end closes and nobody waits for it.
struct Hand<S> {
    jobs: Sender<Arc<Level<S>>>,
    harvests: Receiver<Harvest<S>>,
    counts: Counts,
}

/// All workers of a search.
pub struct Crew<'a, S: TransitionSystem, V: Visited> {
    shared: &'a Shared<'a, S, V>,
    own: Worker<'a, S, V>,
    hands: Vec<Hand<S::State>>,
}

impl<'a, S: TransitionSystem, V: Visited> Crew<'a, S, V> {
    /// Starts the threads, which end when the crew is dropped.
    pub fn hire<'scope, 'env>(scope: &'scope Scope<'scope, 'env>, shared: &'a Shared<'a, S, V>) -> Self
    where
        'a: 'scope,
    {
        let hands = (1..shared.options.workers).map_while(|number| hire_one(scope, shared, number)).collect();
        Self { shared, own: Worker::new(shared, false), hands }
    }

    /// The first level: the initial state.
    pub fn start(&mut self) -> Frontier<S::State> {
        self.own.start();
        self.own.intake.session.release();
        self.own.intake.take_found()
    }

    /// Expands a level.
    pub fn expand(&mut self, states: Frontier<S::State>, last: bool) -> Harvest<S::State> {
        let ids_end = self.shared.shelf.read().ids_end();
        let helped = states.len() >= LEVEL_SHARED && can_share(states.len(), ids_end);
        let hands = if helped { &mut self.hands[..] } else { &mut [] };
        let level = Arc::new(Level::new(states, 1 + hands.len(), last));
        let is_shared = level.is_shared();
        for hand in hands.iter() {
            hand.jobs.send(level.clone()).expect("a worker runs until its crew is dropped");
        }
        let mut harvest = work(self.shared, &mut self.own, (0, &level));
        for hand in hands {
            let mut more = receive(&hand.harvests).expect("a worker panicked");
            hand.counts = more.counts;
            harvest.found.append(&mut more.found);
            harvest.sightings.append(&mut more.sightings);
            harvest.cut |= more.cut;
        }
        if is_shared {
            harvest.found = self.shared.put_in_order(harvest.found, &level.states.ids);
            harvest.sightings.sort_by_key(|sighting| sighting.index);
        }
        harvest
    }

    /// What each worker counted.
    pub fn counts(&self) -> Vec<Counts> {
        std::iter::once(self.own.intake.counts).chain(self.hands.iter().map(|hand| hand.counts)).collect()
    }
}

/// A helper; nothing if the host gives no thread.
fn hire_one<'a: 'scope, 'scope, S: TransitionSystem, V: Visited>(
    scope: &'scope Scope<'scope, '_>,
    shared: &'a Shared<'a, S, V>,
    number: usize,
) -> Option<Hand<S::State>> {
    let (jobs, todo) = channel::<Arc<Level<S::State>>>();
    let (done, harvests) = channel();
    let has_come = threads::help(scope, move || {
        let mut worker = Worker::new(shared, false);
        while let Ok(level) = receive(&todo) {
            let harvest = work(shared, &mut worker, (number, &level));
            drop(level);
            if done.send(harvest).is_err() {
                break;
            }
        }
    });
    has_come.then(|| Hand { jobs, harvests, counts: Counts::default() })
}

/// Expands chunks of the level until none is left or the search is to end.
fn work<S: TransitionSystem, V: Visited>(
    shared: &Shared<'_, S, V>,
    worker: &mut Worker<'_, S, V>,
    (number, level): (usize, &Level<S::State>),
) -> Harvest<S::State> {
    let mut rhythm = Rhythm::default();
    'level: while let Some(chunk) = level.take(number) {
        for index in chunk {
            let (id, state) = (level.states.ids[index], level.states.states.get(index));
            let member = Member { id, index, is_shared: level.is_shared() };
            if V::RESTORES
                && let Some(soon) = level.states.ids.get(index + AHEAD)
            {
                worker.intake.session.foresee(*soon);
            }
            if level.last {
                worker.expand_no_further(member, state);
            } else {
                worker.expand(member, state);
            }
            if rhythm.is_due() {
                // Others may be waiting to let the store grow.
                worker.intake.tell();
                worker.intake.session.release();
                if !shared.poll() {
                    break 'level;
                }
            }
        }
    }
    worker.intake.flush();
    worker.intake.tell();
    worker.intake.session.release();
    Harvest {
        found: worker.intake.take_found(),
        sightings: std::mem::take(&mut worker.intake.sightings),
        cut: worker.cut,
        counts: worker.intake.counts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_take_every_state_once_and_their_own_part_first() {
        for (states, workers) in [(1, 1), (1000, 3), (5, 4), (70_000, 2)] {
            let ids = (0..states as u32).collect();
            let level = Level::new(Frontier::<()> { ids, ..Frontier::default() }, workers, false);
            let first = level.take(workers - 1).unwrap();
            assert_eq!(first.start, states * (workers - 1) / workers);
            let mut taken: Vec<usize> = first.collect();
            for worker in (0..workers).cycle() {
                let Some(chunk) = level.take(worker) else { break };
                taken.extend(chunk);
            }
            taken.sort_unstable();
            assert!(taken.into_iter().eq(0..states));
        }
    }
}
