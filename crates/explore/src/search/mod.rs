//! Search: order x visited store x workers, one loop each for breadth and depth.

mod breadth;
mod breadth_kept;
mod depth;
mod depth_kept;
mod frontier;
mod kept;
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
mod values_kept;
pub(crate) mod vector_sample;
mod walk;
pub(crate) mod watch;
pub(crate) mod worker;
mod workers;

use crate::journal::{Broken, Reader};
use crate::store::{Arena, Visited};
use crate::system::TransitionSystem;
use open::{GoesOn, WithStore};
pub use options::{AfterViolation, Bounds, Control, Options, Order, Progress, Reduction};
pub use outcome::{Incomplete, Outcome, Stats, Violation};
use session::StoreSlot;
use shared::Shared;
pub use swarm::swarm;
pub use values_kept::{read_outcome, write_outcome};
pub use walk::{Sampling, walk};
use watch::Watch;

/// Searches the states of a system for failures of steps and for states that are stuck.
pub fn search<S: TransitionSystem>(system: &S, options: &Options, control: Control<'_>) -> Outcome {
    let watch = Watch::new(options, control);
    let patience = watch.patience().clone();
    let search = Search { system, options, watch };
    let Some((journal, from)) = control.journal.and_then(|journal| Some((journal, journal.take_kept()?))) else {
        return open::open(system, options, &patience, search);
    };
    open::reopen(options, from, search).unwrap_or_else(|why| {
        journal.refuse(&why);
        Outcome { incomplete: vec![Incomplete::Journal], ..Outcome::default() }
    })
}

struct Search<'a, S> {
    system: &'a S,
    options: &'a Options,
    watch: Watch<'a>,
}

impl<S: TransitionSystem> Search<'_, S> {
    /// Searches from the beginning, or from where a journal has left off.
    fn search_from<V: Visited>(self, store: V, kept: Option<&mut Reader>) -> Result<Outcome, Broken> {
        let Self { system, options, watch } = self;
        let slot = StoreSlot::new(store, options);
        match options.order {
            Order::Breadth if V::NUMBERS => {
                let parents = Some(Arena::new(1));
                breadth::search(&Shared { system, options, slot, parents, watch }, kept)
            }
            order => {
                if !V::NUMBERS {
                    watch.note(Incomplete::Sampled);
                }
                let seed = if let Order::Depth { seed } = order { seed } else { None };
                depth::search(&Shared { system, options, slot, parents: None, watch }, seed, kept)
            }
        }
    }
}

impl<S: TransitionSystem> WithStore for Search<'_, S> {
    const NEEDS_NUMBERS: bool = false;

    fn search<V: Visited>(self, store: V) -> Outcome {
        self.search_from(store, None).expect("nothing was kept that could be wrong")
    }
}

impl<S: TransitionSystem> GoesOn for Search<'_, S> {
    fn go_on<V: Visited>(self, store: V, from: &mut Reader) -> Result<Outcome, Broken> {
        self.search_from(store, Some(from))
    }
}
