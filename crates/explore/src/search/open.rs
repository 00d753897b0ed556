//! Creates the visited store that the options name.

use super::options::{Options, Order};
use super::outcome::{Incomplete, Outcome};
use super::vector_sample;
use crate::journal::{Broken, Reader};
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

/// A search that goes on with a store that was kept.
pub trait GoesOn {
    /// Searches from where a journal has left off.
    fn go_on<V: Visited>(self, store: V, from: &mut Reader) -> Result<Outcome, Broken>;
}

/// Reads the store that the options name from a journal, and searches with it.
pub fn reopen(options: &Options, mut from: Reader, with: impl GoesOn) -> Result<Outcome, Broken> {
    const TREE: [u32; 3] = [Tree::<2>::FORMAT, Tree::<4>::FORMAT, Tree::<6>::FORMAT];
    match (options.store, from.u32()?) {
        (StoreKind::Tree, format) if format == TREE[0] => go_on::<Tree<2>>(options, from, with),
        (StoreKind::Tree, format) if format == TREE[1] => go_on::<Tree<4>>(options, from, with),
        (StoreKind::Tree, format) if format == TREE[2] => go_on::<Tree<6>>(options, from, with),
        (StoreKind::Fingerprint64, Fingerprints64::FORMAT) => go_on::<Fingerprints64>(options, from, with),
        (StoreKind::Fingerprint128, Fingerprints128::FORMAT) => go_on::<Fingerprints128>(options, from, with),
        (StoreKind::Bitstate { .. }, Bitstate::FORMAT) => go_on::<Bitstate>(options, from, with),
        _ => Err(Broken::Contradictory("it has another store than its options say")),
    }
}

fn go_on<V: Visited>(options: &Options, mut from: Reader, with: impl GoesOn) -> Result<Outcome, Broken> {
    let store = V::read(&mut from, options.workers)?;
    with.go_on(store, &mut from)
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
