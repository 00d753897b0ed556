//! The search for failed steps and stuck states, in the words of the report.

use crate::journal::Journal;
use crate::model_args::{OrderName, StoreName};
use crate::request::Request;
use crate::usage;
use explore::{
    AfterViolation, Bounds, Control, Incomplete, Options, Order, Outcome, Reduction, Sampling, StoreKind,
    TransitionSystem,
};
use promela::engines;
use promela::run::ModelSystem;
use report::{Covered, End, Progress, PropertyVerdict};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trace::FailureKind;

/// Bits set for each state in a bitstate table: SPIN's default.
const BITSTATE_HASHES: u32 = 3;

/// States that a search still looks at after its first violation, so that the verdict table of a small model is whole:
/// about a second's work.
const STATES_AFTER_VIOLATION: u64 = 1_000_000;

/// Random walks, if the user does not say.
const WALKS: u64 = 1000;
/// Members of a swarm, if the user does not say.
const SWARM: u64 = 16;
/// Steps of a random walk or of a member of a swarm, if the user does not say.
const SAMPLE_DEPTH: u32 = 10_000;

/// How a search is watched and stopped.
///
/// Shared by all workers; each function is called from several threads at once.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// The search ends soon after this becomes true.
    pub stop: &'a Arc<AtomicBool>,
    /// Called a few times a second.
    pub progress: &'a (dyn Fn(&Progress) + Sync),
    /// Called often; while it does not return, the search stands still.
    pub pause: Option<&'a (dyn Fn() + Sync)>,
    /// Where it is kept how far the check has come.
    pub journal: Option<&'a Journal>,
}

/// What a journal calls the search for failed steps and stuck states.
const SEARCH: &str = "safety";

/// What a journal says that a search has found, or what it finds now.
pub fn search_or_known(system: &ModelSystem, request: &Request, watch: Watch<'_>) -> Outcome {
    let Some(journal) = watch.journal else { return search(system, request, watch) };
    if let Some(outcome) = journal.decided(SEARCH, |marks| system.set_marks(marks)) {
        return outcome;
    }
    journal.searching(true);
    let outcome = search(system, request, watch);
    if journal.decide(SEARCH, &outcome, system.marks()) {
        journal.searching(false);
    }
    outcome
}

/// Searches for failures of the kinds that were asked for.
pub fn search(system: &ModelSystem, request: &Request, watch: Watch<'_>) -> Outcome {
    let show = |progress: &explore::Progress| (watch.progress)(&progress_of(progress));
    let journal = watch.journal.map(|journal| journal as &dyn explore::journal::Journal);
    let control = Control { interrupt: Some(watch.stop), progress: Some(&show), pause: watch.pause, journal };
    match request.order {
        OrderName::Random => engines::walk(system, sampling(request, WALKS), &options(request), control),
        OrderName::Swarm => engines::swarm(system, sampling(request, SWARM), &options(request), control),
        OrderName::Bfs | OrderName::Dfs => engines::search(system, &options(request), control),
    }
}

fn sampling(request: &Request, runs: u64) -> Sampling {
    let depth = request.depth.unwrap_or(SAMPLE_DEPTH);
    Sampling { runs: request.runs.unwrap_or(runs), depth, seed: request.seed }
}

/// How to search.
pub fn options(request: &Request) -> Options {
    Options {
        order: order(request),
        store: store(request),
        workers: request.workers,
        reduction: if reduces(request) { Reduction::Safety } else { Reduction::Off },
        merging: true,
        bounds: Bounds { depth: request.depth, time: request.time_left(), bytes: memory(request), ..Bounds::default() },
        after_violation: match request.keep_going {
            _ if request.each_part => AfterViolation::EachPart,
            true => AfterViolation::Continue { states: None },
            false => AfterViolation::Continue { states: Some(STATES_AFTER_VIOLATION) },
        },
        ignored: ignored(request),
        probes: request.depth.is_none(),
    }
}

/// Whether interleavings are left out. Not within a bound on the depth: the one that is kept may take more steps to a
/// failure than one that is left out.
fn reduces(request: &Request) -> bool {
    request.reduction && (request.depth.is_none() || request.samples())
}

/// Kinds of failures that a safety search is about.
pub const SAFETY: [FailureKind; 5] =
    [FailureKind::Deadlock, FailureKind::Assert, FailureKind::Runtime, FailureKind::Trace, FailureKind::Exclusive];

/// A table of bits is made in full at once: it takes all of the memory that was asked for, but not all that there is.
fn memory(request: &Request) -> Option<u64> {
    let bits = request.store == StoreName::Bitstate || request.order == OrderName::Swarm;
    request.memory.filter(|_| !bits || request.memory_asked)
}

/// Kinds that nobody asked for. A run-time error is never ignored: what comes after it means nothing.
fn ignored(request: &Request) -> Vec<FailureKind> {
    let unwanted = |kind: &FailureKind| *kind != FailureKind::Runtime && !request.wants(*kind);
    FailureKind::ALL.into_iter().filter(unwanted).collect()
}

fn order(request: &Request) -> Order {
    match request.order {
        OrderName::Bfs => Order::Breadth,
        OrderName::Dfs => Order::Depth { seed: None },
        OrderName::Random | OrderName::Swarm => Order::Depth { seed: Some(request.seed) },
    }
}

fn store(request: &Request) -> StoreKind {
    match request.store {
        StoreName::Tree => StoreKind::Tree,
        StoreName::Fp64 => StoreKind::Fingerprint64,
        StoreName::Fp128 => StoreKind::Fingerprint128,
        StoreName::Bitstate => StoreKind::Bitstate { hashes: BITSTATE_HASHES },
    }
}

/// Progress in the words of the report.
pub fn progress_of(progress: &explore::Progress) -> Progress {
    let done = progress.states_estimate.map(|all| progress.states as f64 / all.max(1) as f64);
    Progress {
        met: progress.steps,
        states: progress.states,
        frontier: progress.frontier,
        depth: u64::from(progress.depth),
        rate: progress.rate,
        memory_bytes: progress.bytes,
        done,
        seconds: progress.elapsed.as_secs_f64(),
    }
}

/// What a search covered.
pub fn covered(request: &Request, outcome: &Outcome) -> Covered {
    let stats = &outcome.stats;
    let bitstate = request.store == StoreName::Bitstate;
    Covered {
        end: end(request, &outcome.incomplete),
        states: stats.states,
        steps: stats.steps,
        depth_max: u64::from(stats.depth_max),
        matched: stats.matched,
        store_bytes: stats.bytes_store,
        memory_bytes: usage::memory_bytes().unwrap_or(stats.bytes_total),
        seconds: stats.seconds,
        cpu_seconds: usage::cpu_seconds().unwrap_or(stats.seconds),
        workers: stats.workers,
        order: order_words(request).to_owned(),
        store: store_words(request.store).to_owned(),
        reduction: if reduces(request) { "on" } else { "off" }.to_owned(),
        fair: request.fair,
        collision_probability: (!bitstate).then_some(stats.collision_probability),
        seed: matches!(request.order, OrderName::Random | OrderName::Swarm).then_some(request.seed),
        ..Covered::default()
    }
}

/// What is known about a property of which no violation was found.
pub fn without_violation(end: &End) -> (PropertyVerdict, String) {
    end.without_violation()
}

/// How a search ended that says why it is not complete. The worst reason wins, and several bounds are told together;
/// only a search without any reason is exhaustive.
pub fn end(request: &Request, incomplete: &[Incomplete]) -> End {
    let sampled = incomplete.contains(&Incomplete::Sampled);
    let ends = incomplete.iter().map(|reason| end_for(request, *reason, sampled));
    ends.fold(End::Exhaustive, |worst, end| match (worst, end) {
        (End::Bound(one), End::Bound(other)) => End::Bound(format!("{one}, {other}")),
        (End::Bound(one) | End::Limit(one), End::Limit(other)) | (End::Limit(one), End::Bound(other)) => {
            End::Limit(format!("{one}, {other}"))
        }
        (worst, end) => worse(worst, end),
    })
}

fn end_for(request: &Request, reason: Incomplete, sampled: bool) -> End {
    let depth = request.depth.unwrap_or(SAMPLE_DEPTH);
    match reason {
        Incomplete::Interrupted => End::Interrupted,
        Incomplete::Memory => {
            let bound = request.memory.map(|bytes| format!(" ({}; --mem)", report::bytes(bytes))).unwrap_or_default();
            End::Inconclusive(format!("memory ran out{bound}"))
        }
        Incomplete::StoreFull => End::Inconclusive("the store is full".to_owned()),
        Incomplete::StateBound => End::Inconclusive("the bound on states was reached".to_owned()),
        Incomplete::TurnedBack if !sampled => {
            End::Inconclusive(format!("depth first, depth {depth} does not cover all that lies within it"))
        }
        Incomplete::DepthBound | Incomplete::TurnedBack => End::Bound(format!("depth {depth}")),
        Incomplete::Time => End::Limit(report::limit(request.time.unwrap_or_default())),
        Incomplete::Sampled => End::Limit(match request.order {
            OrderName::Random => format!("{} random walks", request.runs.unwrap_or(WALKS)),
            OrderName::Swarm => format!("a swarm of {}", request.runs.unwrap_or(SWARM)),
            OrderName::Bfs | OrderName::Dfs => "bitstate store".to_owned(),
        }),
        Incomplete::Journal => End::Inconclusive("the journal is wrong about an earlier part of the search".to_owned()),
        Incomplete::StoppedAtViolation => End::Violation,
    }
}

/// The worse of two ends. A bound that was asked for is better than a search that a violation cut off: within the bound
/// everything was seen.
pub fn worse(one: End, other: End) -> End {
    let rank = |end: &End| match end {
        End::Exhaustive => 0,
        End::Bound(_) => 1,
        End::Violation => 2,
        End::Limit(_) => 3,
        End::Inconclusive(_) => 4,
        End::Interrupted => 5,
    };
    if rank(&other) > rank(&one) { other } else { one }
}

fn order_words(request: &Request) -> &'static str {
    match request.order {
        // Bits cannot be walked level by level.
        OrderName::Bfs if request.store == StoreName::Bitstate => "depth first",
        OrderName::Bfs => "breadth first",
        OrderName::Dfs => "depth first",
        OrderName::Random => "random walks",
        OrderName::Swarm => "swarm",
    }
}

fn store_words(store: StoreName) -> &'static str {
    match store {
        StoreName::Tree => "tree",
        StoreName::Fp64 => "64-bit fingerprint",
        StoreName::Fp128 => "128-bit fingerprint",
        StoreName::Bitstate => "bitstate",
    }
}
