//! Independent counters: the system with the most interleavings and the simplest count.

use explore::{Bits, Explained, Failure, Footprint, Key, Pending, Selection, Step, TransitionSystem};
use std::ops::ControlFlow;
use trace::{Choice, FailureKind};

/// `actors` counters that each go from 0 to `end`: (end + 1)^actors states, actors · end · (end + 1)^(actors - 1) steps.
pub struct Counters {
    /// Number of counters.
    pub actors: u32,
    /// Where each counter ends.
    pub end: u8,
    /// Bytes between two counters: spreads them over more chunks.
    pub stride: usize,
    /// A state in which every counter has this value fails an assertion on arrival.
    pub forbidden: Option<u8>,
    /// Whether the end counts as a deadlock.
    pub may_end: bool,
}

impl Counters {
    /// Counters that may end and that nothing is wrong with.
    #[must_use]
    pub fn new(actors: u32, end: u8) -> Self {
        Self { actors, end, stride: 1, forbidden: None, may_end: true }
    }

    fn place(&self, actor: u32) -> usize {
        actor as usize * self.stride
    }

    fn fails(&self, state: &[u8]) -> bool {
        self.forbidden.is_some_and(|value| (0..self.actors).all(|actor| state[self.place(actor)] == value))
    }

    fn failure(&self) -> Failure {
        Failure { kind: FailureKind::Assert, message: "all counters are equal".into(), fatal: false, property: None }
    }

    /// Number of states.
    #[must_use]
    pub fn state_count(&self) -> u64 {
        (u64::from(self.end) + 1).pow(self.actors)
    }

    /// Number of steps.
    #[must_use]
    pub fn step_count(&self) -> u64 {
        u64::from(self.actors) * u64::from(self.end) * (u64::from(self.end) + 1).pow(self.actors - 1)
    }
}

impl TransitionSystem for Counters {
    type State = Vec<u8>;
    type Scratch = Vec<u8>;

    fn scratch(&self) -> Vec<u8> {
        Vec::new()
    }

    fn initial(&self, _: &mut Vec<u8>) -> Vec<u8> {
        vec![0; (self.actors as usize * self.stride).next_multiple_of(8)]
    }

    fn key<'a>(&self, state: &'a Vec<u8>) -> Key<'a> {
        Key::Vector(state)
    }

    fn is_state(&self, vector: &[u8]) -> bool {
        let size = (self.actors as usize * self.stride).next_multiple_of(8);
        let counts = |(at, byte): (usize, &u8)| *byte == 0 || *byte <= self.end && at.is_multiple_of(self.stride);
        vector.len() == size && vector.iter().enumerate().all(counts)
    }

    fn restore(&self, vector: &[u8], state: &mut Vec<u8>) -> bool {
        state.copy_from_slice(vector);
        true
    }

    fn steps(
        &self,
        next: &mut Vec<u8>,
        state: &Vec<u8>,
        actors: Selection,
        visit: &mut impl FnMut(Step<'_, Vec<u8>>) -> ControlFlow<()>,
    ) {
        let failure = self.failure();
        next.clone_from(state);
        for actor in (0..self.actors).filter(|actor| actors.contains(*actor)) {
            let place = self.place(actor);
            if state[place] == self.end {
                continue;
            }
            next[place] += 1;
            let failure = self.fails(next).then_some(&failure);
            let choice = Choice { actor, index: 0 };
            let flow = visit(Step { choice, moved: Bits::one(actor), state: next, failure });
            next[place] -= 1;
            if flow.is_break() {
                return;
            }
        }
    }

    fn stuck(&self, _: &mut Vec<u8>, _: &Vec<u8>) -> Option<Failure> {
        let failure =
            Failure { kind: FailureKind::Deadlock, message: "all counters ended".into(), fatal: true, property: None };
        (!self.may_end).then_some(failure)
    }

    /// Bit i: counter i is at its end.
    fn observe(&self, _: &mut Vec<u8>, state: &Vec<u8>, _: usize) -> Result<u64, Failure> {
        Ok((0..self.actors).map(|actor| u64::from(state[self.place(actor)] == self.end) << actor).sum())
    }

    fn pending(&self, _: &mut Vec<u8>, state: &Vec<u8>, actors: &mut Vec<Pending>) {
        actors.extend((0..self.actors).map(|actor| {
            let own = Footprint { reads: Bits::EMPTY, writes: Bits::folded(actor) };
            let enabled = state[self.place(actor)] < self.end;
            Pending { actor, enabled, closes_cycle: false, next: own, future: own }
        }));
    }

    fn explain(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, choice: Choice) -> Option<Explained<Vec<u8>>> {
        let mut explained = None;
        self.steps(scratch, state, Selection::Only(Bits::one(choice.actor)), &mut |step| {
            explained =
                Some(Explained { state: step.state.clone(), events: Vec::new(), failure: step.failure.cloned() });
            ControlFlow::Break(())
        });
        explained
    }

    fn actor_name(&self, _: &Vec<u8>, actor: u32) -> String {
        format!("counter:{actor}")
    }
}
