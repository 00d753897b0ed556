//! The happens-before order of one execution, and the races that it leaves open.
//!
//! - `clock.rs`: vector clocks;
//! - `execution.rs`: the events of an execution with their clocks, and the fingerprint of its trace class;
//! - `races.rs`: pairs of events that could happen next to each other.

mod clock;
mod execution;
mod races;

pub use clock::Clock;
pub use execution::{DenseSchedule, Event, Execution};
pub(crate) use races::{LateStep, Races, add_races, concurrent_with, in_system_numbers, prefix_without, races_of_step};
