//! One worker: expands states, and inserts their successors.

use super::merge::Merger;
use super::options::Reduction;
use super::origin::{Member, Origin};
use super::shared::Shared;
use super::successor_batch::SuccessorBatch;
use crate::reduce::{self, Reducer};
use crate::store::Visited;
use crate::system::{Selection, TransitionSystem};
use std::ops::ControlFlow;
use trace::Choice;

/// One worker.
pub struct Worker<'a, S: TransitionSystem, V: Visited> {
    shared: &'a Shared<'a, S, V>,
    scratch: S::Scratch,
    /// The state being expanded, when it comes from the store.
    state: S::State,
    reducer: Option<Reducer>,
    merger: Option<Merger<'a, S>>,
    /// Successors to insert.
    pub successors: SuccessorBatch<'a, S, V>,
    /// Whether a state at the depth bound had a step.
    pub cut: bool,
}

impl<'a, S: TransitionSystem, V: Visited> Worker<'a, S, V> {
    /// An idle worker. `keeps_choices` makes it note the choice that led to each new state.
    pub fn new(shared: &'a Shared<'a, S, V>, keeps_choices: bool) -> Self {
        let mut scratch = shared.system.scratch();
        shared.system.limit(&mut scratch, shared.watch.patience());
        let state = shared.system.initial(&mut scratch);
        let reducer = reducer(shared.system, shared.options.reduction);
        let merger = Merger::new(shared.system, shared.options).map(|merger| merger.limited(shared.watch.patience()));
        Self {
            shared,
            scratch,
            state,
            reducer,
            merger,
            successors: SuccessorBatch::new(shared, keeps_choices),
            cut: false,
        }
    }

    /// Visits the initial state.
    pub fn start(&mut self) {
        let state = self.shared.system.initial(&mut self.scratch);
        // A store too small for one state has stopped the watch already.
        let _ = self.successors.offer(Origin(0), Choice { actor: 0, index: 0 }, &state);
        self.successors.flush();
        for id in &self.successors.found.ids {
            // Its own parent: 0 is an unknown one.
            self.shared.record_parent(*id, *id);
        }
    }

    /// Expands a state: `state`, or the one that the store restores.
    #[inline]
    pub fn expand(&mut self, member: Member, state: Option<&S::State>) {
        if state.is_none() {
            self.restore(member.id);
        }
        let state = state.unwrap_or(&self.state);
        let selection = match &mut self.reducer {
            Some(reducer) => reducer.select(self.shared.system, &mut self.scratch, state),
            None => Selection::All,
        };
        self.successors.counts.reduced += u64::from(selection != Selection::All);
        let (successors, merger, mut moves) = (&mut self.successors, &mut self.merger, false);
        reduce::steps(self.shared.system, &mut self.scratch, state, selection, &mut |step| {
            let (state, merged) = match merger {
                Some(merger) => merger.follow(&step),
                None => (step.state, 0),
            };
            moves = moves || !step.moved.is_empty();
            let flow = successors.take(member, (step.choice, state, step.failure), merged);
            // Cut short, it is not known to be stuck.
            moves |= flow.is_break();
            flow
        });
        if self.shared.system.was_cut(&self.scratch) {
            self.successors.cut();
        } else if !moves && let Some(failure) = self.shared.system.stuck(&mut self.scratch, state) {
            self.successors.sight(&failure, self.shared.system.part(state), member, None);
        }
        if self.successors.is_full() {
            self.successors.flush();
        }
    }

    /// Examines a state at the depth bound: it is stuck, or the search is cut here.
    pub fn expand_no_further(&mut self, member: Member, state: Option<&S::State>) {
        if state.is_none() {
            self.restore(member.id);
        }
        let state = state.unwrap_or(&self.state);
        let (mut cut, mut moves) = (false, false);
        self.shared.system.steps(&mut self.scratch, state, Selection::All, &mut |step| {
            (cut, moves) = (true, !step.moved.is_empty());
            if moves { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.cut |= cut;
        if self.shared.system.was_cut(&self.scratch) {
            self.successors.cut();
        } else if !moves && let Some(failure) = self.shared.system.stuck(&mut self.scratch, state) {
            self.successors.sight(&failure, self.shared.system.part(state), member, None);
        }
    }

    fn restore(&mut self, id: u32) {
        let restored = self.shared.system.restore(self.successors.session.load(id), &mut self.state);
        assert!(restored, "a system with vector keys restores its states");
    }
}

/// The reducer, if reduction is on.
pub fn reducer<S: TransitionSystem>(system: &S, reduction: Reduction) -> Option<Reducer> {
    match reduction {
        Reduction::Off => None,
        Reduction::Broken(left_out) => Some(Reducer::broken(left_out)),
        Reduction::Safety => Some(Reducer::for_safety()),
        Reduction::Observed(observer) => Some(Reducer::for_property(system.observed(observer))),
    }
}
