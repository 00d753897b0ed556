//! The x86-TSO machine of Owens, Sarkar and Sewell, by brute force: every interleaving of operations and drains.

use std::collections::{BTreeSet, VecDeque};

/// An operation of a thread on a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A plain store of a value.
    Store(usize, u8),
    /// A plain load, into the register of this number.
    Load(usize, usize),
    /// A store that locks memory.
    Exchange(usize, u8),
    /// An addition that locks memory.
    Add(usize, u8),
    /// An addition of one that does not lock memory: a load and a store.
    Increment(usize),
    /// A fence, or a syscall.
    Fence,
    /// A fence in all threads.
    FenceAll,
}

/// What programs tell at their end: registers, or words of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observed {
    /// A word of memory.
    Word(usize),
    /// What a load has returned.
    Register(usize),
}

/// A state of the machine.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct State {
    memory: [u8; 4],
    registers: [u8; 8],
    threads: Vec<Thread>,
}

/// A thread of the machine.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Thread {
    /// The number of its next operation.
    next: usize,
    /// What an increment has loaded.
    loaded: Option<u8>,
    /// Stores that are not in memory.
    buffer: VecDeque<(usize, u8)>,
}

/// All outcomes: the values of what is observed. With buffers, or with sequential consistency.
pub fn outcomes(threads: &[Vec<Operation>], observed: &[Observed], has_buffers: bool) -> BTreeSet<Vec<u8>> {
    let begin = State { memory: [0; 4], registers: [0; 8], threads: vec![Thread::default(); threads.len()] };
    let (mut seen, mut open, mut ends) = (BTreeSet::from([begin.clone()]), vec![begin], BTreeSet::new());
    while let Some(state) = open.pop() {
        let next = successors(threads, &state, has_buffers);
        if next.is_empty() {
            ends.insert(observed.iter().map(|what| state.value(*what)).collect());
        }
        open.extend(next.into_iter().filter(|state| seen.insert(state.clone())));
    }
    ends
}

impl State {
    fn value(&self, what: Observed) -> u8 {
        match what {
            Observed::Word(word) => self.memory[word],
            Observed::Register(register) => self.registers[register],
        }
    }

    /// What a thread reads: its newest store to the word, or memory.
    fn read(&self, thread: usize, word: usize) -> u8 {
        let own = self.threads[thread].buffer.iter().rev().find(|(stored, _)| *stored == word);
        own.map_or(self.memory[word], |(_, value)| *value)
    }

    fn store(&mut self, thread: usize, word: usize, value: u8, has_buffers: bool) {
        match has_buffers {
            true => self.threads[thread].buffer.push_back((word, value)),
            false => self.memory[word] = value,
        }
    }
}

fn successors(threads: &[Vec<Operation>], state: &State, has_buffers: bool) -> Vec<State> {
    let mut all = Vec::new();
    for (number, operations) in threads.iter().enumerate() {
        let Thread { next: at, loaded, buffer } = &state.threads[number];
        if let Some((word, value)) = buffer.front() {
            let mut next = state.clone();
            next.memory[*word] = *value;
            next.threads[number].buffer.pop_front();
            all.push(next);
        }
        let Some(operation) = operations.get(*at) else { continue };
        let waits = matches!(operation, Operation::Exchange(..) | Operation::Add(..) | Operation::Fence);
        let all_wait = *operation == Operation::FenceAll;
        if waits && !buffer.is_empty() || all_wait && state.threads.iter().any(|thread| !thread.buffer.is_empty()) {
            continue;
        }
        let mut next = state.clone();
        let is_half = matches!(operation, Operation::Increment(_)) && loaded.is_none();
        next.threads[number].next += usize::from(!is_half);
        next.threads[number].loaded = None;
        match *operation {
            Operation::Store(word, value) => next.store(number, word, value, has_buffers),
            Operation::Load(word, register) => next.registers[register] = state.read(number, word),
            Operation::Exchange(word, value) => next.memory[word] = value,
            Operation::Add(word, value) => next.memory[word] += value,
            Operation::Increment(word) => match loaded {
                None => next.threads[number].loaded = Some(state.read(number, word)),
                Some(loaded) => next.store(number, word, loaded + 1, has_buffers),
            },
            Operation::Fence | Operation::FenceAll => {}
        }
        all.push(next);
    }
    all
}
