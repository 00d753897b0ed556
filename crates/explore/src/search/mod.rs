//! Search: order x visited store x workers, one loop each for breadth and depth.

mod breadth;
mod depth;
mod frontier;
mod merge;
pub(crate) mod open;
mod options;
mod origin;
mod outcome;
mod probe;
mod retrace;
pub(crate) mod session;
mod shared;
mod shared_level;
mod successor_batch;
mod swarm;
pub(crate) mod vector_sample;
mod walk;
pub(crate) mod watch;
pub(crate) mod worker;
mod workers;

use crate::store::{Arena, Visited};
use crate::system::TransitionSystem;
use open::WithStore;
pub use options::{AfterViolation, Bounds, Control, Options, Order, Progress, Reduction};
pub use outcome::{Incomplete, Outcome, Stats, Violation};
use session::StoreSlot;
use shared::Shared;
pub use swarm::swarm;
pub use walk::{Sampling, walk};
use watch::Watch;

/// Searches the states of a system for failures of steps and for states that are stuck.
pub fn search<S: TransitionSystem>(system: &S, options: &Options, control: Control<'_>) -> Outcome {
    let watch = Watch::new(options, control);
    let patience = watch.patience().clone();
    open::open(system, options, &patience, Search { system, options, watch })
}

struct Search<'a, S> {
    system: &'a S,
    options: &'a Options,
    watch: Watch<'a>,
}

impl<S: TransitionSystem> WithStore for Search<'_, S> {
    const NEEDS_NUMBERS: bool = false;

    fn search<V: Visited>(self, store: V) -> Outcome {
        let Self { system, options, watch } = self;
        let slot = StoreSlot::new(store, options);
        match options.order {
            Order::Breadth if V::NUMBERS => {
                let parents = Some(Arena::new(1));
                breadth::search(&Shared { system, options, slot, parents, watch })
            }
            order => {
                if !V::NUMBERS {
                    watch.note(Incomplete::Sampled);
                }
                let seed = if let Order::Depth { seed } = order { seed } else { None };
                depth::search(&Shared { system, options, slot, parents: None, watch }, seed)
            }
        }
    }
}
