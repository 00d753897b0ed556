//! Search: order x visited store x workers, one loop each for breadth and depth.

mod breadth;
mod crew;
mod depth;
mod intake;
mod options;
mod outcome;
mod retrace;
pub(crate) mod scout;
pub(crate) mod session;
mod shared;
mod swarm;
mod walk;
pub(crate) mod watch;
pub(crate) mod worker;

use crate::store::{Arena, Bitstate, Fingerprints64, Fingerprints128, StoreKind, Tree, Visited};
use crate::system::{Key, TransitionSystem};
pub use options::{AfterViolation, Bounds, Control, Options, Order, Progress, Reduction};
pub use outcome::{Incomplete, Outcome, Stats, Violation};
use session::Shelf;
use shared::Shared;
pub use swarm::swarm;
pub use walk::{Sampling, walk};
use watch::Watch;

/// Bytes of a bitstate array if no memory bound is given.
const BITSTATE_BYTES: u64 = 1 << 28;

/// Searches the states of a system for failures of steps and for states that are stuck.
pub fn search<S: TransitionSystem>(system: &S, options: &Options, control: Control<'_>) -> Outcome {
    let mut scratch = system.scratch();
    let initial = system.initial(&mut scratch);
    let lossless = matches!(system.key(&initial), Key::Vector(_));
    match options.store {
        StoreKind::Tree if lossless => search_in(system, options, control, Tree::new(&scout::sample(system))),
        StoreKind::Tree | StoreKind::Fingerprint128 => search_in(system, options, control, Fingerprints128::new()),
        StoreKind::Fingerprint64 => search_in(system, options, control, Fingerprints64::new()),
        StoreKind::Bitstate { hashes } => {
            // The rest is for the stack.
            let bytes = options.bounds.bytes.map_or(BITSTATE_BYTES, |bytes| bytes / 4 * 3);
            let seed = if let Order::Depth { seed: Some(seed) } = options.order { seed } else { 0 };
            search_in(system, options, control, Bitstate::new(bytes, hashes, seed))
        }
    }
}

fn search_in<S: TransitionSystem, V: Visited>(
    system: &S,
    options: &Options,
    control: Control<'_>,
    store: Option<V>,
) -> Outcome {
    let watch = Watch::new(options, control);
    let Some(store) = store else {
        return Outcome { incomplete: vec![Incomplete::Memory], ..Outcome::default() };
    };
    let shelf = Shelf::new(store, options.bounds.bytes.unwrap_or(u64::MAX));
    match options.order {
        Order::Breadth if V::NUMBERS => {
            let parents = Some(Arena::new(1));
            breadth::search(&Shared { system, options, shelf, parents, watch })
        }
        order => {
            if !V::NUMBERS {
                watch.note(Incomplete::Sampled);
            }
            let seed = if let Order::Depth { seed } = order { seed } else { None };
            depth::search(&Shared { system, options, shelf, parents: None, watch }, seed)
        }
    }
}
