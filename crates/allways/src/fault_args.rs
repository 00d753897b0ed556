//! The command line about faults.

use crate::model_args::{Fairness, ModelArgs};
use crate::options::Options;
use crate::world_args::WorldArgs;
use clap::{Args, ValueEnum};
use promela::faults::{BUDGET_MAX, Class};
use std::path::PathBuf;

/// What follows the flags in `allways help faults`.
pub const FAULTS_HELP: &str = "\
Kinds of fault of models:
  loss, duplicate, reorder, corrupt, wrong, delay  messages of a channel; `wrong`: another message that is sent there
  stop, pause, restart                             a process stops for good, for a while, starts again
  irregular                                        a state variable takes another of its values; a process jumps to a label
  flip, stuck                                      a bit of a variable flips; a variable keeps its value
  early                                            a `timeout` comes although somebody could move
A fault is named by kind and component: loss:ack, stop:server, irregular:state. --only and --except take kinds,
components and whole names.

Faults of programs:
  CALL:error=ERRNO[:when=1+], CALL:short           a syscall fails, once or from then on; transfers less than it could
  loss, duplicate, reorder, delay                  UDP datagrams
  reset, refuse, partition                         TCP connections; all of a program for a while
  kill, restart, pause, signal:NAME                programs
  early, clock:+1h                                 a timed wait ends although somebody could move; the real-time clock is set
  crash, crash:posix                               power fails: any disk that ext4 in ordered mode, or POSIX, allows is left
--only names them, also for one program: kill:server, write:error=ENOSPC:in=server; or some files: :path=*.log, :on=socket.

Examples:
  allways faults model.pml                                 every fault of the catalogue, one at a time
  allways faults lock.pml leases.pml --only stop,pause     two models side by side
  allways faults --only loss,kill -- ./server 7000 + ./client

Exit codes: 0 every property survives, 1 some fault breaks one, 2 wrong usage or input, 3 inconclusive, \
4 nothing to check, 70 a bug in allways, 130 interrupted";

/// Which faults may happen to a model.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Faults")]
pub struct FaultArgs {
    /// Only these kinds of fault, components or faults; of programs: write:error=ENOSPC, read:short, loss, kill:server
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,
    /// None of these kinds of fault, components or faults
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub except: Vec<String>,
    /// No fault before this has been true, such as `server@ready` or `up == 3`; of programs a proposition
    #[arg(long, value_name = "CONDITION")]
    pub after: Option<String>,
    /// Start this command when power has failed: it finds what is left on the disk (--only crash)
    #[arg(long, value_name = "COMMAND")]
    pub recover: Vec<String>,
    /// Let whatever stopped or stuck go on in the end; counts fair runs only
    #[arg(long)]
    pub heals: bool,
    /// Global variables that a restart resets, too
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub reset: Vec<String>,
}

/// Flags of `faults`.
#[derive(Args, Debug)]
#[command(
    override_usage = "allways faults [OPTIONS] NAME | FILE.pml [NAME | FILE.pml]\n       allways faults [OPTIONS] -- CMD [ARGS...] [+ CMD [ARGS...]]..."
)]
pub struct FaultsArgs {
    /// A check of allways.toml, or a model; two are compared
    #[arg(value_name = "NAME|FILE.pml", num_args = 1..=2, required_unless_present = "command", conflicts_with = "command")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub world: WorldArgs,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub options: Options,
    /// How many faults one run may meet, all together and of one kind: 2,stop=1
    #[arg(long, value_name = "K[,KIND=N]", value_delimiter = ',', default_value = "1", value_parser = fault_count)]
    pub faults: Vec<FaultCount>,
    #[command(flatten)]
    pub scope: FaultArgs,
    /// Check this `ltl` block or formula instead of every block
    #[arg(long, value_name = "NAME|FORMULA")]
    pub ltl: Vec<String>,
    /// Count only fair runs for liveness
    #[arg(long, value_enum)]
    pub fair: Option<Fairness>,
    /// What to print
    #[arg(long, value_enum, default_value_t = FaultsFormat::Text)]
    pub format: FaultsFormat,
    /// Write to a file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Do not save counterexamples under .allways
    #[arg(long)]
    pub no_save: bool,
}

/// A number of faults: of all kinds together, or of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FaultCount {
    /// The kind; all together, if none.
    pub class: Option<Class>,
    /// How many.
    pub count: u32,
}

/// `2`, or `loss=1`.
pub fn fault_count(text: &str) -> Result<FaultCount, String> {
    let (class, count) = match text.split_once('=') {
        Some((class, count)) => (Some(fault_class(class)?), count),
        None => (None, text),
    };
    let most = BUDGET_MAX;
    let count = count.parse().ok().filter(|count| *count <= most);
    let count = count.ok_or_else(|| format!("a number from 0 to {most}, or KIND=NUMBER, is needed"))?;
    Ok(FaultCount { class, count })
}

fn fault_class(name: &str) -> Result<Class, String> {
    Class::named(name).ok_or_else(|| {
        let help = match Class::near(name) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", Class::ALL.map(Class::name).join(", ")),
        };
        format!("`{name}` is no kind of fault; {help}")
    })
}

/// What `faults` prints.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultsFormat {
    /// For people
    Text,
    /// One object for scripts
    Json,
    /// One page that needs nothing else
    Html,
    /// Fault trees for Graphviz
    Dot,
    /// Fault trees in the Open-PSA format
    Psa,
}
