//! Steps that workers execute ahead of the search, and what they return.
//!
//! Workers share nothing with the search but jobs, outcomes and the set of known fingerprints. They
//! may compute too much or too little; they cannot change what the search finds
//! ([`super::workers`]).

use crate::footprint::Access;
use crate::footprint_system::Step;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use trace::Choice;

/// A step to be executed.
pub struct Job<S> {
    /// The state, by number.
    pub at: u32,
    /// The actor, by dense number.
    pub actor: u32,
    /// The choice.
    pub choice: Choice,
    /// The state, or the step if it was executed before.
    pub from: JobStart<S>,
    /// The enabled actors of the state.
    pub neighbours: Arc<[Neighbour]>,
}

/// Where a job begins.
pub enum JobStart<S> {
    /// The step is to be executed in this state.
    State(S),
    /// The step was executed; next steps are to be tried.
    Taken(Step<S>),
}

/// An enabled actor.
#[derive(Clone)]
pub struct Neighbour {
    /// The system's number of it.
    pub number: u32,
    /// How many choices it has.
    pub choices: u32,
    /// Its pending footprint, normalised.
    pub accesses: Arc<[Access]>,
}

/// A step that was executed, and steps behind it.
pub struct Outcome<S> {
    /// The state, by number.
    pub at: u32,
    /// The actor, by dense number.
    pub actor: u32,
    /// The index of the choice.
    pub index: u32,
    /// The step, if the job was to execute it.
    pub taken: Option<Step<S>>,
    /// Trials in the state that it leads to and in some behind it, by fingerprint.
    pub lookahead: Vec<(u128, Vec<TriedStep<S>>)>,
    /// Steps that were executed.
    pub executed: u64,
}

/// A step that was tried.
pub type TriedStep<S> = (Choice, Step<S>);

/// Fingerprints of states that are stored, or that a worker looks ahead from.
///
/// A claim keeps two workers from looking ahead from one state. It may be stale: then work is done
/// twice or not at all, and the search does the rest.
pub type Known = RwLock<FxHashMap<u128, Standing>>;

/// Why a state is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// A worker tries its next steps.
    Claimed,
    /// It is in the graph.
    Stored,
}

/// Jobs that are posted; the last is taken first.
///
/// Last in, first out: the newest jobs are what the search needs next.
pub struct Board<S> {
    posted: Mutex<Posted<S>>,
    is_changed: Condvar,
    /// How many are posted, to be read without the lock.
    count: AtomicUsize,
}

struct Posted<S> {
    jobs: Vec<Job<S>>,
    is_over: bool,
}

impl<S> Board<S> {
    /// A board without jobs.
    pub fn new() -> Self {
        let posted = Mutex::new(Posted { jobs: Vec::new(), is_over: false });
        Self { posted, is_changed: Condvar::new(), count: AtomicUsize::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Posted<S>> {
        self.posted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Posted<S>)) {
        let mut posted = self.lock();
        change(&mut posted);
        self.count.store(posted.jobs.len(), Relaxed);
        self.is_changed.notify_all();
    }

    /// Posts jobs; the first of them is taken first.
    pub fn post(&self, jobs: Vec<Job<S>>) {
        self.change(|posted| posted.jobs.extend(jobs.into_iter().rev()));
    }

    /// Withdraws the jobs of a state.
    pub fn withdraw(&self, at: u32) {
        self.change(|posted| posted.jobs.retain(|job| job.at != at));
    }

    /// How many jobs are posted.
    pub fn len(&self) -> usize {
        self.count.load(Relaxed)
    }

    /// Waits for a job; nothing when the search is over.
    pub fn take(&self) -> Option<Job<S>> {
        let is_idle = |posted: &mut Posted<S>| posted.jobs.is_empty() && !posted.is_over;
        let posted = self.is_changed.wait_while(self.lock(), is_idle);
        let mut posted = posted.unwrap_or_else(PoisonError::into_inner);
        let job = if posted.is_over { None } else { posted.jobs.pop() };
        self.count.store(posted.jobs.len(), Relaxed);
        job
    }
}

/// The workers of a search, which stop when this is dropped.
pub struct Workers<'c, S> {
    /// Where jobs are posted.
    pub board: &'c Board<S>,
    /// What they return.
    pub outcomes: Receiver<Outcome<S>>,
    /// What they know of the graph.
    pub known: &'c Known,
    /// How many there are.
    pub size: usize,
}

impl<S> Drop for Workers<'_, S> {
    fn drop(&mut self) {
        self.board.change(|posted| posted.is_over = true);
    }
}
