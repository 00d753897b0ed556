//! The engine: transition systems, search, reduction, visited stores, cycles.
//!
//! Knows no operating system, processor or language.

pub mod bits;
pub mod cycle;
pub mod random;
pub mod reduce;
pub mod search;
pub mod store;
pub mod system;

pub use bits::Bits;
pub use cycle::{Fairness, Monitor, MonitorEdge, MonitorState, Watched, find_cycle, search_monitored};
pub use search::{
    AfterViolation, Bounds, Control, Incomplete, Options, Order, Outcome, Progress, Reduction, Sampling, Stats,
    Violation, search, swarm, walk,
};
pub use store::StoreKind;
pub use system::{Explained, Failure, Footprint, Key, Pending, Selection, Step, TransitionSystem};
