//! Schedules at random, for systems that are too large to be searched: what is found is real, what is not found may be there.
//!
//! - `strategy.rs`: who moves next: random walk, priorities (PCT), priorities of steps (POS), weights (SURW);
//! - `profile.rs`: what earlier runs have shown;
//! - `run.rs`: one run;
//! - `novelty.rs`: states from which to go on;
//! - `portfolio.rs`: strategies in turn;
//! - `estimate.rs`: what may be said about what was not seen;
//! - `shrink.rs`: schedules with fewer preemptions that fail in the same way.

mod estimate;
mod novelty;
mod portfolio;
mod profile;
mod run;
mod shrink;
mod strategy;

pub use estimate::Estimate;
pub use portfolio::sample;
pub use shrink::{Shrunk, shrink};

use crate::graph::{Found, Race, Sorts, Stopped};
use trace::Choice;

/// Who moves next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Strategy {
    /// Anybody who can, each as likely as the others.
    Walk,
    /// Actors have priorities, which change so many times less one: finds every failure of that depth sooner or later.
    Priorities(u32),
    /// Next steps have priorities, drawn anew when somebody gets in their way.
    Steps,
    /// Whoever has most to do is most likely, counting only what touches a few objects chosen for the run.
    Weights,
    /// From a state that is rare so far.
    Novelty,
}

/// How to sample.
#[derive(Clone, Debug)]
pub struct Options {
    /// The same seed gives the same runs.
    pub seed: u64,
    /// One strategy; otherwise all of them in turn.
    pub strategy: Option<Strategy>,
    /// Runs.
    pub runs: u64,
    /// Steps of one run.
    pub depth: usize,
    /// Fingerprints that are remembered, to count distinct states.
    pub states: usize,
    /// Whether found schedules are made shorter.
    pub shrink: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 0, strategy: None, runs: 1_000, depth: 10_000, states: 10_000_000, shrink: true }
    }
}

/// Where to stop before all runs are done.
pub struct Limits<'a> {
    /// Failures of different kinds or messages.
    pub failures: usize,
    /// Asked after each run, and now and then within one, with runs and steps so far; true stops.
    pub stop: &'a mut dyn FnMut(u64, u64) -> bool,
}

/// What one strategy did.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tally {
    /// Which.
    pub strategy: Strategy,
    /// Its runs.
    pub runs: u64,
    /// Of them: with a failure.
    pub failed: u64,
    /// With 95 % confidence a run of this strategy fails less often than this. Only where runs are independent of each other
    /// and none has failed.
    pub below: Option<f64>,
}

/// What samples have shown. Never that something holds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Everything wrong, each once.
    pub found: Vec<Found>,
    /// Races that were met.
    pub races: Vec<Race>,
    /// For each of them: choices from the start to a state in which both accesses come next.
    pub race_ways: Vec<Vec<Choice>>,
    /// Runs.
    pub runs: u64,
    /// Of them: longer than the bound.
    pub cut: u64,
    /// Whether one more was begun and not brought to an end, because somebody wanted to stop.
    pub gave_up: bool,
    /// Steps executed, trials and shortening included.
    pub executed: u64,
    /// Distinct states; at least so many if that is as many as are remembered.
    pub states: u64,
    /// Fingerprints of states in which nobody can move, sorted.
    pub ends: Vec<u128>,
    /// Distinct classes of complete runs that began at the start.
    pub classes: u64,
    /// How likely the next such run shows a new class (Good and Turing's estimate); nothing without runs.
    pub unseen: Option<f64>,
    /// The number of schedules, all interleavings counted; nothing if a run did not come to its end.
    pub schedules: Option<Estimate>,
    /// Choices of the system's sorts.
    pub sorts: Sorts,
    /// Each strategy.
    pub tallies: Vec<Tally>,
    /// The longest run.
    pub depth_max: usize,
    /// Why it ended before all runs were done.
    pub stopped: Option<Stopped>,
}
