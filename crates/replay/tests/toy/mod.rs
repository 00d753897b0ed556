//! A toy system: a few processes, each a list of instructions over locks and counters.

use explore::{Bits, Explained, Failure, Key, Selection, Step, TransitionSystem};
use std::ops::ControlFlow;
use trace::{Change, Choice, Event, FailureKind, Location};

/// One instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Waits until the variable is 0, then makes it 1.
    Lock(usize),
    /// Makes the variable 0.
    Unlock(usize),
    /// Adds one.
    Add(usize),
    /// Fails unless the variable has the value.
    Assert(usize, u8),
    /// Either goes on or goes to the given place: two choices.
    Maybe(u8),
    /// Goes to the given place.
    Goto(u8),
}

/// The processes.
pub struct Toy(pub Vec<Vec<Op>>);

/// Bytes 0..8 are places of processes, 8..16 variables.
pub type State = [u8; 16];

impl Toy {
    fn op(&self, state: &State, actor: u32) -> Option<Op> {
        self.0.get(actor as usize)?.get(usize::from(state[actor as usize])).copied()
    }

    fn step(&self, state: &State, choice: Choice) -> Option<(State, Option<Failure>)> {
        let mut next = *state;
        let place = choice.actor as usize;
        let op = self.op(state, choice.actor)?;
        next[place] += 1;
        let mut failure = None;
        match op {
            Op::Lock(var) if state[8 + var] != 0 => return None,
            Op::Lock(var) => next[8 + var] = 1,
            Op::Unlock(var) => next[8 + var] = 0,
            Op::Add(var) => next[8 + var] = next[8 + var].wrapping_add(1),
            Op::Assert(var, value) if state[8 + var] != value => {
                let message = format!("assertion violated: (v{var} == {value})");
                failure = Some(Failure { kind: FailureKind::Assert, message, fatal: true, property: None });
            }
            Op::Assert(..) => {}
            Op::Maybe(to) if choice.index == 1 => next[place] = to,
            Op::Maybe(_) => {}
            Op::Goto(to) => next[place] = to,
        }
        let count = if matches!(op, Op::Maybe(_)) { 2 } else { 1 };
        (choice.index < count).then_some((next, failure))
    }
}

impl TransitionSystem for Toy {
    type State = State;
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, _: &mut ()) -> State {
        [0; 16]
    }

    fn key<'a>(&self, state: &'a State) -> Key<'a> {
        Key::Vector(state)
    }

    fn steps(
        &self,
        _: &mut (),
        state: &State,
        actors: Selection,
        visit: &mut impl FnMut(Step<'_, State>) -> ControlFlow<()>,
    ) {
        for actor in (0..self.0.len() as u32).filter(|actor| actors.contains(*actor)) {
            for index in 0..2 {
                let choice = Choice { actor, index };
                let Some((next, failure)) = self.step(state, choice) else { continue };
                let step = Step { choice, moved: Bits::one(actor), state: &next, failure: failure.as_ref() };
                if visit(step).is_break() {
                    return;
                }
            }
        }
    }

    fn stuck(&self, _: &mut (), state: &State) -> Option<Failure> {
        let waits = (0..self.0.len() as u32).any(|actor| self.op(state, actor).is_some());
        let message = "invalid end state".to_owned();
        waits.then_some(Failure { kind: FailureKind::Deadlock, message, fatal: true, property: None })
    }

    fn observe(&self, _: &mut (), state: &State, observer: usize) -> Result<u64, Failure> {
        Ok(u64::from(state[8 + observer]))
    }

    fn explain(&self, _: &mut (), state: &State, choice: Choice) -> Option<Explained<State>> {
        let (next, failure) = self.step(state, choice)?;
        let changes = (0..8).filter(|var| state[8 + var] != next[8 + var]).map(|var| Change {
            name: format!("v{var}"),
            before: state[8 + var].to_string(),
            after: next[8 + var].to_string(),
        });
        let place = state[choice.actor as usize];
        let event = Event {
            actor: choice.actor,
            kind: trace::EventKind::Statement,
            text: format!("{:?} {}", self.op(state, choice.actor)?, choice.index),
            location: Some(Location { file: "toy".to_owned(), line: u32::from(place) + 1, column: 1, width: 1 }),
            changes: changes.collect(),
            message: None,
            output: None,
            failure: None,
            uninterrupted: false,
            is_local: false,
            created: None,
        };
        Some(Explained { state: next, events: vec![event], failure })
    }

    fn actor_name(&self, _: &State, actor: u32) -> String {
        format!("p:{actor}")
    }
}

/// A schedule from actor numbers, always the first choice.
pub fn schedule(actors: &[u32]) -> trace::Schedule {
    let choices = actors.iter().map(|&actor| Choice { actor, index: 0 }).collect();
    trace::Schedule { choices, cycle_start: None }
}
