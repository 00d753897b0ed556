//! The search as the owner of workers: it posts steps that it will take later, and does not execute what they return.
//!
//! **Invariant:** a worker's outcome only replaces an execution of the same step. So the result depends neither on the number
//! of workers nor on their speed.

use super::actor_table::ActorRecord;
use super::job::{Job, JobStart, Neighbour, Outcome};
use super::search::Search;
use crate::footprint_system::FootprintSystem;
use std::sync::Arc;
use trace::Choice;

/// States that are posted at a time: those that the search expands after the next one.
const POSTED_AT_ONCE: usize = 16;
/// Bound on states that are posted and not expanded yet.
const POSTED_MAX: usize = 256;
/// Bound on states that are not stored and have tried steps.
const LOOKAHEAD_MAX: usize = 8192;

impl<T: FootprintSystem> Search<'_, T> {
    /// Receives outcomes, and withdraws the jobs of a state that is about to be expanded.
    ///
    /// Never waits. A step that a worker has not finished is executed here, and the worker's result
    /// is dropped when it comes.
    pub(super) fn collect_outcomes(&mut self, at: u32) {
        let Some(workers) = &self.workers else { return };
        if self.posted.remove(&at) {
            workers.board.withdraw(at);
        }
        if self.lookahead.len() > LOOKAHEAD_MAX {
            self.lookahead.clear();
        }
        while let Ok(Outcome { at, actor, index, taken, lookahead, executed }) = workers.outcomes.try_recv() {
            self.executed += executed;
            let ids = &self.ids;
            let is_new = |fingerprint: &u128| !ids.contains_key(&(*fingerprint, false));
            self.lookahead.extend(lookahead.into_iter().filter(|(fingerprint, _)| is_new(fingerprint)));
            if let Some(taken) = taken.filter(|_| !self.graph.node(at).done.contains(actor)) {
                self.trials.insert(at, actor, index, taken);
            }
        }
    }

    /// Posts steps that will be taken soon, if workers are idle.
    pub(super) fn post_jobs(&mut self) {
        let Some(workers) = &self.workers else { return };
        let is_busy = workers.board.len() >= workers.size || self.posted.len() >= POSTED_MAX;
        // The search itself expands the last one next.
        let Some((_, later)) = self.graph.open.split_last().filter(|_| !is_busy) else { return };
        let mut jobs = Vec::new();
        for at in later.iter().rev().take(POSTED_AT_ONCE) {
            if self.posted.insert(*at) {
                self.add_jobs(*at, &mut jobs);
            }
        }
        if !jobs.is_empty() {
            workers.board.post(jobs);
        }
    }

    fn add_jobs(&self, at: u32, jobs: &mut Vec<Job<T::State>>) {
        let Some(state) = self.snapshots.get(at) else { return };
        let node = self.graph.node(at);
        let neighbour = |record: &ActorRecord| Neighbour {
            number: self.graph.actors.number(record.actor),
            choices: record.choices,
            accesses: Arc::clone(self.graph.footprints.arc(record.pending)),
        };
        let enabled = self.graph.actors_at(at).filter(|record| record.choices > 0);
        let neighbours: Arc<[Neighbour]> = enabled.map(neighbour).collect();
        for actor in node.todo.minus(node.done).iter() {
            for index in 0..self.graph.find(node, actor).map_or(0, |record| record.choices) {
                let from = match self.trials.get(at, actor, index) {
                    Some(taken) if self.is_explored(taken.reached.fingerprint) => continue,
                    Some(taken) if taken.reached.state.is_some() => JobStart::Taken(taken.clone()),
                    _ => JobStart::State(state.clone()),
                };
                let choice = Choice { actor: self.graph.actors.number(actor), index };
                jobs.push(Job { at, actor, choice, from, neighbours: Arc::clone(&neighbours) });
            }
        }
    }

    /// Whether the next steps of a state are known.
    fn is_explored(&self, fingerprint: u128) -> bool {
        self.ids.contains_key(&(fingerprint, false)) || self.lookahead.contains_key(&fingerprint)
    }
}
