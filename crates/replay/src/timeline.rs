//! Going forwards and backwards along a schedule.

use crate::run::Mismatch;
use crate::system::{Explained, Replayable};
use explore::Failure;
use trace::{Choice, TraceStep};

/// Steps between two snapshots: going backwards re-executes at most this many.
const SPACING: usize = 64;

/// A schedule and a mark on it, with the state there.
///
/// Mark 0 is the initial state, mark `n` the state after `n` steps. Every 64th state is kept as a snapshot, so going
/// backwards costs a bounded number of steps and memory stays small.
pub struct Timeline<'s, R: Replayable> {
    system: &'s mut R,
    choices: Vec<Choice>,
    snapshots: Vec<R::State>,
    state: R::State,
    mark: usize,
}

/// A step that was taken, told for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// What happened.
    pub step: TraceStep,
    /// What went wrong, if anything.
    pub failure: Option<Failure>,
}

impl<'s, R: Replayable> Timeline<'s, R> {
    /// A timeline at its beginning.
    pub fn new(system: &'s mut R, choices: Vec<Choice>) -> Self {
        let state = system.initial();
        Self { system, choices, snapshots: vec![state.clone()], state, mark: 0 }
    }

    /// Where we are: the number of steps taken.
    #[must_use]
    pub fn mark(&self) -> usize {
        self.mark
    }

    /// The number of steps of the whole schedule.
    #[must_use]
    pub fn len(&self) -> usize {
        self.choices.len()
    }

    /// Whether there is no step at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.choices.is_empty()
    }

    /// The state at the mark.
    #[must_use]
    pub fn state(&self) -> &R::State {
        &self.state
    }

    /// The choices, first to last.
    #[must_use]
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// The system and the state at the mark, for questions about it.
    pub fn at_mark(&mut self) -> (&mut R, &R::State) {
        (self.system, &self.state)
    }

    /// Takes the next step and explains it; `None` at the end.
    ///
    /// # Errors
    /// If the state at the mark does not offer the choice.
    pub fn forward(&mut self) -> Result<Option<Told>, Mismatch> {
        let Some(&choice) = self.choices.get(self.mark) else { return Ok(None) };
        let Some(explained) = self.system.explain(&self.state, choice) else { return Err(self.no_such_choice(choice)) };
        let Explained { state, events, failure } = explained;
        self.arrive(state);
        Ok(Some(Told { step: TraceStep { choice, events, is_local: None }, failure }))
    }

    fn arrive(&mut self, state: R::State) {
        self.state = state;
        self.mark += 1;
        if self.mark == self.snapshots.len() * SPACING {
            self.snapshots.push(self.state.clone());
        }
    }

    fn no_such_choice(&mut self, choice: Choice) -> Mismatch {
        let name = self.system.actor_name(&self.state, choice.actor);
        let why = format!("{name} has no choice {} in this state", choice.index);
        Mismatch { step: self.mark + 1, why }
    }

    /// Goes one step back; `false` at the beginning.
    pub fn backward(&mut self) -> bool {
        let Some(mark) = self.mark.checked_sub(1) else { return false };
        self.go_to(mark).expect("steps that were taken once can be taken again");
        true
    }

    /// Goes to a mark, at most to the end, and says where it is then.
    ///
    /// # Errors
    /// If a step on the way is not possible.
    pub fn go_to(&mut self, mark: usize) -> Result<usize, Mismatch> {
        let mark = mark.min(self.len());
        let nearest = (mark / SPACING).min(self.snapshots.len() - 1);
        if mark < self.mark || nearest * SPACING > self.mark {
            self.state = self.snapshots[nearest].clone();
            self.mark = nearest * SPACING;
        }
        while self.mark < mark {
            self.forward()?;
        }
        Ok(self.mark)
    }

    /// Gives up the future and takes another choice at the mark; `None`, and nothing changes, if there is no such choice.
    pub fn branch(&mut self, choice: Choice) -> Option<Told> {
        self.system.explain(&self.state, choice)?;
        self.choices.truncate(self.mark);
        self.snapshots.truncate(self.mark / SPACING + 1);
        self.choices.push(choice);
        self.forward().ok().flatten()
    }
}
