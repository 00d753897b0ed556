//! The search for failed steps and stuck states, in the words of the report.

use crate::args::{OrderName, StoreName};
use crate::request::Request;
use crate::usage;
use explore::{
    AfterViolation, Bounds, Control, Incomplete, Options, Order, Outcome, Reduction, Sampling, StoreKind,
    TransitionSystem,
};
use report::{Covered, End, Progress, PropertyVerdict};
use std::sync::atomic::AtomicBool;
use trace::FailureKind;

/// Bits set for each state in a bitstate table: SPIN's default.
const BITSTATE_HASHES: u32 = 3;

/// States that a search still looks at after its first violation, so that the verdict table of a small model is whole:
/// about a second's work.
const STATES_AFTER_VIOLATION: u64 = 1_000_000;

/// Random walks, members of a swarm and their depth, if the user does not say.
const WALKS: u64 = 1000;
const SWARM: u64 = 16;
const SAMPLE_DEPTH: u32 = 10_000;

/// How a search is watched and stopped.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// The search ends soon after this becomes true.
    pub stop: &'a AtomicBool,
    /// Called a few times a second.
    pub progress: &'a (dyn Fn(&Progress) + Sync),
}

/// Searches for failures of the kinds that were asked for.
pub fn search<S: TransitionSystem>(system: &S, request: &Request, watch: Watch<'_>) -> Outcome {
    let show = |progress: &explore::Progress| (watch.progress)(&progress_of(progress));
    let control = Control { interrupt: Some(watch.stop), progress: Some(&show) };
    match request.order {
        OrderName::Random => explore::walk(system, sampling(request, WALKS), &options(request), control),
        OrderName::Swarm => explore::swarm(system, sampling(request, SWARM), &options(request), control),
        OrderName::Bfs | OrderName::Dfs => explore::search(system, &options(request), control),
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
        reduction: if request.reduction { Reduction::Safety } else { Reduction::Off },
        merging: true,
        bounds: Bounds { depth: request.depth, states: None, time: request.time_left(), bytes: memory(request) },
        after_violation: match request.keep_going {
            _ if request.each_part => AfterViolation::EachPart,
            true => AfterViolation::Continue { states: None },
            false => AfterViolation::Continue { states: Some(STATES_AFTER_VIOLATION) },
        },
        ignored: ignored(request),
    }
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
        reduction: if request.reduction { "on" } else { "off" }.to_owned(),
        fair: request.fair,
        collision_probability: (!bitstate).then_some(stats.collision_probability),
        seed: matches!(request.order, OrderName::Random | OrderName::Swarm).then_some(request.seed),
        ..Covered::default()
    }
}

/// What is known about a property of which no violation was found.
pub fn without_violation(end: &End) -> (PropertyVerdict, String) {
    match end {
        End::Exhaustive => (PropertyVerdict::Holds, String::new()),
        End::Bound(bound) => (PropertyVerdict::Holds, format!("within {bound}")),
        End::Violation => (PropertyVerdict::Incomplete, "stopped after the first violation (--keep-going)".to_owned()),
        End::Inconclusive(why) => (PropertyVerdict::Incomplete, why.clone()),
        End::Interrupted => (PropertyVerdict::Incomplete, "interrupted".to_owned()),
    }
}

/// The worst reason wins: what nobody asked for, then the user's Ctrl-C, then bounds.
pub fn end(request: &Request, incomplete: &[Incomplete]) -> End {
    let has = |reason| incomplete.contains(&reason);
    if has(Incomplete::Interrupted) {
        return End::Interrupted;
    }
    if has(Incomplete::Memory) {
        let bound = request.memory.map(|bytes| format!(" ({}; --mem)", report::bytes(bytes))).unwrap_or_default();
        return End::Inconclusive(format!("memory ran out{bound}"));
    }
    if has(Incomplete::StoreFull) {
        return End::Inconclusive("the store is full".to_owned());
    }
    let bounds: Vec<String> = incomplete.iter().filter_map(|reason| bound(request, *reason)).collect();
    if !bounds.is_empty() {
        return End::Bound(bounds.join(", "));
    }
    if has(Incomplete::StoppedAtViolation) { End::Violation } else { End::Exhaustive }
}

fn bound(request: &Request, reason: Incomplete) -> Option<String> {
    match reason {
        Incomplete::DepthBound => {
            Some(format!("depth {}", request.depth.or(request.samples().then_some(SAMPLE_DEPTH))?))
        }
        Incomplete::Time => Some(format!("time {}", report::span(request.time?.as_secs_f64()))),
        Incomplete::Sampled => Some(match request.order {
            OrderName::Random => format!("{} random walks", request.runs.unwrap_or(WALKS)),
            OrderName::Swarm => format!("a swarm of {}", request.runs.unwrap_or(SWARM)),
            OrderName::Bfs | OrderName::Dfs => "bitstate store".to_owned(),
        }),
        _ => None,
    }
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
