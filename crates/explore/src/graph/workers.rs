//! Several systems execute steps for one owner of the graph.
//!
//! The owner searches as if it were alone. It posts the steps that it is going to take later; meanwhile others take them, and
//! some of those behind them, and what they bring back it need not execute. So what is found depends neither on the number of
//! workers nor on who is faster.

use super::lookahead::walk;
use super::options::{Limits, Options};
use super::present::Present;
use super::report::Report;
use super::search::{Search, search_in};
use super::{Access, FootprintSystem, Step};
use crate::threads;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use trace::Choice;

/// States that are posted at a time: those to which the owner comes next but one.
const SOON: usize = 16;
/// States that are posted and that the owner has not come to, at most.
const POSTED_MAX: usize = 256;
/// States ahead of the graph of which anything is kept.
const AHEAD_MAX: usize = 8192;

/// A step to be taken.
pub struct Job<S> {
    /// Where, by its number.
    pub at: u32,
    /// By whom, dense.
    pub actor: u32,
    /// Which.
    pub choice: Choice,
    /// The state, or the step itself if it was taken before.
    pub from: From<S>,
    /// Everybody who can move there, with what their next steps touch.
    pub neighbours: Arc<[Neighbour]>,
}

/// Where a job begins.
pub enum From<S> {
    /// The step is to be taken in this state.
    State(S),
    /// The step was taken; next steps are to be tried.
    Taken(Step<S>),
}

/// Somebody who can move.
#[derive(Clone)]
pub struct Neighbour {
    /// Who, as the system numbers it.
    pub number: u32,
    /// How many choices it has.
    pub choices: u32,
    /// What its next step touches; sorted.
    pub accesses: Arc<[Access]>,
}

/// A step that was taken, and steps behind it.
pub struct Outcome<S> {
    /// Where, by its number.
    pub at: u32,
    /// By whom, dense.
    pub actor: u32,
    /// Which of its choices.
    pub index: u32,
    /// The step.
    pub taken: Option<Step<S>>,
    /// Next steps, in the state that it leads to and in some behind that, by their fingerprints.
    pub ahead: Vec<(u128, Vec<Ahead<S>>)>,
    /// Steps that were executed.
    pub executed: u64,
}

/// A next step that somebody has tried.
pub type Ahead<S> = (Choice, Step<S>);

/// Fingerprints of states that somebody has come to, for those who work on the graph.
pub type Known = RwLock<FxHashMap<u128, Standing>>;

/// How a state is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Somebody has come to it, and will tell.
    Claimed,
    /// It is in the graph.
    Stored,
}

/// Where steps are posted; those that were posted last are wanted first.
pub struct Board<S> {
    posted: Mutex<Posted<S>>,
    is_changed: Condvar,
    /// How many are posted, for a quick look.
    count: AtomicUsize,
}

struct Posted<S> {
    jobs: Vec<Job<S>>,
    is_over: bool,
}

impl<S> Board<S> {
    fn new() -> Self {
        let posted = Mutex::new(Posted { jobs: Vec::new(), is_over: false });
        Self { posted, is_changed: Condvar::new(), count: AtomicUsize::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Posted<S>> {
        self.posted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is posted.
    fn change(&self, change: impl FnOnce(&mut Posted<S>)) {
        let mut posted = self.lock();
        change(&mut posted);
        self.count.store(posted.jobs.len(), Relaxed);
        self.is_changed.notify_all();
    }

    /// The next job, as soon as there is one; nothing if there will be none.
    fn take(&self) -> Option<Job<S>> {
        let is_idle = |posted: &mut Posted<S>| posted.jobs.is_empty() && !posted.is_over;
        let posted = self.is_changed.wait_while(self.lock(), is_idle);
        let mut posted = posted.unwrap_or_else(PoisonError::into_inner);
        let job = if posted.is_over { None } else { posted.jobs.pop() };
        self.count.store(posted.jobs.len(), Relaxed);
        job
    }
}

/// Who takes steps beside the owner of the graph; they stop when this is dropped.
pub struct Crew<'c, S> {
    board: &'c Board<S>,
    outcomes: Receiver<Outcome<S>>,
    /// What they know of the graph.
    pub known: &'c Known,
    size: usize,
}

impl<S> Drop for Crew<'_, S> {
    fn drop(&mut self) {
        self.board.change(|posted| posted.is_over = true);
    }
}

/// Searches with the help of others. They must be alike: states of one are states of all.
pub fn search_with_many<T>(owner: &mut T, others: &mut [T], options: Options, limits: &mut Limits<'_>) -> Report
where
    T: FootprintSystem + Send,
    T::State: Send,
{
    let (known, board) = (Known::default(), Board::new());
    std::thread::scope(|scope| {
        let (outbox, outcomes) = channel();
        let mut size = 0;
        for system in others {
            let (outbox, board, known) = (outbox.clone(), &board, &known);
            let has_come = threads::help(scope, move || {
                while let Some(job) = board.take()
                    && outbox.send(walk(system, job, known)).is_ok()
                {}
            });
            size += usize::from(has_come);
        }
        let crew = Crew { board: &board, outcomes, known: &known, size };
        search_in(owner, options, limits, Some(crew))
    })
}

impl<T: FootprintSystem> Search<'_, T> {
    /// Takes in what others have brought back. Nobody else need take the steps of a state that the owner comes to now.
    pub(super) fn hear(&mut self, at: u32) {
        let Some(crew) = &self.crew else { return };
        if self.posted.remove(&at) {
            crew.board.change(|posted| posted.jobs.retain(|job| job.at != at));
        }
        if self.ahead.len() > AHEAD_MAX {
            self.ahead.clear();
        }
        while let Ok(Outcome { at, actor, index, taken, ahead, executed }) = crew.outcomes.try_recv() {
            self.executed += executed;
            let ids = &self.ids;
            self.ahead.extend(ahead.into_iter().filter(|(fingerprint, _)| !ids.contains_key(&(*fingerprint, false))));
            if let Some(taken) = taken.filter(|_| !self.graph.node(at).done.contains(actor)) {
                self.trials.put(at, actor, index, taken);
            }
        }
    }

    /// Posts steps that are to be taken soon, if others have little to do.
    pub(super) fn post(&mut self) {
        let Some(crew) = &self.crew else { return };
        let is_busy = crew.board.count.load(Relaxed) >= crew.size || self.posted.len() >= POSTED_MAX;
        // The owner itself comes to the last one next.
        let Some((_, later)) = self.graph.open.split_last().filter(|_| !is_busy) else { return };
        let mut jobs = Vec::new();
        for at in later.iter().rev().take(SOON) {
            if self.posted.insert(*at) {
                self.add_jobs(*at, &mut jobs);
            }
        }
        if !jobs.is_empty() {
            crew.board.change(|posted| posted.jobs.extend(jobs.into_iter().rev()));
        }
    }

    fn add_jobs(&self, at: u32, jobs: &mut Vec<Job<T::State>>) {
        let Some(state) = self.states.get(at) else { return };
        let node = self.graph.node(at);
        let neighbour = |present: &Present| Neighbour {
            number: self.graph.actors.number(present.actor),
            choices: present.choices,
            accesses: Arc::clone(self.graph.accesses.all(present.pending)),
        };
        let able = self.graph.everybody(at).filter(|present| present.choices > 0);
        let neighbours: Arc<[Neighbour]> = able.map(neighbour).collect();
        for actor in node.todo.minus(node.done).iter() {
            for index in 0..self.graph.find(node, actor).map_or(0, |present| present.choices) {
                let from = match self.trials.get(at, actor, index) {
                    Some(taken) if self.is_explored(taken.reached.fingerprint) => continue,
                    Some(taken) if taken.reached.state.is_some() => From::Taken(taken.clone()),
                    _ => From::State(state.clone()),
                };
                let choice = Choice { actor: self.graph.actors.number(actor), index };
                jobs.push(Job { at, actor, choice, from, neighbours: Arc::clone(&neighbours) });
            }
        }
    }

    /// Whether nobody need go to a state to see what comes next there.
    fn is_explored(&self, fingerprint: u128) -> bool {
        self.ids.contains_key(&(fingerprint, false)) || self.ahead.contains_key(&fingerprint)
    }
}
