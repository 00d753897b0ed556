//! How the schedules of programs are searched.

use super::search::{SearchOptions, Switch, at_least_one};
use checker::Engine;
use clap::{Args, ValueEnum};
use explore::graph::{Bound, Mode};
use explore::sample;
use serde::{Deserialize, Serialize};

/// Steps of one schedule, for engines that do not remember states.
const DEPTH: u32 = 10_000;
/// Steps that one worker takes alone, if nobody asked for several: most searches end before.
const ALONE: u64 = 20_000;
/// Runs of a sample.
const RUNS: u64 = 1_000;

/// How the schedules of programs are searched.
#[derive(Args, Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
#[command(next_help_heading = "Programs")]
#[serde(default)]
pub struct EngineOptions {
    /// How to search the schedules of programs [default: graph]
    #[arg(long, value_enum)]
    pub engine: Option<EngineName>,
    /// The same as --engine sample
    #[arg(long, conflicts_with = "engine")]
    pub sample: bool,
    /// Search only schedules with at most N preemptions: switches away from a thread that could run on
    #[arg(long, value_name = "N")]
    pub preemptions: Option<u32>,
    /// Search only schedules with at most N delays: the thread that is next in turn is skipped
    #[arg(long, value_name = "N", conflicts_with = "preemptions")]
    pub delays: Option<u32>,
    /// Execute one of N memoized or inherited results again, and compare [default N: 20]
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "20",
        value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(deserialize_with = "at_least_one")]
    pub audit: Option<u32>,
}

/// How schedules of programs are searched.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum EngineName {
    /// Each state once, and only interleavings that can matter
    Graph,
    /// One run of each class of equivalent schedules; remembers no states
    Dpor,
    /// Runs at random: what is found is real, what is not found may be there
    Sample,
}

impl EngineOptions {
    /// Which engine.
    pub fn name(&self) -> EngineName {
        if self.sample { EngineName::Sample } else { self.engine.unwrap_or(EngineName::Graph) }
    }

    /// The engine, with what it needs of the search.
    pub fn engine(&self, search: &SearchOptions) -> Engine {
        let depth = search.depth.unwrap_or(DEPTH) as usize;
        match self.name() {
            EngineName::Dpor => Engine::Classes { depth },
            EngineName::Sample => {
                let (seed, runs) = (search.seed(), search.runs.unwrap_or(RUNS));
                Engine::Sample(sample::Options { seed, runs, depth, ..sample::Options::default() })
            }
            EngineName::Graph => {
                let alone = if search.jobs.is_some() { 0 } else { ALONE };
                Engine::Graph { mode: self.mode(search), workers: search.workers(), alone }
            }
        }
    }

    fn mode(&self, search: &SearchOptions) -> Mode {
        match self.preemptions.map(Bound::Preemptions).or(self.delays.map(Bound::Delays)) {
            Some(bound) => Mode::Bounded(bound),
            None if search.reduction == Some(Switch::Off) => Mode::Full,
            None => Mode::Reduced,
        }
    }
}
