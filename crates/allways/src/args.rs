//! The command line.

use crate::examples;
use crate::fault_args::{FAULTS_HELP, FaultArgs, FaultCount, FaultsArgs, fault_count};
use crate::model_args::{Fairness, ModelArgs, OrderName, StoreName};
use crate::options::{Options, Spec, Where};
use crate::report_files::ReportFile;
use crate::units;
use crate::world_args::WorldArgs;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

const EXIT_CODES: &str = "Exit codes: 0 everything holds, 1 a counterexample, 2 wrong usage or input, 3 inconclusive, \
                          4 nothing to check, 70 a bug in allways, 130 interrupted";

/// Checks every schedule of programs, and models.
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
    #[command(after_help = examples::CHECK)]
    Check(Box<CheckArgs>),
    /// Find the faults that break the properties of programs or of a model, without touching them
    #[command(after_help = FAULTS_HELP)]
    Faults(Box<FaultsArgs>),
    /// Check the tests of a program: the runner for cargo test, ctest, go test, meson
    #[command(after_help = examples::TEST)]
    Test(Box<TestArgs>),
    /// Run programs once, deterministically (`run -- CMD`), or simulate a model (`run FILE.pml`)
    #[command(after_help = examples::RUN)]
    Run(Box<RunArgs>),
    /// Say what of a program and its libraries is not modelled, before it runs
    #[command(after_help = examples::DOCTOR)]
    Doctor(DoctorArgs),
    /// Execute a counterexample again (the latest, if none is named)
    #[command(after_help = examples::REPLAY)]
    Replay(ReplayArgs),
    /// Debug a counterexample (the latest, if none is named) in gdb, forwards and backwards
    #[command(after_help = examples::DEBUG)]
    Debug(DebugArgs),
    /// Print a saved counterexample (the latest, if none is named)
    #[command(after_help = examples::REPORT)]
    Report(ReportArgs),
    /// Look at states and take choices by hand, in the browser
    #[command(after_help = examples::EXPLORE)]
    Explore(Box<ExploreArgs>),
    /// Write an allways.toml to begin with
    #[command(after_help = examples::INIT)]
    Init,
    /// List the saved counterexamples
    #[command(after_help = examples::LS)]
    Ls(LsArgs),
    /// Remove saved counterexamples
    #[command(after_help = examples::RM)]
    Rm(RmArgs),
    /// Print completions for a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page of allways, or of a verb
    #[command(after_help = examples::MAN)]
    Man {
        /// The verb
        verb: Option<String>,
        /// Write the pages of allways and of all verbs into this folder
        #[arg(long, value_name = "DIR", conflicts_with = "verb")]
        all: Option<PathBuf>,
    },
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
    /// Check this formula about whole runs, or only this `ltl` block of a model
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
    /// Write to FILE how far the search has come, every few minutes and when a limit ends it (models)
    #[arg(long, value_name = "FILE", conflicts_with = "resume", help_heading = "Search")]
    pub journal: Option<PathBuf>,
    /// Time between two writes of the journal [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = units::time, help_heading = "Search")]
    pub journal_every: Option<Duration>,
    /// Go on with the search of a journal: after a kill, or with more time or memory
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub resume: Option<PathBuf>,
    /// Also write SPIN's FILE.pml.trail
    #[arg(long, help_heading = "Models")]
    pub trail: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = CheckFormat::Text, help_heading = "Output")]
    pub format: CheckFormat,
    /// Also write a report to a file: html=FILE; text, json, junit, sarif, github or html
    #[arg(long, value_name = "FORMAT=FILE", value_parser = ReportFile::parse, help_heading = "Output")]
    pub report: Vec<ReportFile>,
    /// What `allways test` checks: its name is in those of all reports
    #[arg(long, value_name = "NAME", hide = true)]
    pub of_test: Option<String>,
    /// Take options and reports from [profile.NAME] of allways.toml
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub profile: Option<String>,
    /// Do not save counterexamples under .allways
    #[arg(long, help_heading = "Output")]
    pub no_save: bool,
}

/// Flags of `test`.
#[derive(Args, Debug, Default)]
#[command(override_usage = "allways test [OPTIONS] PROGRAM [ARGS...]")]
pub struct TestArgs {
    /// The test program, with the arguments that the runner gives it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "PROGRAM")]
    pub command: Vec<OsString>,
    /// Let tests read this folder or file, too (read-only: writes stay inside)
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
    /// Set a variable; of your environment only what cargo says about the package is passed on
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// What tests read as standard input [default: nothing]
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,
    #[command(flatten)]
    pub options: Options,
    /// Take options and reports from [profile.NAME] of allways.toml
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub profile: Option<String>,
    /// Also write a report of each test: junit=out/all.xml becomes out/all.PROGRAM.TEST.xml
    #[arg(long, value_name = "FORMAT=FILE", value_parser = ReportFile::parse, help_heading = "Output")]
    pub report: Vec<ReportFile>,
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

/// Flags of `explore`.
#[derive(Args, Debug, Default)]
#[command(
    override_usage = "allways explore [OPTIONS] [CX | NAME | FILE.pml]\n       allways explore [OPTIONS] -- CMD [ARGS...] [+ CMD [ARGS...]]..."
)]
pub struct ExploreArgs {
    #[command(flatten)]
    pub check: CheckArgs,
    /// Listen on this port of the loopback interface [default: one that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
}

/// Flags of `debug`.
#[derive(Args, Debug)]
pub struct DebugArgs {
    /// Id or file of the counterexample
    #[arg(value_name = "CX")]
    pub counterexample: Option<String>,
    /// The process to debug: its name in reports, or its number [default: the one that fails]
    #[arg(short, long, value_name = "PROC")]
    pub process: Option<String>,
    /// Begin where this step is about to be taken [default: at the end]
    #[arg(short, long, value_name = "STEP")]
    pub goto: Option<usize>,
    /// Start no gdb, but wait for one on this port of this machine; 0 for any that is free
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = units::loopback)]
    pub listen: Option<SocketAddr>,
    /// Let programs read this folder or file of the host, too
    #[arg(long, value_name = "PATH")]
    pub root: Vec<PathBuf>,
    /// Debug one run of this command instead: './program argument', or several with ` + ` between them
    #[arg(long, value_name = "COMMAND", conflicts_with = "counterexample")]
    pub run: Option<String>,
    /// What gdb is given: -batch -ex 'info threads'
    #[arg(last = true, value_name = "GDB ARGS", conflicts_with = "listen")]
    pub gdb: Vec<OsString>,
}

impl DebugArgs {
    /// What a program that is run can see.
    pub fn world(&self) -> WorldArgs {
        WorldArgs { root: self.root.clone(), ..WorldArgs::default() }
    }
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

/// Flags of `ls`.
#[derive(Args, Debug)]
pub struct LsArgs {
    /// What to print
    #[arg(long, value_enum, default_value_t = ListFormat::Text)]
    pub format: ListFormat,
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
    /// A test suite for dashboards: JUnit's XML
    Junit,
    /// Results for code scanning and editors: SARIF 2.1.0
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

/// What `report` prints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportFormat {
    /// For people
    Text,
    /// The counterexample's file
    Json,
    /// A test suite with one failure: JUnit's XML
    Junit,
    /// A result for code scanning and editors: SARIF 2.1.0
    Sarif,
    /// An annotation of GitHub Actions
    Github,
    /// A page with a space-time diagram
    Html,
    /// Tracks and arrows for ui.perfetto.dev
    Perfetto,
    /// A log with vector clocks for ShiViz
    Shiviz,
    /// A graph for Graphviz
    Dot,
}

/// What `ls` prints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListFormat {
    /// For people
    Text,
    /// One object for scripts
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
