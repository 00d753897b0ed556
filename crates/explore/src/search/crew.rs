//! The workers of a breadth-first search: one on the calling thread, the others on threads of their own.

use super::intake::{Counts, Frontier, Sighting};
use super::shared::Shared;
use super::watch::Rhythm;
use super::worker::Worker;
use crate::store::Visited;
use crate::system::TransitionSystem;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

/// States that a worker takes from the level at a time.
const CHUNK: usize = 128;
/// How many states ahead of its expansion a state is fetched from the store.
const AHEAD: usize = 3;
/// Smaller levels are done by one worker: waking the others takes longer.
const LEVEL_SHARED: usize = 1024;

/// One level, taken apart by all workers.
struct Level<S> {
    states: Frontier<S>,
    /// First state that nobody has taken.
    next: AtomicUsize,
    /// Whether these states are at the depth bound.
    last: bool,
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
        let hands = (1..shared.options.workers).map(|_| hire_one(scope, shared)).collect();
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
        let helped = states.len() >= LEVEL_SHARED;
        let level = Arc::new(Level { states, next: AtomicUsize::new(0), last });
        let hands = if helped { &mut self.hands[..] } else { &mut [] };
        for hand in hands.iter() {
            hand.jobs.send(level.clone()).expect("a worker runs until its crew is dropped");
        }
        let mut harvest = work(self.shared, &mut self.own, &level);
        for hand in hands {
            let mut more = hand.harvests.recv().expect("a worker panicked");
            hand.counts = more.counts;
            harvest.found.append(&mut more.found);
            harvest.sightings.append(&mut more.sightings);
            harvest.cut |= more.cut;
        }
        harvest
    }

    /// What each worker counted.
    pub fn counts(&self) -> Vec<Counts> {
        std::iter::once(self.own.intake.counts).chain(self.hands.iter().map(|hand| hand.counts)).collect()
    }
}

fn hire_one<'a: 'scope, 'scope, S: TransitionSystem, V: Visited>(
    scope: &'scope Scope<'scope, '_>,
    shared: &'a Shared<'a, S, V>,
) -> Hand<S::State> {
    let (jobs, todo) = channel::<Arc<Level<S::State>>>();
    let (done, harvests) = channel();
    scope.spawn(move || {
        let mut worker = Worker::new(shared, false);
        for level in todo {
            let harvest = work(shared, &mut worker, &level);
            drop(level);
            if done.send(harvest).is_err() {
                break;
            }
        }
    });
    Hand { jobs, harvests, counts: Counts::default() }
}

/// Expands chunks of the level until none is left or the search is to end.
fn work<S: TransitionSystem, V: Visited>(
    shared: &Shared<'_, S, V>,
    worker: &mut Worker<'_, S, V>,
    level: &Level<S::State>,
) -> Harvest<S::State> {
    let mut rhythm = Rhythm::default();
    'level: loop {
        let start = level.next.fetch_add(CHUNK, Relaxed);
        if start >= level.states.len() {
            break;
        }
        for index in start..(start + CHUNK).min(level.states.len()) {
            let (id, state) = (level.states.ids[index], level.states.states.get(index));
            if V::RESTORES
                && let Some(soon) = level.states.ids.get(index + AHEAD)
            {
                worker.intake.session.foresee(*soon);
            }
            if level.last {
                worker.expand_no_further(id, state);
            } else {
                worker.expand(id, state);
            }
            if rhythm.is_due() {
                // Others may be waiting to let the store grow.
                worker.intake.session.release();
                if !shared.poll() {
                    break 'level;
                }
            }
        }
    }
    worker.intake.flush();
    worker.intake.session.release();
    Harvest {
        found: worker.intake.take_found(),
        sightings: std::mem::take(&mut worker.intake.sightings),
        cut: worker.cut,
        counts: worker.intake.counts,
    }
}
