//! Systems whose states are vectors, as one type: an engine is compiled once for all of them, which is most of what it takes to build
//! the tests of engines.

#![allow(clippy::ptr_arg, reason = "a state of such a system is a vector")]

use explore::{Bits, Explained, Failure, Key, Pending, Selection, Step, TransitionSystem};
use std::ops::ControlFlow;
use trace::Choice;

type Visit<'v> = dyn FnMut(Step<'_, Vec<u8>>) -> ControlFlow<()> + 'v;

/// A system whose states are vectors.
pub struct Erased<'a>(&'a dyn Vectors);

impl<'a> Erased<'a> {
    /// A system without its type.
    #[must_use]
    pub fn new<S: TransitionSystem<State = Vec<u8>, Scratch = Vec<u8>>>(system: &'a S) -> Self {
        Self(system)
    }
}

/// What engines ask, as methods of an object.
trait Vectors: Sync {
    fn workspace(&self) -> Vec<u8>;
    fn first(&self, scratch: &mut Vec<u8>) -> Vec<u8>;
    fn key_of<'a>(&self, state: &'a Vec<u8>) -> Key<'a>;
    fn read(&self, vector: &[u8], state: &mut Vec<u8>) -> bool;
    fn is_one(&self, vector: &[u8]) -> bool;
    fn each_step(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, actors: Selection, visit: &mut Visit<'_>);
    fn stuck_in(&self, scratch: &mut Vec<u8>, state: &Vec<u8>) -> Option<Failure>;
    fn truth(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, observer: usize) -> Result<u64, Failure>;
    fn enabled_in(&self, scratch: &mut Vec<u8>, state: &Vec<u8>) -> Bits;
    fn pending_in(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, actors: &mut Vec<Pending>);
    fn private_in(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, moved: Bits) -> Option<u32>;
    fn part_of(&self, state: &Vec<u8>) -> u128;
    fn observed_by(&self, observer: usize) -> Bits;
    fn told(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, choice: Choice) -> Option<Explained<Vec<u8>>>;
    fn name_of(&self, state: &Vec<u8>, actor: u32) -> String;
}

impl<S: TransitionSystem<State = Vec<u8>, Scratch = Vec<u8>>> Vectors for S {
    fn workspace(&self) -> Vec<u8> {
        self.scratch()
    }
    fn first(&self, scratch: &mut Vec<u8>) -> Vec<u8> {
        self.initial(scratch)
    }
    fn key_of<'a>(&self, state: &'a Vec<u8>) -> Key<'a> {
        self.key(state)
    }
    fn read(&self, vector: &[u8], state: &mut Vec<u8>) -> bool {
        self.restore(vector, state)
    }
    fn is_one(&self, vector: &[u8]) -> bool {
        self.is_state(vector)
    }
    fn each_step(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, actors: Selection, visit: &mut Visit<'_>) {
        self.steps(scratch, state, actors, &mut |step| visit(step));
    }
    fn stuck_in(&self, scratch: &mut Vec<u8>, state: &Vec<u8>) -> Option<Failure> {
        self.stuck(scratch, state)
    }
    fn truth(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, observer: usize) -> Result<u64, Failure> {
        self.observe(scratch, state, observer)
    }
    fn enabled_in(&self, scratch: &mut Vec<u8>, state: &Vec<u8>) -> Bits {
        self.enabled(scratch, state)
    }
    fn pending_in(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, actors: &mut Vec<Pending>) {
        self.pending(scratch, state, actors);
    }
    fn private_in(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, moved: Bits) -> Option<u32> {
        self.private(scratch, state, moved)
    }
    fn part_of(&self, state: &Vec<u8>) -> u128 {
        self.part(state)
    }
    fn observed_by(&self, observer: usize) -> Bits {
        self.observed(observer)
    }
    fn told(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, choice: Choice) -> Option<Explained<Vec<u8>>> {
        self.explain(scratch, state, choice)
    }
    fn name_of(&self, state: &Vec<u8>, actor: u32) -> String {
        self.actor_name(state, actor)
    }
}

impl TransitionSystem for Erased<'_> {
    type State = Vec<u8>;
    type Scratch = Vec<u8>;

    fn scratch(&self) -> Vec<u8> {
        self.0.workspace()
    }
    fn initial(&self, scratch: &mut Vec<u8>) -> Vec<u8> {
        self.0.first(scratch)
    }
    fn key<'a>(&self, state: &'a Vec<u8>) -> Key<'a> {
        self.0.key_of(state)
    }
    fn restore(&self, vector: &[u8], state: &mut Vec<u8>) -> bool {
        self.0.read(vector, state)
    }
    fn is_state(&self, vector: &[u8]) -> bool {
        self.0.is_one(vector)
    }
    fn steps(
        &self,
        scratch: &mut Vec<u8>,
        state: &Vec<u8>,
        actors: Selection,
        visit: &mut impl FnMut(Step<'_, Vec<u8>>) -> ControlFlow<()>,
    ) {
        self.0.each_step(scratch, state, actors, visit);
    }
    fn stuck(&self, scratch: &mut Vec<u8>, state: &Vec<u8>) -> Option<Failure> {
        self.0.stuck_in(scratch, state)
    }
    fn observe(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, observer: usize) -> Result<u64, Failure> {
        self.0.truth(scratch, state, observer)
    }
    fn enabled(&self, scratch: &mut Vec<u8>, state: &Vec<u8>) -> Bits {
        self.0.enabled_in(scratch, state)
    }
    fn pending(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, actors: &mut Vec<Pending>) {
        self.0.pending_in(scratch, state, actors);
    }
    fn private(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, moved: Bits) -> Option<u32> {
        self.0.private_in(scratch, state, moved)
    }
    fn part(&self, state: &Vec<u8>) -> u128 {
        self.0.part_of(state)
    }
    fn observed(&self, observer: usize) -> Bits {
        self.0.observed_by(observer)
    }
    fn explain(&self, scratch: &mut Vec<u8>, state: &Vec<u8>, choice: Choice) -> Option<Explained<Vec<u8>>> {
        self.0.told(scratch, state, choice)
    }
    fn actor_name(&self, state: &Vec<u8>, actor: u32) -> String {
        self.0.name_of(state, actor)
    }
}
