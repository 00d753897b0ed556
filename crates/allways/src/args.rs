//! The command line.

use crate::fault_args::{FAULTS_HELP, FaultArgs, FaultCount, FaultsArgs, fault_count};
use crate::model_args::{Fairness, ModelArgs, OrderName, StoreName};
use crate::options::{Options, Spec, Where};
use crate::units;
use crate::world_args::WorldArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

const EXIT_CODES: &str = "Exit codes: 0 everything holds, 1 a counterexample, 2 wrong usage or input, 3 inconclusive, \
                          4 nothing to check, 70 a bug in allways, 130 interrupted";

const RUN_CODES: &str = "Exit codes of `run -- CMD`: the guest's own (128 and the signal if one ended it); 1 also for a deadlock, \
                         2 if a command cannot be started, 3 if something is not modelled, 130 interrupted";

/// Checks models of programs that talk to each other.
#[derive(Parser, Debug)]
#[command(name = "allways", version, about, after_help = EXIT_CODES, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// What every verb takes.
    #[command(flatten)]
    pub shared: Shared,
}

/// What every verb takes.
#[derive(Args, Debug)]
pub struct Shared {
    /// When to colour [NO_COLOR is obeyed]
    #[arg(long, value_enum, default_value_t = When::Auto, global = true, value_name = "WHEN", help_heading = "Output")]
    pub color: When,
    /// Draw with ASCII only
    #[arg(long, global = true, help_heading = "Output")]
    pub ascii: bool,
    /// Show every step
    #[arg(short, long, action = clap::ArgAction::Count, global = true, help_heading = "Output")]
    pub verbose: u8,
    /// Print the verdict and nothing else
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Verb {
    /// Search all runs of programs (`check -- CMD`) or of a model (`check FILE.pml`) for violations
    #[command(after_help = EXIT_CODES)]
    Check(Box<CheckArgs>),
    /// Find the faults that break the properties of programs or of a model, without touching them
    #[command(after_help = FAULTS_HELP)]
    Faults(Box<FaultsArgs>),
    /// Run programs once, deterministically (`run -- CMD`), or simulate a model (`run FILE.pml`)
    #[command(after_help = RUN_CODES)]
    Run(Box<RunArgs>),
    /// Say what of a program and its libraries is not modelled, before it runs
    Doctor(DoctorArgs),
    /// Execute a counterexample again (the latest, if none is named)
    Replay(ReplayArgs),
    /// Print a saved counterexample (the latest, if none is named)
    Report(ReportArgs),
    /// Write an allways.toml to begin with
    Init,
    /// List the saved counterexamples
    Ls,
    /// Remove saved counterexamples
    Rm(RmArgs),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

/// Flags of `check`.
#[derive(Args, Debug, Default)]
#[command(
    override_usage = "allways check [OPTIONS] [NAME | FILE.pml]\n       allways check [OPTIONS] -- CMD [ARGS...] [+ CMD [ARGS...]]..."
)]
pub struct CheckArgs {
    /// A check of allways.toml, or a model
    #[arg(value_name = "NAME|FILE.pml", conflicts_with = "command")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub world: WorldArgs,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub options: Options,
    /// Check this `ltl` block or formula instead of every block
    #[arg(long, value_name = "NAME|FORMULA", help_heading = "Models")]
    pub ltl: Vec<String>,
    /// Count only fair runs for liveness
    #[arg(long, value_enum, help_heading = "Models")]
    pub fair: Option<Fairness>,
    /// Which states to look at first
    #[arg(long, value_enum, default_value_t = OrderName::Bfs, help_heading = "Models")]
    pub order: OrderName,
    /// How to keep visited states
    #[arg(long, value_enum, default_value_t = StoreName::Tree, help_heading = "Models")]
    pub store: StoreName,
    /// Let up to K faults happen in each run: 2,stop=1 (see `allways help faults`)
    #[arg(long, value_name = "K[,KIND=N]", value_delimiter = ',', value_parser = fault_count, help_heading = "Faults")]
    pub faults: Vec<FaultCount>,
    #[command(flatten)]
    pub scope: FaultArgs,
    /// Also write SPIN's FILE.pml.trail
    #[arg(long, help_heading = "Models")]
    pub trail: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = CheckFormat::Text, help_heading = "Output")]
    pub format: CheckFormat,
    /// Do not save counterexamples under .allways
    #[arg(long, help_heading = "Output")]
    pub no_save: bool,
}

/// Flags of `run`.
#[derive(Args, Debug)]
#[command(
    override_usage = "allways run [OPTIONS] FILE.pml\n       allways run [OPTIONS] -- CMD [ARGS...] [+ CMD [ARGS...]]..."
)]
pub struct RunArgs {
    /// The model
    #[arg(value_name = "FILE.pml", conflicts_with = "command")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub program: ProgramArgs,
    #[command(flatten)]
    pub model: ModelArgs,
    /// Seed of the random choices [default: from the clock, and printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Choose each step yourself
    #[arg(short, long, conflicts_with_all = ["schedule", "trail"])]
    pub interactive: bool,
    /// Follow a saved counterexample's schedule
    #[arg(long, value_name = "CX", conflicts_with = "trail")]
    pub schedule: Option<String>,
    /// Follow SPIN's trail
    #[arg(long, value_name = "FILE")]
    pub trail: Option<PathBuf>,
    /// Stop after N steps
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub depth: u64,
    /// Print every step, not only what the model prints
    #[arg(short = 'p', long)]
    pub steps: bool,
}

/// Flags of `run -- CMD`.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Programs")]
pub struct ProgramArgs {
    #[command(flatten)]
    pub world: WorldArgs,
    /// A program that is started first, and ended last: 'db:6379=redis-server --port 6379'
    #[arg(long, value_name = "NAME:PORT=COMMAND", value_parser = Spec::short, requires = "command")]
    pub peer: Vec<Spec>,
    /// Where peers run [default: world, among the programs]
    #[arg(long, value_enum, value_name = "WHERE", requires = "peer")]
    pub outside: Option<Where>,
    /// Print every syscall to stderr, as strace does
    #[arg(long)]
    pub strace: bool,
    /// Let the run take no more memory than this, such as 2G
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    pub mem: Option<u64>,
    /// End the run after this time on the wall, such as 10m
    #[arg(long, value_parser = units::time)]
    pub time: Option<Duration>,
}

/// Flags of `doctor`.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// The program: a path, or a name in PATH; without one, what native peers need is tried
    #[arg(value_name = "CMD")]
    pub program: Option<PathBuf>,
}

/// Flags of `replay`.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// Id or file of the counterexample
    #[arg(value_name = "CX")]
    pub counterexample: Option<String>,
    /// Stop after this step and show the state there
    #[arg(long, value_name = "STEP")]
    pub to: Option<usize>,
    /// Let programs read this folder or file of the host, if the counterexample wants it
    #[arg(long, value_name = "PATH")]
    pub root: Vec<PathBuf>,
}

/// Flags of `report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Id or file of the counterexample
    #[arg(value_name = "CX")]
    pub counterexample: Option<String>,
    /// What to print
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// Write to a file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Flags of `rm`.
#[derive(Args, Debug)]
#[group(required = true)]
pub struct RmArgs {
    /// Ids of counterexamples
    #[arg(value_name = "CX")]
    pub counterexamples: Vec<String>,
    /// Remove all of them
    #[arg(long, conflicts_with = "counterexamples")]
    pub all: bool,
}

/// When to do something.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What `check` prints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CheckFormat {
    /// For people
    #[default]
    Text,
    /// One object for scripts
    Json,
    /// The closing lines of SPIN's `pan`
    Spin,
}

/// What `report` prints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportFormat {
    /// For people
    Text,
    /// The counterexample's file
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
