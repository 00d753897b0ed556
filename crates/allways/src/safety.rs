//! The search for failed steps and stuck states, in the words of the report.

use crate::args::{OrderName, StoreName};
use crate::request::Request;
use crate::usage;
use explore::{
    AfterViolation, Bounds, Control, Incomplete, Options, Order, Outcome, Reduction, StoreKind, TransitionSystem,
};
use report::{Covered, End, Progress, PropertyVerdict};
use std::sync::atomic::AtomicBool;
use trace::FailureKind;

/// Bits set for each state in a bitstate table: SPIN's default.
const BITSTATE_HASHES: u32 = 3;

/// States that a search still looks at after its first violation, so that the verdict table of a small model is whole:
/// about a second's work.
const STATES_AFTER_VIOLATION: u64 = 1_000_000;

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
    explore::search(system, &options(request), control)
}

/// How to search.
pub fn options(request: &Request) -> Options {
    Options {
        order: order(request),
        store: store(request),
        workers: request.workers,
        reduction: if request.reduction { Reduction::Safety } else { Reduction::Off },
        bounds: Bounds { depth: request.depth, states: None, time: request.time, bytes: request.memory },
        after_violation: match request.keep_going {
            true => AfterViolation::Continue { states: None },
            false => AfterViolation::Continue { states: Some(STATES_AFTER_VIOLATION) },
        },
        ignored: ignored(request),
    }
}

/// Kinds of failures that a safety search is about.
pub const SAFETY: [FailureKind; 5] =
    [FailureKind::Deadlock, FailureKind::Assert, FailureKind::Runtime, FailureKind::Trace, FailureKind::Exclusive];

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
        order: order_words(request.order).to_owned(),
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
        End::Interrupted | End::Inconclusive(_) => (PropertyVerdict::Incomplete, String::new()),
    }
}

/// The worst reason wins: what nobody asked for, then the user's Ctrl-C, then bounds.
pub fn end(request: &Request, incomplete: &[Incomplete]) -> End {
    let has = |reason| incomplete.contains(&reason);
    if has(Incomplete::Interrupted) {
        return End::Interrupted;
    }
    if has(Incomplete::Memory) {
        let bound = request.memory.map(|bytes| format!(" ({})", report::bytes(bytes))).unwrap_or_default();
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
        Incomplete::DepthBound => Some(format!("depth {}", request.depth?)),
        Incomplete::Time => Some(format!("time {}", report::span(request.time?.as_secs_f64()))),
        Incomplete::Sampled if request.store == StoreName::Bitstate => Some("bitstate store".to_owned()),
        Incomplete::Sampled => Some("random sample".to_owned()),
        _ => None,
    }
}

fn order_words(order: OrderName) -> &'static str {
    match order {
        OrderName::Bfs => "breadth first",
        OrderName::Dfs => "depth first",
        OrderName::Random => "depth first at random",
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
