//! Stateless search: dynamic partial-order reduction with source sets and sleep sets (Abdulla, Aronis, Jonsson, Sagonas,
//! POPL 2014), on a stack of snapshots.
//!
//! For programs whose states never repeat, and to count: the number of complete executions is exactly the number of trace
//! classes. Schedules must end: there is a bound on their length, and reaching it is reported.
//!
//! Invariants:
//!
//! - **Source sets.** When a state is popped, its explored actors are a source set: every execution from it has an
//!   equivalent one that begins with one of them. Each race of an execution with a later step (`race.rs`), each blocked
//!   actor at the end of an execution, and each actor that a step ended (`ended.rs`) adds a backtrack point unless an
//!   initial of the reversed execution is in the backtrack set or asleep already.
//! - **Sleep sets.** A step is asleep in a state if all executions that begin with it there are equivalent to explored
//!   ones. It wakes when a dependent step is taken. A sleeping step is never taken, so no trace class is executed twice; an
//!   execution that can go on only with sleeping steps is redundant.
//! - The stack of states has one entry more than the execution has events: the event at `i` leaves the state at `i`.
//!
//! - `search.rs`: the tree of executions; `frame.rs`: a state on the stack;
//! - `race.rs`: which events a late step can be reordered before; `ended.rs`: also the steps of actors that were ended;
//! - `backtrack.rs`: which actor begins the reversed execution.
//!
//! **Cost.** Memory is one stack of snapshots. Time is the number of trace classes, which grows
//! without bound where states would repeat: loops and locks are better served by `graph/`, programs
//! with counters by this. Unlike optimal DPOR (the same paper, wake-up trees), an execution can be
//! found redundant only at its end; `redundant` counts them.

mod backtrack;
mod ended;
mod frame;
mod race;
mod search;

pub use search::search;

use crate::found::{ChoiceCounts, Found, Stopped};
use crate::race::Race;
use trace::Choice;

/// Where to stop.
pub struct Limits<'a> {
    /// Steps of one execution.
    pub depth: usize,
    /// Executions, redundant ones included.
    pub executions: u64,
    /// Failures of different kinds or messages.
    pub failures: usize,
    /// Asked now and then with executions and steps so far; true stops.
    pub stop: &'a mut dyn FnMut(u64, u64) -> bool,
}

/// The result of a search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Failures, each once.
    pub found: Vec<Found>,
    /// Races.
    pub races: Vec<Race>,
    /// For each of them a schedule to a state in which both accesses are pending.
    pub race_schedules: Vec<Vec<Choice>>,
    /// Complete executions: trace classes.
    pub traces: u64,
    /// Of them: executions whose last state is stuck.
    pub stuck: u64,
    /// Of them: executions that end with a fatal failure.
    pub failed: u64,
    /// Redundant executions: only sleeping or redundant steps were left.
    pub redundant: u64,
    /// Executions longer than the bound.
    pub cut: u64,
    /// Steps executed.
    pub executed: u64,
    /// The length of the longest execution.
    pub depth_max: usize,
    /// Whether all trace classes were explored.
    pub complete: bool,
    /// Why not.
    pub stopped: Option<Stopped>,
    /// Choices by kind.
    pub choices: ChoiceCounts,
    /// Fingerprints of states without enabled actors, sorted; without states after a fatal failure.
    pub ends: Vec<u128>,
}
