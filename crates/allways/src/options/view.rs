//! How programs are looked at. Counterexamples keep it, because it decides where steps begin and end and what tells states
//! apart.

use super::faults::FaultOptions;
use super::peer::{Checkpoint, Connections, Spec, Where, list};
use crate::units;
use checker::{BUFFERED_MAX, Checks, Depth, HORIZON, MemoryModel, Timeouts};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use std::str::FromStr;
use std::time::Duration;
use trace::FailureKind;

/// More stores than this wait on no processor.
const BUFFERED_LIMIT: usize = 128;

/// How programs are looked at.
#[derive(Args, Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
#[command(next_help_heading = "Programs")]
#[serde(default)]
pub struct ViewOptions {
    /// How to execute the C library
    #[arg(long, value_enum, value_name = "DEPTH")]
    pub libc: Option<Libc>,
    /// What must never be true of programs: 'exited(a) == 0 && exited(b) == 0'
    #[arg(long, value_name = "PROPOSITION")]
    pub never: Vec<String>,
    /// What must be true of programs at the end of each run: 'exists("log")'
    #[arg(long, value_name = "PROPOSITION")]
    pub finally: Vec<String>,
    /// When stores reach memory: sc (at once), tso or tso:N (x86, up to N stores of a thread wait) [default: tso:8]
    #[arg(long, value_name = "MODEL")]
    pub memory: Option<Memory>,
    /// Let up to N timed waits of a run expire while other threads can still run [default: 0]
    #[arg(long, value_name = "N")]
    pub timeouts: Option<u32>,
    /// Virtual time after which runs end, such as 10m [default: 1h]
    #[arg(long, value_parser = units::time)]
    #[serde(serialize_with = "units::write_time", deserialize_with = "units::read_time")]
    pub horizon: Option<Duration>,
    /// How much a read of a pipe or connection returns [default: whole]
    #[arg(long, value_enum)]
    pub reads: Option<Reads>,
    /// Which thread a signal to a condition variable wakes if several wait [default: any]
    #[arg(long, value_enum)]
    pub wakes: Option<Wakes>,
    /// Also switch threads here: FILE:LINE, or where a function begins
    #[arg(long = "break", value_name = "POINT")]
    #[serde(rename = "break")]
    pub breaks: Vec<String>,
    /// Switch threads only at the points of --break, and where they wait
    #[arg(long, requires = "breaks")]
    pub only_breaks: bool,
    /// Make every access to shared memory a step, not only those that race
    #[arg(long, conflicts_with = "only_breaks")]
    pub fine: bool,
    /// A program that answers, and is not searched itself: 'db:6379=redis-server --port 6379'
    #[arg(long, value_name = "NAME:PORT=COMMAND", value_parser = Spec::short)]
    #[serde(with = "list")]
    pub peer: Vec<Spec>,
    /// Where peers run [default: world]
    #[arg(long, value_enum, value_name = "WHERE")]
    pub outside: Option<Where>,
    /// At which places of the conversation to keep the state of peers [default: adaptive]
    #[arg(long, value_enum, value_name = "STRATEGY")]
    pub checkpoint: Option<Checkpoint>,
    /// Report a schedule that says something else to a peer than another one, at the same place of a connection
    #[arg(long)]
    pub strict: bool,
    /// Whether connections of peers depend on each other [default: shared]
    #[arg(long, value_enum, value_name = "HOW")]
    pub connections: Option<Connections>,
    /// Formulas that every run has to satisfy: `--ltl`.
    #[arg(skip)]
    pub formulas: Vec<String>,
    /// Faults that may happen: `--faults` and `--only`.
    #[arg(skip)]
    pub faults: Option<FaultOptions>,
    /// Report how these global variables change
    #[arg(long, value_name = "VARIABLE", value_delimiter = ',')]
    pub watch: Vec<String>,
    /// Treat states as equal if these global variables and all threads' positions agree
    #[arg(long = "match", value_name = "VARIABLE", value_delimiter = ',')]
    #[serde(rename = "match")]
    pub matched: Vec<String>,
}

/// How to look at a C library.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Libc {
    /// Recognised functions are one step with their specified meaning
    Summary,
    /// Every instruction is executed as it stands
    Real,
}

/// When stores reach memory.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(try_from = "String", into = "String")]
pub enum Memory {
    /// At once: sequential consistency.
    Sequential,
    /// As on x86: stores of a thread wait, at most so many.
    Tso(usize),
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let most = |digits: &str| digits.parse().ok().filter(|most| (1..=BUFFERED_LIMIT).contains(most));
        match text.strip_prefix("tso") {
            Some("") => Some(Self::Tso(BUFFERED_MAX)),
            Some(rest) => rest.strip_prefix(':').and_then(most).map(Self::Tso),
            None => (text == "sc").then_some(Self::Sequential),
        }
        .ok_or_else(|| format!("it is `sc`, `tso` or `tso:N`, with N from 1 to {BUFFERED_LIMIT}"))
    }
}

impl TryFrom<String> for Memory {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map_err(|why| format!("memory = \"{text}\": {why}"))
    }
}

impl From<Memory> for String {
    fn from(memory: Memory) -> Self {
        match memory {
            Memory::Sequential => "sc".to_owned(),
            Memory::Tso(most) => format!("tso:{most}"),
        }
    }
}

/// How much a read returns.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Reads {
    /// All that there is
    Whole,
    /// All, all but one byte, one byte, or what was sent first
    Short,
}

/// Whom a signal wakes.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Wakes {
    /// Any of them
    Any,
    /// The one who waits longest
    Longest,
    /// Any of them, and threads may wake although nobody signals
    Spurious,
}

impl ViewOptions {
    /// Whether every schedule has to say the same to a peer.
    pub fn is_strict(&self) -> bool {
        !self.peer.is_empty() && self.strict || self.peer.iter().any(|peer| peer.strict == Some(true))
    }

    /// How often a timed wait may end while somebody can move.
    pub fn timeouts(&self) -> u32 {
        self.timeouts.unwrap_or(0)
    }

    /// Virtual time after which runs end.
    pub fn horizon(&self) -> Duration {
        self.horizon.unwrap_or(Duration::from_nanos(HORIZON))
    }

    /// Whether reads may return less than there is.
    pub fn short_reads(&self) -> bool {
        self.reads == Some(Reads::Short)
    }

    /// Whether a signal wakes the one who waits longest, not any of them.
    pub fn longest_sleeper(&self) -> bool {
        self.wakes == Some(Wakes::Longest)
    }

    /// Whether waits at condition variables may end although nobody has signalled.
    pub fn spurious_wakes(&self) -> bool {
        self.wakes == Some(Wakes::Spurious)
    }

    /// When stores reach memory. At breakpoints alone, nobody looks in between.
    pub fn memory(&self) -> MemoryModel {
        match self.memory.unwrap_or(Memory::Tso(BUFFERED_MAX)) {
            Memory::Tso(buffered_max) if !self.only_breaks => MemoryModel::Tso { buffered_max },
            _ => MemoryModel::Sequential,
        }
    }

    /// What it means to the checker, which looks for these kinds of failure. `awaits` is what the engine needs.
    pub fn checker_options(&self, kinds: &[FailureKind], awaits: bool) -> checker::Options {
        checker::Options {
            checks: checks(kinds),
            depth: if self.libc == Some(Libc::Real) { Depth::Real } else { Depth::Summary },
            memory: self.memory(),
            timeouts: if self.timeouts() == 0 { Timeouts::Quiet } else { Timeouts::Any(self.timeouts()) },
            horizon: u64::try_from(self.horizon().as_nanos()).unwrap_or(u64::MAX),
            any_sleeper: !self.longest_sleeper(),
            spurious: self.spurious_wakes(),
            short_reads: self.short_reads(),
            fine: self.fine,
            only_breaks: self.only_breaks,
            faults: self.faults.as_ref().map(FaultOptions::plan).unwrap_or_default(),
            awaits,
            ..checker::Options::default()
        }
    }

    /// Places the user's points.
    pub fn place(&self, programs: &mut checker::Programs) -> Result<(), String> {
        let told = |flag: &'static str| move |why: String| format!("`{flag}`: {why}");
        programs.verify_faults()?;
        let after = self.faults.iter().find_map(|faults| faults.after.as_ref());
        after.map_or(Ok(()), |after| programs.defer_faults_until(after)).map_err(told("--after"))?;
        self.breaks.iter().try_for_each(|point| programs.break_at(point)).map_err(told("--break"))?;
        self.watch.iter().try_for_each(|name| programs.watch(name)).map_err(told("--watch"))?;
        self.matched.iter().try_for_each(|name| programs.match_by(name)).map_err(told("--match"))
    }
}

fn checks(kinds: &[FailureKind]) -> Checks {
    let wants = |kind| kinds.contains(&kind);
    Checks {
        deadlock: wants(FailureKind::Deadlock),
        livelock: wants(FailureKind::Livelock),
        crash: wants(FailureKind::Crash),
        assert: wants(FailureKind::Assert),
        exit: wants(FailureKind::Exit),
        misuse: wants(FailureKind::Misuse),
    }
}
