//! Dining philosophers: a cyclic system with one deadlock.

use explore::{Bits, Explained, Failure, Footprint, Key, Pending, Selection, Step, TransitionSystem};
use std::ops::ControlFlow;
use trace::{Choice, FailureKind};

/// Philosophers who each take the fork to the left, then the one to the right, then put both back, for ever.
///
/// Byte i of the state is philosopher i: 0 thinks, 1 has the left fork, 2 has both.
pub struct Philosophers {
    /// How many, at least 2.
    pub count: u32,
    /// Whether the last one takes the right fork first, which avoids the deadlock.
    pub polite: bool,
}

impl Philosophers {
    /// The fork that philosopher `actor` takes as number `turn` (0 or 1).
    fn fork(&self, actor: u32, turn: u32) -> u32 {
        let swapped = self.polite && actor + 1 == self.count;
        (actor + (turn ^ u32::from(swapped))) % self.count
    }

    /// Whether somebody holds the fork.
    fn taken(&self, state: &[u8], fork: u32) -> bool {
        (0..self.count).any(|actor| (0..u32::from(state[actor as usize])).any(|turn| self.fork(actor, turn) == fork))
    }

    /// What the philosopher does next, if it can.
    fn next(&self, state: &[u8], actor: u32) -> Option<u8> {
        match state[actor as usize] {
            2 => Some(0),
            held => (!self.taken(state, self.fork(actor, held.into()))).then_some(held + 1),
        }
    }
}

impl TransitionSystem for Philosophers {
    type State = Vec<u8>;
    type Scratch = Vec<u8>;

    fn scratch(&self) -> Vec<u8> {
        Vec::new()
    }

    fn initial(&self, _: &mut Vec<u8>) -> Vec<u8> {
        vec![0; (self.count as usize).next_multiple_of(8)]
    }

    fn key<'a>(&self, state: &'a Vec<u8>) -> Key<'a> {
        Key::Vector(state)
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
        next.clone_from(state);
        for actor in (0..self.count).filter(|actor| actors.contains(*actor)) {
            let Some(value) = self.next(state, actor) else { continue };
            next[actor as usize] = value;
            let choice = Choice { actor, index: 0 };
            let flow = visit(Step { choice, moved: Bits::one(actor), state: next, failure: None });
            next[actor as usize] = state[actor as usize];
            if flow.is_break() {
                return;
            }
        }
    }

    fn stuck(&self, _: &mut Vec<u8>, _: &Vec<u8>) -> Option<Failure> {
        Some(Failure {
            kind: FailureKind::Deadlock,
            message: "everybody waits for a fork".into(),
            fatal: true,
            property: None,
        })
    }

    /// Bit i: philosopher i eats.
    fn observe(&self, _: &mut Vec<u8>, state: &Vec<u8>, _: usize) -> Result<u64, Failure> {
        Ok((0..self.count).map(|actor| u64::from(state[actor as usize] == 2) << actor).sum())
    }

    fn pending(&self, _: &mut Vec<u8>, state: &Vec<u8>, actors: &mut Vec<Pending>) {
        actors.extend((0..self.count).map(|actor| {
            let forks: Bits = (0..2).map(|turn| self.fork(actor, turn)).collect();
            let held = state[actor as usize];
            let next = if held == 2 { forks } else { Bits::one(self.fork(actor, held.into())) };
            // Who eats is what propositions read: an object of its own for each philosopher.
            let eats = if held == 0 { Bits::EMPTY } else { Bits::one(128 + actor) };
            Pending {
                actor,
                enabled: self.next(state, actor).is_some(),
                closes_cycle: held == 2,
                next: Footprint { reads: Bits::EMPTY, writes: next.union(eats) },
                future: Footprint { reads: Bits::EMPTY, writes: forks.union(Bits::one(128 + actor)) },
            }
        }));
    }

    fn observed(&self, _: usize) -> Bits {
        (0..self.count).map(|actor| 128 + actor).collect()
    }

    fn explain(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, choice: Choice) -> Option<Explained<Vec<u8>>> {
        let mut explained = None;
        self.steps(scratch, state, Selection::Only(Bits::one(choice.actor)), &mut |step| {
            explained = Some(Explained { state: step.state.clone(), events: Vec::new(), failure: None });
            ControlFlow::Break(())
        });
        explained
    }

    fn actor_name(&self, _: &Vec<u8>, actor: u32) -> String {
        format!("philosopher:{actor}")
    }
}
