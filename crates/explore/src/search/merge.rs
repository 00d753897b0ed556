//! Merging of local steps: intermediate states of an actor whose steps are all local are not stored.
//!
//! An actor whose next step is independent of all future steps of the others is a persistent set by itself, so the step
//! may be taken at once and alone; if there is exactly one such step, the state before it has one successor, and only
//! that is stored. Steps that close a cycle of control are never merged: every cycle of states keeps a state that is
//! stored and fully expanded. Steps that fail are left to the search itself.

use super::options::{Options, Reduction};
use crate::bits::Bits;
use crate::patience::Patience;
use crate::system::{Selection, Step, TransitionSystem};
use std::ops::ControlFlow;
use trace::Choice;

/// Steps after which a state is stored in any case.
const LENGTH_MAX: usize = 1024;

/// Follows local steps; one for each worker.
pub struct Merger<'a, S: TransitionSystem> {
    system: &'a S,
    scratch: S::Scratch,
    /// The state after the merged steps.
    state: S::State,
    /// Buffer for the next state.
    next: S::State,
    /// Choices merged into the step that was followed last.
    pub choices: Vec<Choice>,
}

impl<'a, S: TransitionSystem> Merger<'a, S> {
    /// A merger, if the options allow merging: a bound on the depth counts every step, and properties read intermediate
    /// states.
    pub fn new(system: &'a S, options: &Options) -> Option<Self> {
        if !options.merging || options.reduction != Reduction::Safety || options.bounds.depth.is_some() {
            return None;
        }
        let mut scratch = system.scratch();
        let state = system.initial(&mut scratch);
        Some(Self { system, scratch, next: state.clone(), state, choices: Vec::new() })
    }

    /// Cuts steps that take long.
    pub fn limited(mut self, patience: &Patience) -> Self {
        self.system.limit(&mut self.scratch, patience);
        self
    }

    /// The state to store for a step: its successor, or one some local steps further on; and their number.
    #[inline]
    pub fn follow<'s>(&'s mut self, step: &Step<'s, S::State>) -> (&'s S::State, usize) {
        self.choices.clear();
        if step.failure.is_some() || !self.begin(step) {
            return (step.state, 0);
        }
        while self.choices.len() < LENGTH_MAX {
            let Some(actor) = self.system.private(&mut self.scratch, &self.state, step.moved) else { break };
            let Some(choice) = only_step(self.system, &mut self.scratch, &self.state, actor, &mut self.next) else {
                break;
            };
            std::mem::swap(&mut self.state, &mut self.next);
            self.choices.push(choice);
        }
        (&self.state, self.choices.len())
    }

    /// Merges the first local step; whether there is one.
    #[inline]
    fn begin(&mut self, step: &Step<'_, S::State>) -> bool {
        let Some(actor) = self.system.private(&mut self.scratch, step.state, step.moved) else { return false };
        let choice = only_step(self.system, &mut self.scratch, step.state, actor, &mut self.state);
        self.choices.extend(choice);
        choice.is_some()
    }
}

/// Takes the only step of an actor, if it has exactly one and that does not fail.
fn only_step<S: TransitionSystem>(
    system: &S,
    scratch: &mut S::Scratch,
    state: &S::State,
    actor: u32,
    next: &mut S::State,
) -> Option<Choice> {
    let (mut only, mut more) = (None, false);
    system.steps(scratch, state, Selection::Only(Bits::one(actor)), &mut |step| {
        more = only.is_some() || step.failure.is_some();
        if more {
            return ControlFlow::Break(());
        }
        only = Some(step.choice);
        next.clone_from(step.state);
        ControlFlow::Continue(())
    });
    only.filter(|_| !more && !system.was_cut(scratch))
}

/// A schedule with its merged choices, from the choices that were not merged. `None` only if they come from a journal that
/// lies: steps depend on the state alone, so a choice that was taken can be taken again.
pub fn spell_out<S: TransitionSystem>(system: &S, options: &Options, heads: &[Choice]) -> Option<Vec<Choice>> {
    let Some(mut merger) = Merger::new(system, options) else { return Some(heads.to_vec()) };
    let mut scratch = system.scratch();
    let mut state = system.initial(&mut scratch);
    let mut choices = Vec::with_capacity(heads.len());
    for head in heads {
        let mut next = None;
        system.steps(&mut scratch, &state, Selection::Only(Bits::one(head.actor)), &mut |step| {
            if step.choice != *head {
                return ControlFlow::Continue(());
            }
            next = Some(merger.follow(&step).0.clone());
            ControlFlow::Break(())
        });
        state = next?;
        choices.push(*head);
        choices.append(&mut merger.choices);
    }
    Some(choices)
}
