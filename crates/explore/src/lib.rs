//! The engines: systems, search, reduction, visited stores, cycles.
//!
//! There are two kinds of systems. Of a [`TransitionSystem`] (models) it is known what a step will touch, and states are
//! small vectors: [`search`](mod@search), [`cycle`]. A [`graph::FootprintSystem`] (programs) tells what a step has touched, and
//! its states are large: [`graph`], [`stateless`], [`sample`].
//!
//! Implement [`TransitionSystem`] and everything here works on it: [`search()`] for failed steps and stuck states,
//! [`find_cycle`] and [`search_monitored`] for properties of whole runs, [`walk()`] and [`swarm()`] for samples.
//! [`Options`] say how, [`Outcome`] says what was found and how much of the state space that is about.
//!
//! **Invariant:** knows no operating system, processor or language. What the reduction leaves out depends on the state
//! alone, never on the order of the search. A search that did not see everything says so.

pub mod bits;
pub mod budget;
mod chunked_vec;
pub mod cycle;
pub mod graph;
mod patience;
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
