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
/// others wait for the worker that has the last ones.
const CHUNK_MOST: usize = 32;
/// Times that a worker takes from its part of a level, if the chunks are smaller than they may be.
const CHUNKS: usize = 8;
/// How many states ahead of its expansion a state is fetched from the store.
const AHEAD: usize = 3;
/// Smaller levels are done by one worker: waking the others takes longer.
const LEVEL_SHARED: usize = 1024;
/// Polls of a channel before the thread sleeps: levels follow each other quickly, and waking a thread takes as long as
/// expanding a hundred states.
const POLLS: u32 = 1000;

/// One level, taken apart by all workers.
///
/// Each worker has a part, and takes from other parts when that is done. Neighbours have successors in common, so one worker
/// should expand them: what it has just stored is in its own cache.
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
    /// First state that is not taken.
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

    /// Whether several workers expand it.
    fn is_shared(&self) -> bool {
        self.parts.len() > 1
    }

    /// Some states that are not taken, from a worker's own part as long as there are any.
    fn take(&self, worker: usize) -> Option<Range<usize>> {
        let (before, from_own) = self.parts.split_at(worker);
        from_own.iter().chain(before).find_map(|part| {
            let start = part.next.fetch_add(self.chunk, Relaxed);
            (start < part.end).then(|| start..(start + self.chunk).min(part.end))
        })
    }
}

/// The next message; polls for a while before it sleeps.
fn receive<T>(from: &Receiver<T>) -> Result<T, RecvError> {
    for _ in 0..POLLS {
        if let Ok(message) = from.try_recv() {
            return Ok(message);
        }
        std::hint::spin_loop();
    }
    from.recv()
}

/// What a worker found in a level.
pub struct LevelResult<S> {
    /// New states.
    pub found: Frontier<S>,
    /// New failures.
    pub sightings: Vec<Sighting>,
    /// Whether a state at the depth bound had a step.
    pub cut: bool,
    counts: Counts,
}

/// A worker on a thread of its own. Channels, not a barrier: if the thread panics, its end closes and the search does too.
struct RemoteWorker<S> {
    jobs: Sender<Arc<Level<S>>>,
    results: Receiver<LevelResult<S>>,
    counts: Counts,
}

/// All workers of a search.
pub struct Workers<'a, S: TransitionSystem, V: Visited> {
    shared: &'a Shared<'a, S, V>,
    own: Worker<'a, S, V>,
    remotes: Vec<RemoteWorker<S::State>>,
}

impl<'a, S: TransitionSystem, V: Visited> Workers<'a, S, V> {
    /// Starts the threads, which end when this is dropped.
    pub fn spawn<'scope, 'env>(scope: &'scope Scope<'scope, 'env>, shared: &'a Shared<'a, S, V>) -> Self
    where
        'a: 'scope,
    {
        let remotes = (1..shared.options.workers).map_while(|number| spawn_one(scope, shared, number)).collect();
        Self { shared, own: Worker::new(shared, false), remotes }
    }

    /// The first level: the initial state.
    pub fn start(&mut self) -> Frontier<S::State> {
        self.own.start();
        self.own.successors.session.release();
        self.own.successors.take_found()
    }

    /// Counts on from there.
    pub fn go_on_from(&mut self, counts: Counts) {
        self.own.successors.go_on_from(counts);
    }

    /// Expands a level; gives it back beside what was found.
    pub fn expand(&mut self, states: Frontier<S::State>, last: bool) -> (LevelResult<S::State>, Frontier<S::State>) {
        let ids_end = self.shared.slot.read().ids_end();
        let helped = states.len() >= LEVEL_SHARED && can_share(states.len(), ids_end);
        let remotes = if helped { &mut self.remotes[..] } else { &mut [] };
        let level = Arc::new(Level::new(states, 1 + remotes.len(), last));
        let is_shared = level.is_shared();
        for remote in remotes.iter() {
            remote.jobs.send(level.clone()).expect("a worker runs until it is dropped");
        }
        let mut result = work(self.shared, &mut self.own, (0, &level));
        for remote in remotes {
            let mut more = receive(&remote.results).expect("a worker panicked");
            remote.counts = more.counts;
            result.found.append(&mut more.found);
            result.sightings.append(&mut more.sightings);
            result.cut |= more.cut;
        }
        if is_shared {
            result.found = self.shared.put_in_order(result.found, &level.states.ids);
            result.sightings.sort_by_key(|sighting| sighting.index);
        }
        // A worker lets go of the level before it sends its result.
        let expanded = Arc::into_inner(level).map(|level| level.states).unwrap_or_default();
        (result, expanded)
    }

    /// Counts of each worker.
    pub fn counts(&self) -> Vec<Counts> {
        std::iter::once(self.own.successors.counts).chain(self.remotes.iter().map(|remote| remote.counts)).collect()
    }
}

/// One more worker; nothing if the host gives no thread.
fn spawn_one<'a: 'scope, 'scope, S: TransitionSystem, V: Visited>(
    scope: &'scope Scope<'scope, '_>,
    shared: &'a Shared<'a, S, V>,
    number: usize,
) -> Option<RemoteWorker<S::State>> {
    let (jobs, todo) = channel::<Arc<Level<S::State>>>();
    let (done, results) = channel();
    let has_thread = threads::help(scope, move || {
        let mut worker = Worker::new(shared, false);
        while let Ok(level) = receive(&todo) {
            let result = work(shared, &mut worker, (number, &level));
            drop(level);
            if done.send(result).is_err() {
                break;
            }
        }
    });
    has_thread.then(|| RemoteWorker { jobs, results, counts: Counts::default() })
}

/// Expands chunks of the level until none is left or the search is to end.
fn work<S: TransitionSystem, V: Visited>(
    shared: &Shared<'_, S, V>,
    worker: &mut Worker<'_, S, V>,
    (number, level): (usize, &Level<S::State>),
) -> LevelResult<S::State> {
    let mut rhythm = Rhythm::default();
    'level: while let Some(chunk) = level.take(number) {
        for index in chunk {
            let (id, state) = (level.states.ids[index], level.states.states.get(index));
            let member = Member { id, index, is_shared: level.is_shared() };
            if V::RESTORES
                && let Some(soon) = level.states.ids.get(index + AHEAD)
            {
                worker.successors.session.foresee(*soon);
            }
            if level.last {
                worker.expand_no_further(member, state);
            } else {
                worker.expand(member, state);
            }
            if rhythm.is_due() {
                // Another worker may be waiting to grow the store.
                worker.successors.report_counts();
                worker.successors.session.release();
                if !shared.poll() {
                    break 'level;
                }
            }
        }
    }
    worker.successors.flush();
    worker.successors.report_counts();
    worker.successors.session.release();
    LevelResult {
        found: worker.successors.take_found(),
        sightings: std::mem::take(&mut worker.successors.sightings),
        cut: worker.cut,
        counts: worker.successors.counts,
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
