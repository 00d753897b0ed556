//! What is looked for in programs and models, and for how long.

use crate::units;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::time::Duration;
use trace::FailureKind;

/// What is looked for, and for how long.
#[derive(Args, Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
#[command(next_help_heading = "Search")]
#[serde(default)]
pub struct SearchOptions {
    /// Check only these kinds of property
    #[arg(long, value_name = "KINDS", value_delimiter = ',', value_parser = kinds())]
    pub check: Vec<FailureKind>,
    /// Skip redundant interleavings: partial-order reduction [default: on]
    #[arg(long, value_enum)]
    pub reduction: Option<Switch>,
    /// Threads [default: all cores]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    #[serde(deserialize_with = "at_least_one")]
    pub jobs: Option<u8>,
    /// Look no deeper than N steps (programs: with --engine dpor or sample)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(deserialize_with = "at_least_one")]
    pub depth: Option<u32>,
    /// Stop after this time, such as 10m
    #[arg(long, value_parser = units::time)]
    #[serde(serialize_with = "units::write_time", deserialize_with = "units::read_time")]
    pub time: Option<Duration>,
    /// Use no more memory than this, such as 8G
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    #[serde(serialize_with = "units::write_size", deserialize_with = "units::read_size")]
    pub mem: Option<u64>,
    /// Seed of the random orders [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Walks of `--order random` and `--engine sample` [default: 1000], members of `--order swarm` [default: 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[serde(deserialize_with = "at_least_one")]
    pub runs: Option<u64>,
    /// Go on after the first violation and report all
    #[arg(long, visible_alias = "all")]
    pub keep_going: bool,
}

/// On or off.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

impl SearchOptions {
    /// How many threads.
    pub fn workers(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(cores, usize::from)
    }

    /// What random orders begin with.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }
}

/// The kinds of property, by name.
pub fn kinds() -> impl TypedValueParser<Value = FailureKind> {
    let names = PossibleValuesParser::new(FailureKind::ALL.map(FailureKind::name));
    names.try_map(|name| name.parse::<FailureKind>())
}

/// A number of the file, as the flag has it: from 1 on.
pub(super) fn at_least_one<'de, D, N>(file: D) -> Result<Option<N>, D::Error>
where
    D: Deserializer<'de>,
    N: Deserialize<'de> + PartialOrd + From<u8>,
{
    let number = Option::<N>::deserialize(file)?;
    match number.as_ref().is_some_and(|number| *number < N::from(1)) {
        true => Err(de::Error::custom("it is 1 or more")),
        false => Ok(number),
    }
}
