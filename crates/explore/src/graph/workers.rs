//! Several systems execute steps for one owner of the graph.
//!
//! The owner takes a handful of states, hands out the steps to be taken there, and puts what comes back into the graph in the
//! order in which it would have taken them itself: what is found does not depend on the number of workers.

use super::node::Present;
use super::options::{Limits, Options};
use super::report::Report;
use super::search::{Search, search_in};
use super::{Around, Step, Touch, Traced};
use crate::stateless::{conflict, normalise};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};
use trace::Choice;

/// States whose steps are handed out together.
const BATCH: usize = 64;

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
pub struct Neighbour {
    /// Who, as the system numbers it.
    pub number: u32,
    /// How many choices it has.
    pub choices: u32,
    /// What its next step touches; sorted.
    pub touches: Arc<[Touch]>,
}

/// A step that was taken, and next steps that were tried behind it.
pub struct Outcome<S> {
    /// Where, by its number.
    pub at: u32,
    /// By whom, dense.
    pub actor: u32,
    /// Which of its choices.
    pub index: u32,
    /// The step.
    pub taken: Option<Step<S>>,
    /// Next steps.
    pub ahead: Vec<Ahead<S>>,
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

/// Who takes steps beside the owner of the graph: how many states are handed out together, what they know of the graph,
/// and how they take steps.
pub type Crew<'c, T> = (usize, &'c Known, &'c mut dyn FnMut(&mut T, Jobs<T>) -> Outcomes<T>);
type Jobs<T> = Vec<Job<<T as Traced>::State>>;
type Outcomes<T> = Vec<Outcome<<T as Traced>::State>>;

/// Searches with the help of others. They must be alike: states of one are states of all.
pub fn search_with_many<T>(owner: &mut T, others: &mut [T], options: Options, limits: &mut Limits<'_>) -> Report
where
    T: Traced + Send,
    T::State: Send,
{
    let known = Arc::new(RwLock::default());
    std::thread::scope(|scope| {
        let mut crew = Vec::new();
        for system in others {
            let (jobs, inbox) = channel::<Vec<Job<T::State>>>();
            let (outbox, outcomes) = channel();
            let known = Arc::clone(&known);
            scope.spawn(move || serve(system, &inbox, &outbox, &known));
            crew.push((jobs, outcomes));
        }
        let mut hand_out = |owner: &mut T, jobs: Vec<Job<T::State>>| hand_out(owner, &crew, jobs, &known);
        search_in(owner, options, limits, Some((BATCH, &known, &mut hand_out)))
    })
}

impl<T: Traced> Search<'_, T> {
    /// Lets others take the steps that are to be taken in some states.
    pub(super) fn prepare(&mut self, batch: &[u32], hand_out: &mut dyn FnMut(&mut T, Jobs<T>) -> Outcomes<T>) {
        let mut jobs = Vec::new();
        for at in batch.iter().rev() {
            self.add_jobs(*at, &mut jobs);
        }
        for Outcome { at, actor, index, taken, ahead, executed } in hand_out(self.system, jobs) {
            self.executed += executed;
            if let Some(taken) = taken {
                if !ahead.is_empty() {
                    self.ahead.insert(taken.reached.fingerprint, ahead);
                }
                self.trials.put(at, actor, index, taken);
            }
        }
    }

    fn add_jobs(&mut self, at: u32, jobs: &mut Jobs<T>) {
        let node = self.graph.node(at);
        let neighbour = |present: &Present| Neighbour {
            number: self.graph.actors.number(present.actor),
            choices: present.choices,
            touches: Arc::clone(self.graph.touches.all(present.pending)),
        };
        let able = node.present.iter().filter(|present| present.choices > 0);
        let neighbours: Arc<[Neighbour]> = able.map(neighbour).collect();
        for actor in node.todo.minus(node.done).iter() {
            for index in 0..self.graph.node(at).find(actor).map_or(0, |present| present.choices) {
                let from = match self.trials.take(at, actor, index) {
                    Some(taken) if self.ids.contains_key(&(taken.reached.fingerprint, false)) => {
                        self.trials.put(at, actor, index, taken);
                        continue;
                    }
                    Some(taken) => From::Taken(taken),
                    None => From::State(self.state_of(at)),
                };
                let choice = Choice { actor: self.graph.actors.number(actor), index };
                jobs.push(Job { at, actor, choice, from, neighbours: Arc::clone(&neighbours) });
            }
        }
    }
}

type Worker<S> = (Sender<Vec<Job<S>>>, Receiver<Vec<Outcome<S>>>);

/// Gives everybody a share, the owner included, and collects what comes back in the order of the jobs.
fn hand_out<T: Traced>(
    owner: &mut T,
    crew: &[Worker<T::State>],
    jobs: Vec<Job<T::State>>,
    known: &Known,
) -> Vec<Outcome<T::State>> {
    let mut shares: Vec<Vec<Job<T::State>>> = Vec::new();
    shares.resize_with(crew.len() + 1, Vec::new);
    let count = shares.len();
    for (place, job) in jobs.into_iter().enumerate() {
        shares[place % count].push(job);
    }
    let own = shares.pop().expect("one share is the owner's");
    for ((jobs, _), share) in crew.iter().zip(shares) {
        jobs.send(share).expect("workers live as long as the search");
    }
    let own: Vec<_> = own.into_iter().map(|job| take(owner, job, known)).collect();
    let theirs = crew.iter().map(|(_, outcomes)| outcomes.recv().expect("every share comes back"));
    theirs.flatten().chain(own).collect()
}

fn serve<T: Traced>(
    system: &mut T,
    inbox: &Receiver<Vec<Job<T::State>>>,
    outbox: &Sender<Vec<Outcome<T::State>>>,
    known: &Known,
) {
    while let Ok(jobs) = inbox.recv() {
        let outcomes = jobs.into_iter().map(|job| take(system, job, known)).collect();
        if outbox.send(outcomes).is_err() {
            return;
        }
    }
}

/// Takes a step; if it leads to a new state, tries the next steps of everybody whom it may have changed.
fn take<T: Traced>(system: &mut T, job: Job<T::State>, known: &Known) -> Outcome<T::State> {
    let Job { at, actor, choice, from, neighbours } = job;
    let mut around = AmidOthers { known };
    let (taken, mut executed) = match from {
        From::State(state) => (system.step_amid(&state, choice, &mut around), 1),
        From::Taken(taken) => (Some(taken), 0),
    };
    let mut ahead = Vec::new();
    if let Some(taken) = taken.as_ref().filter(|taken| claims(taken, known)) {
        let mut touches = taken.touches.clone();
        normalise(&mut touches);
        for next in &taken.reached.actors {
            let same = |other: &&Neighbour| (other.number, other.choices) == (next.number, next.choices);
            let before = neighbours.iter().find(same).filter(|_| next.number != choice.actor);
            if before.is_some_and(|before| !conflict(&before.touches, &touches)) {
                continue;
            }
            for index in 0..next.choices {
                let choice = Choice { actor: next.number, index };
                executed += 1;
                let taken = system.step_amid(taken.reached.new_state(), choice, &mut around);
                ahead.extend(taken.map(|taken| (choice, taken)));
            }
        }
    }
    Outcome { at, actor, index: choice.index, taken, ahead, executed }
}

/// What a worker knows who does not see the graph.
struct AmidOthers<'a> {
    known: &'a Known,
}

impl Around for AmidOthers<'_> {
    fn is_known(&self, fingerprint: u128, fatal: bool) -> bool {
        let known = || self.known.read().unwrap_or_else(PoisonError::into_inner);
        !fatal && known().get(&fingerprint) == Some(&Standing::Stored)
    }
}

/// Whether a step leads to a state that nobody has been to; nobody else has then, either.
fn claims<S>(taken: &Step<S>, known: &Known) -> bool {
    let fingerprint = taken.reached.fingerprint;
    let is_known = || known.read().unwrap_or_else(PoisonError::into_inner).contains_key(&fingerprint);
    let claim = || match known.write().unwrap_or_else(PoisonError::into_inner).entry(fingerprint) {
        Entry::Vacant(free) => Some(free.insert(Standing::Claimed)).is_some(),
        Entry::Occupied(_) => false,
    };
    !taken.is_fatal() && !is_known() && claim()
}
