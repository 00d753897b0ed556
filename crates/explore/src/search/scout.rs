//! A quick look around before a search, to lay out the store.

use crate::random::Random;
use crate::system::{Key, Selection, TransitionSystem};
use std::ops::ControlFlow;

/// Random walks to take.
const WALKS: u64 = 4;
/// Steps of each.
const STEPS: u32 = 250;

/// Length of the longest vector on a few random walks and beside them: processes that come into being later make
/// vectors longer than the initial one.
pub fn vector_bytes<S: TransitionSystem>(system: &S) -> usize {
    let mut scratch = system.scratch();
    let initial = system.initial(&mut scratch);
    let mut bytes = length(system, &initial);
    for seed in 0..WALKS {
        let (mut random, mut state) = (Random::new(seed), initial.clone());
        for _ in 0..STEPS {
            let (mut next, mut seen) = (None, 0);
            system.steps(&mut scratch, &state, Selection::All, &mut |step| {
                if step.failure.is_none() {
                    bytes = bytes.max(length(system, step.state));
                    seen += 1;
                    // Each step replaces the one before with probability 1/seen, so all are equally likely.
                    if random.below(seen) == 0 {
                        next = Some(step.state.clone());
                    }
                }
                ControlFlow::Continue(())
            });
            match next {
                Some(next) => state = next,
                None => break,
            }
        }
    }
    bytes
}

fn length<S: TransitionSystem>(system: &S, state: &S::State) -> usize {
    match system.key(state) {
        Key::Vector(vector) => vector.len(),
        Key::Fingerprint(_) => 0,
    }
}
