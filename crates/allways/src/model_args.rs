//! The command line about models.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// A model and the macros that change its meaning.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Models")]
pub struct ModelArgs {
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,
    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME")]
    pub undefine: Vec<String>,
    /// Look for included files here, too
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Execute statements with the reference interpreter instead of native code
    #[arg(long)]
    pub interpret: bool,
}

/// Which runs count.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fairness {
    /// A process that can always move moves at some time.
    Weak,
}

/// Which states to look at first.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OrderName {
    /// Level by level: shortest counterexamples
    #[default]
    Bfs,
    /// Deepest first
    Dfs,
    /// Random walks: samples runs, proves nothing
    Random,
    /// Many small random searches: a sample, too
    Swarm,
}

/// How visited states are kept.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StoreName {
    /// Lossless, compressed
    #[default]
    Tree,
    /// 64 bits a state
    Fp64,
    /// 128 bits a state
    Fp128,
    /// A few bits a state: never complete
    Bitstate,
}
