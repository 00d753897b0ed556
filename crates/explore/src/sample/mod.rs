//! Sampling of random schedules, for systems too large for exhaustive search. It finds failures; it never shows their absence.
//!
//! - `strategy.rs`: schedulers: random walk, PCT, POS, SURW;
//! - `profile.rs`: steps of earlier runs by actor and object;
//! - `run.rs`: one run;
//! - `novelty.rs`: snapshots to continue from;
//! - `portfolio.rs`: strategies in turn;
//! - `estimate.rs`: estimates of what was not reached;
//! - `shrink.rs`: schedules with fewer preemptions and the same failure.

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

use crate::found::{ChoiceCounts, Found, Stopped};
use crate::race::Race;
use trace::Choice;

/// How the next actor is drawn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Strategy {
    /// Random walk: each enabled actor is as likely as the others.
    Walk,
    /// PCT: actors have priorities with so many change points, less one: finds each failure of that depth with a known
    /// probability.
    Priorities(u32),
    /// POS: pending steps have priorities, drawn anew when a dependent step is taken.
    Steps,
    /// SURW: actors are drawn by the number of steps that they have left on a few objects, chosen for the run.
    Weights,
    /// Random walk from a state whose abstraction is rare so far.
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
    /// Bound on the fingerprints that are stored to count distinct states.
    pub states: usize,
    /// Whether schedules of failures are shrunk.
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

/// Runs of one strategy.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tally {
    /// The strategy.
    pub strategy: Strategy,
    /// Its runs.
    pub runs: u64,
    /// Of them: with a failure.
    pub failed: u64,
    /// With 95 % confidence, the probability that a run of this strategy fails is below this. Only where runs are independent
    /// and none has failed.
    pub below: Option<f64>,
}

/// The result of sampling. It never shows that a property holds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Failures, each once.
    pub found: Vec<Found>,
    /// Races.
    pub races: Vec<Race>,
    /// For each of them a schedule to a state in which both accesses are pending.
    pub race_schedules: Vec<Vec<Choice>>,
    /// Runs.
    pub runs: u64,
    /// Of them: longer than the bound.
    pub cut: u64,
    /// Whether the caller stopped one more run before its end.
    pub gave_up: bool,
    /// Steps executed, trials and shrinking included.
    pub executed: u64,
    /// Distinct states; a lower bound if it equals the bound on stored fingerprints.
    pub states: u64,
    /// Fingerprints of states without enabled actors, sorted.
    pub ends: Vec<u128>,
    /// Distinct trace classes of complete runs from the initial state.
    pub classes: u64,
    /// Good and Turing's estimate of the probability that the next such run is of a new class; nothing without runs.
    pub unseen: Option<f64>,
    /// The number of schedules, all interleavings counted; nothing if a run was cut or abandoned.
    pub schedules: Option<Estimate>,
    /// Choices by kind.
    pub choices: ChoiceCounts,
    /// Runs by strategy.
    pub tallies: Vec<Tally>,
    /// The length of the longest run.
    pub depth_max: usize,
    /// Why sampling ended before all runs were done.
    pub stopped: Option<Stopped>,
}
