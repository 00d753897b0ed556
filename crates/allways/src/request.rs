//! What the user wants checked, and how.

use crate::args::CheckArgs;
use crate::fault_args::FaultsArgs;
use crate::model_args::{OrderName, StoreName};
use crate::options::{SearchOptions, Switch};
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
    /// What every check is asked for.
    pub fn new(search: &SearchOptions) -> Self {
        Self {
            kinds: (!search.check.is_empty()).then(|| search.check.clone()),
            formulas: Vec::new(),
            fair: false,
            reduction: search.reduction != Some(Switch::Off),
            order: OrderName::Bfs,
            store: StoreName::Tree,
            workers: search.workers(),
            depth: search.depth,
            time: search.time,
            deadline: search.time.and_then(|time| Instant::now().checked_add(time)),
            memory: search.mem.or_else(usage::memory_to_use),
            memory_asked: search.mem.is_some(),
            seed: search.seed(),
            runs: search.runs,
            keep_going: search.keep_going,
            each_part: false,
        }
    }

    /// For a model. What heals does so in the end: only fair runs count.
    pub fn for_model(args: &CheckArgs) -> Self {
        Self {
            formulas: args.ltl.clone(),
            fair: args.fair.is_some() || args.scope.heals,
            order: args.order,
            store: args.store,
            ..Self::new(&args.options.search)
        }
    }

    /// For a campaign of faults.
    pub fn for_faults(args: &FaultsArgs) -> Self {
        let search = SearchOptions { keep_going: true, ..args.options.search.clone() };
        let fair = args.fair.is_some() || args.scope.heals;
        Self { formulas: args.ltl.clone(), fair, each_part: true, ..Self::new(&search) }
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
