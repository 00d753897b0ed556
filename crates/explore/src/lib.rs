//! The engines: systems, search, reduction, visited stores, cycles.
//!
//! There are two kinds of systems. A [`TransitionSystem`] (models) knows the footprints of pending steps, and its states are
//! small vectors: [`search`](mod@search), [`cycle`]. A [`FootprintSystem`](graph::FootprintSystem) (programs) reports the
//! footprint of a step once it was taken, and its states are large: [`graph`], [`stateless`], [`sample`]. What these three
//! share lies below them: `footprint_system`, `footprint`, `race`, [`happens_before`], [`found`]. No engine uses another one.
//!
//! Implement [`TransitionSystem`] and everything here works on it: [`search()`] for failed steps and stuck states,
//! [`find_cycle`] and [`search_monitored`] for properties of whole runs, [`walk()`] and [`swarm()`] for samples.
//! [`Options`] say how, [`Outcome`] says what was found and which part of the state space was explored.
//!
//! **Invariant:** knows no operating system, processor or language. The persistent sets of models depend on the state alone;
//! those of programs are a fixpoint that does not depend on the order of the search. An incomplete search says so.

mod actor_ids;
pub mod bits;
pub mod budget;
mod chunked_vec;
pub mod cycle;
mod footprint;
mod footprint_system;
pub mod found;
pub mod graph;
pub mod happens_before;
pub mod journal;
mod outdated;
mod patience;
mod race;
pub mod random;
pub mod reduce;
pub mod sample;
pub mod search;
pub mod stateless;
pub mod store;
pub mod system;
pub mod threads;

pub use bits::{Bits, CAPACITY};
pub use budget::{Allowance, Budget, Spent};
pub use cycle::{Fairness, Monitor, MonitorEdge, MonitorState, Watched, find_cycle, search_monitored};
pub use patience::Patience;
pub use search::{
    AfterViolation, Bounds, Control, Incomplete, Options, Order, Outcome, Progress, Reduction, Sampling, Stats,
    Violation, search, swarm, walk,
};
pub use store::StoreKind;
pub use system::{Explained, Failure, Footprint, Key, Pending, Selection, Step, TransitionSystem};
