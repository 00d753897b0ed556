//! A sample of state vectors before a search, to lay out the store.
#![allow(clippy::disallowed_methods, reason = "limits are of the host's time")]

use crate::patience::Patience;
use crate::random::Random;
use crate::store::Sample;
use crate::system::{Key, Selection, TransitionSystem};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Random walks to take.
const WALKS: u64 = 4;
/// Steps of each.
const STEPS: u32 = 250;
/// How long they may take: only the layout of the store depends on them.
const TIME: Duration = Duration::from_millis(20);

/// The vectors on a few random walks, and the greatest length of those and their siblings: processes that are created later
/// make vectors longer than the initial one.
pub fn sample<S: TransitionSystem>(system: &S, patience: &Patience) -> Sample {
    let mut scratch = system.scratch();
    system.limit(&mut scratch, patience);
    let started = Instant::now();
    let initial = system.initial(&mut scratch);
    let mut sample = Sample::default();
    for seed in 0..WALKS {
        let (mut random, mut state) = (Random::new(seed), initial.clone());
        for _ in 0..STEPS {
            if patience.is_over() || started.elapsed() > TIME {
                return sample;
            }
            if let Key::Vector(vector) = system.key(&state) {
                sample.add(vector);
            }
            let (mut next, mut seen) = (None, 0);
            system.steps(&mut scratch, &state, Selection::All, &mut |step| {
                if step.failure.is_none() {
                    if let Key::Vector(vector) = system.key(step.state) {
                        sample.see_length(vector.len());
                    }
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
    sample
}
