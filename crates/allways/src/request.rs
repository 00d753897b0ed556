//! What the user wants checked, and how.

use crate::args::{CheckArgs, OrderName, StoreName, Switch};
use crate::fault_args::FaultsArgs;
use crate::usage;
use std::time::{Duration, Instant};
use trace::FailureKind;

/// What to check and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// Only these kinds; `None` for all that the model can have.
    pub kinds: Option<Vec<FailureKind>>,
    /// Names of `ltl` blocks or formulas; empty for every block.
    pub formulas: Vec<String>,
    /// Whether only weakly fair runs count for liveness.
    pub fair: bool,
    /// Whether interleavings that cannot matter may be left out.
    pub reduction: bool,
    /// Which states first.
    pub order: OrderName,
    /// How visited states are kept.
    pub store: StoreName,
    /// Threads.
    pub workers: usize,
    /// Steps from the initial state.
    pub depth: Option<u32>,
    /// Time on the wall, for everything together.
    pub time: Option<Duration>,
    /// When that time is over.
    pub deadline: Option<Instant>,
    /// Memory in bytes.
    pub memory: Option<u64>,
    /// Whether the user asked for that much memory and no more.
    pub memory_asked: bool,
    /// For orders that draw.
    pub seed: u64,
    /// How often they draw.
    pub runs: Option<u64>,
    /// Whether to go on after a violation.
    pub keep_going: bool,
    /// Whether every set of faults is to be judged on its own.
    pub each_part: bool,
}

impl Request {
    /// From the command line.
    pub fn new(args: &CheckArgs) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            kinds: (!args.check.is_empty()).then(|| args.check.clone()),
            formulas: args.ltl.clone(),
            fair: args.fair.is_some(),
            reduction: args.reduction == Switch::On,
            order: args.order,
            store: args.store,
            workers: args.jobs.map_or(cores, usize::from),
            depth: args.depth,
            time: args.time,
            deadline: args.time.and_then(|time| Instant::now().checked_add(time)),
            memory: args.mem.or_else(usage::memory_to_use),
            memory_asked: args.mem.is_some(),
            seed: args.seed,
            runs: args.runs,
            keep_going: args.keep_going,
            each_part: false,
        }
        .healing(args.scope.heals)
    }

    /// For a campaign of faults.
    pub fn for_faults(args: &FaultsArgs) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            kinds: (!args.check.is_empty()).then(|| args.check.clone()),
            formulas: args.ltl.clone(),
            fair: args.fair.is_some(),
            reduction: args.reduction == Switch::On,
            order: OrderName::Bfs,
            store: StoreName::Tree,
            workers: args.jobs.map_or(cores, usize::from),
            depth: None,
            time: args.time,
            deadline: args.time.and_then(|time| Instant::now().checked_add(time)),
            memory: args.mem.or_else(usage::memory_to_use),
            memory_asked: args.mem.is_some(),
            seed: 1,
            runs: None,
            keep_going: true,
            each_part: true,
        }
        .healing(args.scope.heals)
    }

    /// What heals does so in the end: only fair runs count.
    fn healing(self, heals: bool) -> Self {
        Self { fair: self.fair || heals, ..self }
    }

    /// When the first of so many equal turns in the time that is left ends.
    pub fn share_ends(&self, turns: u32) -> Option<Instant> {
        self.time_left().and_then(|left| Instant::now().checked_add(left / turns.max(1)))
    }

    /// What is left of the time.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether the search order draws at random, so that it decides nothing for good.
    pub fn samples(&self) -> bool {
        matches!(self.order, OrderName::Random | OrderName::Swarm)
    }

    /// What was asked for by name, but is not there to be checked.
    pub fn missing(&self, there: &[FailureKind]) -> Vec<String> {
        let asked = self.kinds.iter().flatten();
        let absent = asked.filter(|kind| !there.contains(kind));
        let what = |kind: &FailureKind| match kind {
            FailureKind::Assert => "`assert` statement",
            FailureKind::Accept => "`accept` label",
            FailureKind::Ltl => "`ltl` block",
            FailureKind::Never => "never claim",
            FailureKind::Trace => "`trace` or `notrace` assertion",
            FailureKind::Exclusive => "`xr` or `xs` promise",
            _ => "such property",
        };
        absent.map(|kind| format!("--check {kind}: the model has no {}", what(kind))).collect()
    }

    /// Whether a kind was named, not just left open.
    pub fn asks_for(&self, kind: FailureKind) -> bool {
        self.kinds.as_ref().is_some_and(|kinds| kinds.contains(&kind))
    }

    /// Whether a kind is to be checked.
    pub fn wants(&self, kind: FailureKind) -> bool {
        self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&kind))
    }
}
