//! Creates the visited store that the options name.

use super::options::{Options, Order};
use super::outcome::{Incomplete, Outcome};
use super::vector_sample;
use crate::patience::Patience;
use crate::store::{Bitstate, Fingerprints64, Fingerprints128, Sample, StoreKind, Tree, Visited};
use crate::system::{Key, TransitionSystem};

/// Bytes of a bitstate array if no memory bound is given.
const BITSTATE_BYTES: u64 = 1 << 28;

/// A search that works with any store.
pub trait WithStore {
    /// Whether states must have numbers; then fingerprints replace a bitstate store.
    const NEEDS_NUMBERS: bool;

    /// Searches.
    fn search<V: Visited>(self, store: V) -> Outcome;
}

/// Creates the store and searches with it.
pub fn open<S: TransitionSystem, W: WithStore>(system: &S, options: &Options, patience: &Patience, with: W) -> Outcome {
    let mut scratch = system.scratch();
    let initial = system.initial(&mut scratch);
    let lossless = matches!(system.key(&initial), Key::Vector(_));
    match options.store {
        StoreKind::Tree if lossless => tree(with, &vector_sample::sample(system, patience), options.workers),
        StoreKind::Fingerprint64 => search(with, Fingerprints64::new(options.workers)),
        StoreKind::Bitstate { hashes } if !W::NEEDS_NUMBERS => search(with, bits(options, hashes)),
        StoreKind::Tree | StoreKind::Fingerprint128 | StoreKind::Bitstate { .. } => {
            search(with, Fingerprints128::new(options.workers))
        }
    }
}

/// Searches with leaves that are just wide enough for two of them, if that is not too wide.
fn tree(with: impl WithStore, sample: &Sample, workers: usize) -> Outcome {
    match sample.words() {
        0..=4 => search(with, Tree::<2>::new(sample, workers)),
        9..=12 => search(with, Tree::<6>::new(sample, workers)),
        _ => search(with, Tree::<4>::new(sample, workers)),
    }
}

fn search<V: Visited>(with: impl WithStore, store: Option<V>) -> Outcome {
    match store {
        Some(store) => with.search(store),
        None => Outcome { incomplete: vec![Incomplete::Memory], ..Outcome::default() },
    }
}

fn bits(options: &Options, hashes: u32) -> Option<Bitstate> {
    // The rest is for the stack.
    let bytes = options.bounds.bytes.map_or(BITSTATE_BYTES, |bytes| bytes / 4 * 3);
    let seed = if let Order::Depth { seed: Some(seed) } = options.order { seed } else { 0 };
    Bitstate::new(bytes, hashes, seed)
}
