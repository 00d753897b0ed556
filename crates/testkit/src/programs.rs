//! Small random concurrent programs: variables, locks, channels, loops, choices, assertions.
//!
//! Unlike random models these know their footprints exactly, so persistent sets and dynamic
//! reductions can be tested without a compiler between: two operations are dependent if one writes
//! what the other reads or writes.

mod generate;
mod step;

use explore::{Bits, Explained, Failure, Footprint, Key, Pending, Selection, Step, TransitionSystem};
pub use generate::Shape;
use std::ops::ControlFlow;
use trace::{Choice, FailureKind};

/// One operation of a thread. Numbers name variables, locks, channels and positions in the thread's code.
///
/// Waiting operations (`Await`, `Lock`, `Send`, `Receive`) are disabled until they can be carried
/// out; they do not spin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Sets a variable.
    Set(u8, u8),
    /// Adds one, modulo three.
    Add(u8),
    /// Waits until a variable has a value.
    Await(u8, u8),
    /// Fails if a variable has a value, and goes on.
    Assert(u8, u8),
    /// Ends the run if a variable has a value.
    Crash(u8, u8),
    /// Takes a lock, waiting for it.
    Lock(u8),
    /// Gives a lock back, whoever holds it.
    Unlock(u8),
    /// Sends a value to a channel, waiting for room.
    Send(u8, u8),
    /// Receives a value into a variable, waiting for one.
    Receive(u8, u8),
    /// Sends a value straight into a variable of another thread that is at the matching `Take`: both move at once.
    Give(u8, u8),
    /// The other side of `Give`; never moves by itself.
    Take(u8, u8),
    /// Goes on elsewhere.
    Jump(u8),
    /// Goes on elsewhere or with the next operation.
    Either(u8),
}

/// A program: a list of operations for each thread. A thread at the end of its list has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The code.
    pub threads: Vec<Vec<Op>>,
    /// How many variables, locks and channels there are.
    pub shape: Shape,
}

/// Messages that a channel holds.
pub(crate) const ROOM: usize = 2;

impl Program {
    pub(crate) fn variable(&self, number: u8) -> usize {
        self.threads.len() + number as usize
    }

    pub(crate) fn lock(&self, number: u8) -> usize {
        self.variable(self.shape.variables) + number as usize
    }

    /// First byte of a channel: its length, then its messages.
    pub(crate) fn channel(&self, number: u8) -> usize {
        self.lock(self.shape.locks) + number as usize * (1 + ROOM)
    }

    fn bytes(&self) -> usize {
        // A chunk for every few bytes, so that the store has a tree to keep.
        self.channel(self.shape.channels).next_multiple_of(8)
    }

    fn ended(&self, state: &[u8]) -> bool {
        self.threads.iter().enumerate().all(|(thread, code)| state[thread] as usize == code.len())
    }

    /// The objects of an operation: variables, then locks, channels and rendezvous.
    ///
    /// A lock is written by both sides, for an unlock enables a lock; a receive writes the channel,
    /// since it makes room for a sender. A footprint that left out what an operation *enables*
    /// would make reductions unsound, and this is the place that the tests would blame.
    fn footprint(&self, op: Op) -> Footprint {
        let object = |kind: u32, number: u8| Bits::one(kind * 32 + u32::from(number));
        let read = |bits| Footprint { reads: bits, writes: Bits::EMPTY };
        let write = |bits| Footprint { reads: Bits::EMPTY, writes: bits };
        match op {
            Op::Set(variable, _) | Op::Add(variable) => write(object(0, variable)),
            Op::Await(variable, _) | Op::Assert(variable, _) | Op::Crash(variable, _) => read(object(0, variable)),
            Op::Lock(lock) | Op::Unlock(lock) => write(object(1, lock)),
            Op::Send(channel, _) => write(object(2, channel)),
            Op::Receive(channel, variable) => write(object(2, channel).union(object(0, variable))),
            // The giver writes the taker's variable, whichever that is.
            Op::Give(meeting, _) => write(object(3, meeting).union((0..32).collect())),
            Op::Take(meeting, variable) => write(object(3, meeting).union(object(0, variable))),
            Op::Jump(_) | Op::Either(_) => Footprint::NOTHING,
        }
    }

    /// What a thread may touch from a position on.
    ///
    /// A fixpoint over the thread's own code, ignoring values: whatever may be reached, in linear
    /// time.
    fn future(&self, thread: usize, position: u8) -> Footprint {
        let code = &self.threads[thread];
        let mut seen = vec![false; code.len() + 1];
        let mut agenda = vec![position as usize];
        let mut all = Footprint::NOTHING;
        while let Some(position) = agenda.pop() {
            if std::mem::replace(&mut seen[position], true) || position == code.len() {
                continue;
            }
            all = all.union(self.footprint(code[position]));
            match code[position] {
                Op::Jump(to) => agenda.push(to as usize),
                Op::Either(to) => agenda.extend([to as usize, position + 1]),
                _ => agenda.push(position + 1),
            }
        }
        all
    }
}

/// What went wrong in a stuck state: the message names the state, so that every such state is told apart.
pub(crate) fn stuck(state: &[u8]) -> Failure {
    Failure { kind: FailureKind::Deadlock, message: format!("stuck at {state:?}"), fatal: true, property: None }
}

impl TransitionSystem for Program {
    type State = Vec<u8>;
    type Scratch = Vec<u8>;

    fn scratch(&self) -> Vec<u8> {
        Vec::new()
    }

    fn initial(&self, _: &mut Vec<u8>) -> Vec<u8> {
        vec![0; self.bytes()]
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
        for thread in (0..self.threads.len()).filter(|thread| actors.contains(*thread as u32)) {
            for index in 0..self.choices(state, thread) {
                next.clone_from(state);
                let (moved, failure) = self.take(next, thread, index);
                let choice = Choice { actor: thread as u32, index };
                if visit(Step { choice, moved, state: next, failure: failure.as_ref() }).is_break() {
                    return;
                }
            }
        }
    }

    fn stuck(&self, _: &mut Vec<u8>, state: &Vec<u8>) -> Option<Failure> {
        (!self.ended(state)).then(|| stuck(state))
    }

    /// Bit i of observer 10n + v: variable i, one of the first n, has the value v.
    fn observe(&self, _: &mut Vec<u8>, state: &Vec<u8>, observer: usize) -> Result<u64, Failure> {
        let value = |number| u64::from(state[self.variable(number)] as usize == observer % 10) << number;
        Ok((0..(observer / 10) as u8).map(value).sum())
    }

    fn observed(&self, observer: usize) -> Bits {
        (0..(observer / 10) as u32).collect()
    }

    fn pending(&self, _: &mut Vec<u8>, state: &Vec<u8>, actors: &mut Vec<Pending>) {
        for (thread, code) in self.threads.iter().enumerate() {
            let position = state[thread];
            let op = code.get(position as usize);
            let back = |to: &u8| *to <= position;
            actors.push(Pending {
                actor: thread as u32,
                enabled: self.choices(state, thread) > 0,
                closes_cycle: op.is_some_and(|op| match op {
                    Op::Jump(to) | Op::Either(to) => back(to),
                    _ => false,
                }),
                next: op.map_or(Footprint::NOTHING, |op| self.footprint(*op)),
                future: self.future(thread, position),
            });
        }
        // A rendezvous moves the taker as well, which may be anywhere: what it touches belongs to the giver.
        if self.threads.iter().flatten().any(|op| matches!(op, Op::Give(..))) {
            actors.clear();
        }
    }

    fn explain(&self, _: &mut Vec<u8>, state: &Vec<u8>, choice: Choice) -> Option<Explained<Vec<u8>>> {
        let thread = choice.actor as usize;
        if thread >= self.threads.len() || choice.index >= self.choices(state, thread) {
            return None;
        }
        let mut next = state.clone();
        let (_, failure) = self.take(&mut next, thread, choice.index);
        Some(Explained { state: next, events: Vec::new(), failure })
    }

    fn actor_name(&self, _: &Vec<u8>, actor: u32) -> String {
        format!("thread:{actor}")
    }
}
