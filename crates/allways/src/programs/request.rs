//! What a check of programs was asked for.

use crate::args::{CheckArgs, EngineName, LibcName, ReadsName, Switch, WakesName};
use crate::request::Request;
use checker::{Checks, Depth, Engine, Options, Programs, Timeouts};
use explore::graph::{Bound, Mode};
use explore::sample;
use trace::{FailureKind, ViewRef};

/// Kinds of failure that programs can have, in the order in which reports list them.
pub const KINDS: [FailureKind; 7] = [
    FailureKind::Deadlock,
    FailureKind::Assert,
    FailureKind::Crash,
    FailureKind::Exit,
    FailureKind::Race,
    FailureKind::Misuse,
    FailureKind::Livelock,
];

/// Steps of one schedule, for engines that do not remember states.
const DEPTH: u32 = 10_000;
/// Steps that one worker takes alone, if nobody asked for several: most searches end before.
const ALONE: u64 = 20_000;
/// Runs of a sample.
const RUNS: u64 = 1_000;

/// What to look for, and how.
pub struct Wanted {
    /// What every check knows.
    pub request: Request,
    /// How to search.
    pub engine: Engine,
    /// How to look at programs.
    pub view: View,
    /// Propositions that must never be true.
    pub never: Vec<String>,
    /// Of so many results that are memoized or inherited, one is worked out again.
    pub audit: Option<u32>,
    /// Nothing is kept.
    pub no_save: bool,
}

/// How programs are looked at, beside what counts as a failure: a replay must look in the same way.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct View {
    /// How to look at the C library.
    pub depth: Depth,
    /// How often a timed wait may end while somebody can move.
    pub timeouts: u32,
    /// What else is not as usual.
    pub more: ViewRef,
}

impl Wanted {
    /// From the command line.
    pub fn new(args: &CheckArgs) -> Self {
        let engine = engine(args);
        let view = View {
            depth: if args.libc == Some(LibcName::Real) { Depth::Real } else { Depth::Summary },
            timeouts: args.timeouts.unwrap_or(0),
            more: ViewRef {
                awaits: checker::awaits(&engine),
                short_reads: args.reads == Some(ReadsName::Short),
                longest_sleeper: args.wakes == Some(WakesName::Longest),
                spurious_wakes: args.wakes == Some(WakesName::Spurious),
                fine: args.fine,
                only_breaks: args.only_breaks,
                breaks: args.breaks.clone(),
                matched: args.matched.clone(),
                watched: args.watch.clone(),
            },
        };
        let (never, audit) = (args.never.clone(), args.audit);
        Self { request: Request::new(args), engine, view, never, audit, no_save: args.no_save }
    }

    /// Whether a kind of failure is looked for.
    ///
    /// Livelocks only on request, because they need assumptions; exit codes not if the user's own proposition says what must
    /// not happen; races not where steps are as long as the user wants them.
    pub fn wants(&self, kind: FailureKind) -> bool {
        match kind {
            FailureKind::Livelock => self.request.asks_for(kind),
            FailureKind::Race if self.view.more.only_breaks => self.request.asks_for(kind),
            FailureKind::Exit if !self.never.is_empty() => self.request.asks_for(kind),
            _ => self.request.wants(kind),
        }
    }

    /// All kinds that are looked for.
    pub fn kinds(&self) -> Vec<FailureKind> {
        KINDS.into_iter().filter(|kind| self.wants(*kind)).collect()
    }

    /// How programs are looked at.
    pub fn options(&self, stdin: &[u8]) -> Options {
        Options { audit: self.audit, ..options(&self.kinds(), &self.view, stdin) }
    }
}

/// How to search, from the command line.
fn engine(args: &CheckArgs) -> Engine {
    let depth = args.depth.unwrap_or(DEPTH) as usize;
    let bound = args.preemptions.map(Bound::Preemptions).or(args.delays.map(Bound::Delays));
    match engine_name(args) {
        EngineName::Dpor => Engine::Classes { depth },
        EngineName::Sample => Engine::Sample(sample::Options {
            seed: args.seed,
            runs: args.runs.unwrap_or(RUNS),
            depth,
            ..sample::Options::default()
        }),
        EngineName::Graph => {
            let mode = match bound {
                Some(bound) => Mode::Bounded(bound),
                None if args.reduction == Switch::Off => Mode::Full,
                None => Mode::Reduced,
            };
            let alone = if args.jobs.is_some() { 0 } else { ALONE };
            Engine::Graph { mode, workers: Request::new(args).workers, alone }
        }
    }
}

fn engine_name(args: &CheckArgs) -> EngineName {
    if args.sample { EngineName::Sample } else { args.engine.unwrap_or(EngineName::Graph) }
}

/// Complains about flags that mean nothing to the engine: silently ignoring them would change what a verdict says.
pub fn only_for_other_engines(args: &CheckArgs) -> Result<(), String> {
    let engine = engine_name(args);
    let (is_graph, is_sample) = (engine == EngineName::Graph, engine == EngineName::Sample);
    let wrong = [
        ("--depth", args.depth.is_some() && is_graph, "--engine dpor or sample"),
        ("--runs", args.runs.is_some() && !is_sample, "--engine sample"),
        ("--preemptions", args.preemptions.is_some() && !is_graph, "--engine graph"),
        ("--delays", args.delays.is_some() && !is_graph, "--engine graph"),
        ("--reduction off", args.reduction == Switch::Off && !is_graph, "--engine graph"),
    ];
    match wrong.iter().find(|(_, is_wrong, _)| *is_wrong) {
        Some((flag, _, engines)) => Err(format!("`{flag}` goes with `{engines}`")),
        None => Ok(()),
    }
}

/// How programs are looked at.
pub fn options(kinds: &[FailureKind], view: &View, stdin: &[u8]) -> Options {
    let wants = |kind| kinds.contains(&kind);
    let checks = Checks {
        deadlock: wants(FailureKind::Deadlock),
        livelock: wants(FailureKind::Livelock),
        crash: wants(FailureKind::Crash),
        assert: wants(FailureKind::Assert),
        exit: wants(FailureKind::Exit),
        misuse: wants(FailureKind::Misuse),
    };
    let timeouts = if view.timeouts == 0 { Timeouts::Quiet } else { Timeouts::Any(view.timeouts) };
    let ViewRef { awaits, short_reads, longest_sleeper, spurious_wakes: spurious, fine, only_breaks, .. } = view.more;
    let (depth, any_sleeper, input) = (view.depth, !longest_sleeper, stdin.into());
    let usual = Options::default();
    Options { checks, depth, timeouts, any_sleeper, spurious, short_reads, fine, only_breaks, awaits, input, ..usual }
}

/// Places the user's points.
pub fn place(programs: &mut Programs, view: &ViewRef) -> Result<(), String> {
    let told = |flag: &'static str| move |why: String| format!("`{flag}`: {why}");
    view.breaks.iter().try_for_each(|point| programs.break_at(point)).map_err(told("--break"))?;
    view.watched.iter().try_for_each(|name| programs.watch(name)).map_err(told("--watch"))?;
    view.matched.iter().try_for_each(|name| programs.match_by(name)).map_err(told("--match"))
}
