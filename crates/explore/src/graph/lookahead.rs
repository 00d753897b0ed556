//! What a worker executes: the step of its job, and steps behind it.
//!
//! The search needs the pending footprints of a new state, and most often goes on with the actor that moved last. So the
//! worker tries the next steps of all actors that depend on a step, that of the mover last, and goes on from there while the
//! system is in that state. Nothing depends on how far it comes: the search executes what is missing.

use super::job::{Job, JobStart, Known, Neighbour, Outcome, Standing, TriedStep};
use crate::footprint::{Access, conflict, normalise};
use crate::footprint_system::{Actor, FootprintSystem, Step, StepContext};
use std::collections::hash_map::Entry;
use std::sync::PoisonError;
use trace::Choice;

/// Bound on steps in a row: the search does not use those of a longer run often enough.
///
/// Beyond it the search has usually gone elsewhere.
const LENGTH: usize = 32;

/// Executes a step, and some of those behind it.
pub fn look_ahead<T: FootprintSystem>(system: &mut T, job: Job<T::State>, known: &Known) -> Outcome<T::State> {
    let Job { at, actor, choice, from, neighbours } = job;
    let mut worker = Worker { system, known, mover: choice.actor, neighbours: neighbours.to_vec(), executed: 0 };
    let (taken, is_new) = match from {
        JobStart::State(state) => (worker.step(&state, choice), true),
        JobStart::Taken(taken) => (Some(taken), false),
    };
    let mut lookahead: Vec<(u128, Vec<TriedStep<T::State>>)> = Vec::new();
    while lookahead.len() < LENGTH {
        let last = match lookahead.last() {
            None => taken.as_ref(),
            Some((_, tried)) => tried.last().filter(|(choice, _)| choice.actor == worker.mover).map(|(_, step)| step),
        };
        let Some(last) = last.filter(|last| claims(last, known)) else { break };
        let tried = worker.try_dependent(last);
        lookahead.push((last.reached.fingerprint, tried));
    }
    let taken = taken.filter(|_| is_new);
    Outcome { at, actor, index: choice.index, taken, lookahead, executed: worker.executed }
}

struct Worker<'a, T> {
    system: &'a mut T,
    known: &'a Known,
    mover: u32,
    /// The enabled actors where the last step began.
    neighbours: Vec<Neighbour>,
    executed: u64,
}

impl<T: FootprintSystem> Worker<'_, T> {
    fn step(&mut self, state: &T::State, choice: Choice) -> Option<Step<T::State>> {
        self.executed += 1;
        self.system.step_with(state, choice, &mut WorkerContext { known: self.known })
    }

    /// Tries the next steps of all actors that depend on a step.
    fn try_dependent(&mut self, last: &Step<T::State>) -> Vec<TriedStep<T::State>> {
        let accesses = normalised(last.accesses.clone());
        let is_mover = |actor: &&Actor| actor.number == self.mover;
        let (movers, others): (Vec<&Actor>, Vec<&Actor>) = last.reached.actors.iter().partition(is_mover);
        let (mut tried, mut neighbours) = (Vec::new(), Vec::new());
        for actor in others.into_iter().chain(movers).filter(|actor| actor.choices > 0) {
            let same = |other: &&Neighbour| (other.number, other.choices) == (actor.number, actor.choices);
            let before = self.neighbours.iter().find(same).filter(|before| before.number != self.mover);
            let neighbour = match before.filter(|before| !conflict(&before.accesses, &accesses)) {
                Some(before) => before.clone(),
                None => self.try_all(last, actor, &mut tried),
            };
            neighbours.push(neighbour);
        }
        self.neighbours = neighbours;
        tried
    }

    /// Tries the next steps of an actor.
    fn try_all(&mut self, last: &Step<T::State>, actor: &Actor, tried: &mut Vec<TriedStep<T::State>>) -> Neighbour {
        let from = tried.len();
        for index in (0..actor.choices).rev() {
            let choice = Choice { actor: actor.number, index };
            tried.extend(self.step(last.reached.new_state(), choice).map(|taken| (choice, taken)));
        }
        let accesses = tried[from..].iter().flat_map(|(_, step)| step.accesses.iter().copied()).collect();
        Neighbour { number: actor.number, choices: actor.choices, accesses: normalised(accesses).into() }
    }
}

fn normalised(mut accesses: Vec<Access>) -> Vec<Access> {
    normalise(&mut accesses);
    accesses
}

/// What a worker knows of the graph.
struct WorkerContext<'a> {
    known: &'a Known,
}

impl StepContext for WorkerContext<'_> {
    fn is_known(&self, fingerprint: u128, fatal: bool) -> bool {
        let known = || self.known.read().unwrap_or_else(PoisonError::into_inner);
        !fatal && known().get(&fingerprint) == Some(&Standing::Stored)
    }
}

/// Claims the state that a step leads to; whether it was neither stored nor claimed.
fn claims<S>(taken: &Step<S>, known: &Known) -> bool {
    let fingerprint = taken.reached.fingerprint;
    let is_known = || known.read().unwrap_or_else(PoisonError::into_inner).contains_key(&fingerprint);
    let claim = || match known.write().unwrap_or_else(PoisonError::into_inner).entry(fingerprint) {
        Entry::Vacant(free) => Some(free.insert(Standing::Claimed)).is_some(),
        Entry::Occupied(_) => false,
    };
    !taken.is_fatal() && !is_known() && claim()
}
