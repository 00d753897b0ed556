//! Search without remembering states: one execution for each class of schedules that differ only in the order of steps that
//! do not conflict.
//!
//! For programs whose states never repeat, and to count: the number of complete executions is exactly the number of classes
//! (Mazurkiewicz traces). Source sets say whom to let move where a step came too late; sleep sets keep what was explored
//! from being explored again. Schedules must end: there is a bound on their length, and reaching it is reported.
//!
//! - `run.rs`: the execution under way, its events and what happened before what;
//! - `clock.rs`: vector clocks;
//! - `race.rs`: who could have come first; `ended.rs`: also those whom a step ends;
//! - `frame.rs`: a state and what is explored there;
//! - `search.rs`: the tree of executions.

mod clock;
mod ended;
mod frame;
mod race;
mod run;
mod search;

pub use clock::Clock;
pub(crate) use race::{Races, note_races, told};
pub use run::{Event, Run};
pub(crate) use run::{conflict, normalise};
pub use search::search;

use crate::graph::{Found, Race, Sorts, Stopped};
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

/// What a search has seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Everything wrong, each once.
    pub found: Vec<Found>,
    /// Races that were met.
    pub races: Vec<Race>,
    /// For each of them: choices from the start to a state in which both accesses come next.
    pub race_ways: Vec<Vec<Choice>>,
    /// Complete executions, each of another class.
    pub traces: u64,
    /// Of them: executions in which nobody can move at the end, and that is wrong.
    pub stuck: u64,
    /// Of them: executions that a failure ended.
    pub failed: u64,
    /// Executions that turned out to be like another, and were given up.
    pub redundant: u64,
    /// Executions that were longer than the bound.
    pub cut: u64,
    /// Steps executed.
    pub executed: u64,
    /// The longest execution.
    pub depth_max: usize,
    /// Whether everything was seen.
    pub complete: bool,
    /// Why not.
    pub stopped: Option<Stopped>,
    /// Choices of the system's sorts.
    pub sorts: Sorts,
    /// Fingerprints of states in which nobody can move, sorted. States after a fatal failure are not among them.
    pub ends: Vec<u128>,
}
