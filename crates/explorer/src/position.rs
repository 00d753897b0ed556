//! Where the user is: the steps that were taken by hand, told as they were taken.
//!
//! A way of its own beside the graph: users go round in circles, and a node of the graph has one parent. Every step is kept
//! with its state and its events, so that going back executes nothing, and going elsewhere only what differs.

use crate::session::Session;
use explore::Failure;
use replay::{Mismatch, Replayable, introduce};
use trace::{ActorName, Choice, Schedule, Trace, TraceStep};

/// A schedule that is driven step by step.
pub(crate) struct Position<S> {
    /// The state at the beginning, and that after each step, with all that narration knows there.
    states: Vec<S>,
    steps: Vec<Taken>,
}

/// A step that was taken.
struct Taken {
    step: TraceStep,
    /// Everyone who was known after it; kept with each step, since going back makes actors unknown again.
    actors: Vec<ActorName>,
    /// The state that it led to.
    node: usize,
    failure: Option<Failure>,
}

impl<S: Clone> Position<S> {
    /// The beginning.
    pub fn new(initial: S) -> Self {
        Self { states: vec![initial], steps: Vec::new() }
    }

    /// The state where the user is.
    pub fn state(&self) -> &S {
        &self.states[self.states.len() - 1]
    }

    /// Its node.
    pub fn node(&self) -> usize {
        self.steps.last().map_or(0, |taken| taken.node)
    }

    /// The nodes on the way, the first one included.
    pub fn nodes(&self) -> Vec<usize> {
        std::iter::once(0).chain(self.steps.iter().map(|taken| taken.node)).collect()
    }

    /// What the last step did wrong.
    pub fn failure(&self) -> Option<&Failure> {
        self.steps.last().and_then(|taken| taken.failure.as_ref())
    }

    /// The choices that were taken.
    pub fn schedule(&self) -> Schedule {
        Schedule { choices: self.steps.iter().map(|taken| taken.step.choice).collect(), cycle_start: None }
    }

    /// What happened on the way.
    pub fn trace(&self) -> Trace {
        let actors = self.steps.last().map(|taken| taken.actors.clone()).unwrap_or_default();
        Trace { actors, steps: self.steps.iter().map(|taken| taken.step.clone()).collect(), cycle_start: None }
    }

    /// Takes a choice; says whether there is such a one. A page may be older than what it asks for, and anyone who knows the
    /// token may ask for anything.
    pub fn take<R: Replayable<State = S>>(&mut self, session: &mut Session<'_, R>, choice: Choice) -> bool {
        let before = self.state().clone();
        let Some(explained) = session.system.explain(&before, choice) else { return false };
        let step = TraceStep { choice, events: explained.events, is_local: None };
        let mut actors = self.steps.last().map(|taken| taken.actors.clone()).unwrap_or_default();
        introduce(session.system, &mut actors, &step, &before, &explained.state);
        let node = session.reach(self.node(), choice, explained.state.clone(), explained.failure.clone());
        self.states.push(explained.state);
        self.steps.push(Taken { step, actors, node, failure: explained.failure });
        true
    }

    /// Goes back, so that so many steps are left.
    pub fn go_back(&mut self, steps: usize) {
        self.steps.truncate(steps);
        self.states.truncate(steps + 1);
    }

    /// Follows a schedule, from where it leaves what was done already.
    ///
    /// # Errors
    /// If a choice does not exist.
    pub fn follow<R: Replayable<State = S>>(
        &mut self,
        session: &mut Session<'_, R>,
        choices: &[Choice],
    ) -> Result<(), Mismatch> {
        let taken = self.steps.iter().map(|taken| taken.step.choice);
        let common = taken.zip(choices).take_while(|(taken, choice)| taken == *choice).count();
        self.go_back(common);
        for (index, choice) in choices.iter().enumerate().skip(common) {
            if !self.take(session, *choice) {
                return Err(Mismatch { step: index + 1, why: "this choice does not exist".to_owned() });
            }
        }
        Ok(())
    }
}
