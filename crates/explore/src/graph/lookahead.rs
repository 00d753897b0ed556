//! A worker's walk: the step that it was asked for, and what comes next.
//!
//! The owner of the graph wants to know what everybody is about to touch in a new state, and most often lets go on who moved
//! last. So the worker tries the next steps of everybody whom a step may have changed, that of the mover last, and goes on
//! from there while the world is still in its hands. Nothing depends on how far it comes: what is missing, the owner does.

use super::workers::{Ahead, From, Job, Known, Neighbour, Outcome, Standing};
use super::{Access, Actor, FootprintSystem, Step, StepContext};
use crate::stateless::{conflict, normalise};
use std::collections::hash_map::Entry;
use std::sync::PoisonError;
use trace::Choice;

/// Steps in a row; more would be done in vain too often.
const LENGTH: usize = 32;

/// Takes a step, and some of those behind it.
pub fn walk<T: FootprintSystem>(system: &mut T, job: Job<T::State>, known: &Known) -> Outcome<T::State> {
    let Job { at, actor, choice, from, neighbours } = job;
    let mut walk = Walk { system, known, mover: choice.actor, neighbours: neighbours.to_vec(), executed: 0 };
    let (taken, is_new) = match from {
        From::State(state) => (walk.step(&state, choice), true),
        From::Taken(taken) => (Some(taken), false),
    };
    let mut ahead: Vec<(u128, Vec<Ahead<T::State>>)> = Vec::new();
    while ahead.len() < LENGTH {
        let last = match ahead.last() {
            None => taken.as_ref(),
            Some((_, tried)) => tried.last().filter(|(choice, _)| choice.actor == walk.mover).map(|(_, step)| step),
        };
        let Some(last) = last.filter(|last| claims(last, known)) else { break };
        let tried = walk.look_around(last);
        ahead.push((last.reached.fingerprint, tried));
    }
    Outcome { at, actor, index: choice.index, taken: taken.filter(|_| is_new), ahead, executed: walk.executed }
}

struct Walk<'a, T> {
    system: &'a mut T,
    known: &'a Known,
    mover: u32,
    /// Everybody who can move where the last step began.
    neighbours: Vec<Neighbour>,
    executed: u64,
}

impl<T: FootprintSystem> Walk<'_, T> {
    fn step(&mut self, state: &T::State, choice: Choice) -> Option<Step<T::State>> {
        self.executed += 1;
        self.system.step_with(state, choice, &mut WorkerContext { known: self.known })
    }

    /// Tries the next steps of everybody whom a step may have changed.
    fn look_around(&mut self, last: &Step<T::State>) -> Vec<Ahead<T::State>> {
        let accesses = sorted(last.accesses.clone());
        let is_mover = |actor: &&Actor| actor.number == self.mover;
        let (movers, others): (Vec<&Actor>, Vec<&Actor>) = last.reached.actors.iter().partition(is_mover);
        let (mut tried, mut neighbours) = (Vec::new(), Vec::new());
        for actor in others.into_iter().chain(movers).filter(|actor| actor.choices > 0) {
            let same = |other: &&Neighbour| (other.number, other.choices) == (actor.number, actor.choices);
            let before = self.neighbours.iter().find(same).filter(|before| before.number != self.mover);
            let neighbour = match before.filter(|before| !conflict(&before.accesses, &accesses)) {
                Some(before) => before.clone(),
                None => self.try_out(last, actor, &mut tried),
            };
            neighbours.push(neighbour);
        }
        self.neighbours = neighbours;
        tried
    }

    /// Tries the next steps of somebody.
    fn try_out(&mut self, last: &Step<T::State>, actor: &Actor, tried: &mut Vec<Ahead<T::State>>) -> Neighbour {
        let from = tried.len();
        for index in (0..actor.choices).rev() {
            let choice = Choice { actor: actor.number, index };
            tried.extend(self.step(last.reached.new_state(), choice).map(|taken| (choice, taken)));
        }
        let accesses = tried[from..].iter().flat_map(|(_, step)| step.accesses.iter().copied()).collect();
        Neighbour { number: actor.number, choices: actor.choices, accesses: sorted(accesses).into() }
    }
}

fn sorted(mut accesses: Vec<Access>) -> Vec<Access> {
    normalise(&mut accesses);
    accesses
}

/// What a worker knows who does not see the graph.
struct WorkerContext<'a> {
    known: &'a Known,
}

impl StepContext for WorkerContext<'_> {
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
