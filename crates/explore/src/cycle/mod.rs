//! Linear-time properties: the product of a system and a monitor, and the search for runs that the monitor accepts.
//!
//! The automata-theoretic approach (Vardi and Wolper, LICS 1986): a property is violated if and
//! only if the product with the automaton of its negation has an accepted run. Every kind of
//! property of runs becomes a [`Monitor`], so that this folder is the only place that searches for
//! cycles (decision 5).

mod emptiness;
mod graph;
mod lasso;
mod monitor;
mod product;
mod within;
mod word;

use crate::patience::Patience;
use crate::search::open::{WithStore, open};
use crate::search::session::{Session, StoreSlot};
use crate::search::watch::Watch;
use crate::search::worker::reducer;
use crate::search::{AfterViolation, Control, Incomplete, Options, Outcome, Reduction, Violation, search};
use crate::store::Visited;
use crate::system::{Failure, TransitionSystem};
use emptiness::{Emptiness, Found, Limits};
use graph::{Graph, Marks};
pub use monitor::{Monitor, MonitorEdge, MonitorState};
pub use product::{Product, ProductState, STUTTER};
use within::Within;

/// Which runs count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fairness {
    /// All of them.
    #[default]
    Off,
    /// Weakly fair ones: every actor that is continuously enabled from some point on moves infinitely often.
    Weak,
}

/// The outcome of a search of a product.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Violations and counts; counts are of pairs of system state and monitor state. A lasso whose cycle is empty ends
    /// in a state that repeats for ever.
    pub outcome: Outcome,
    /// For each edge of each monitor state: whether some run takes it.
    pub reached: Vec<Vec<bool>>,
}

/// Searches for a shortest run that enters a violating state of the monitor; acceptance of cycles is ignored.
///
/// `options.reduction` other than off becomes the one that respects what `observer` reads.
pub fn search_monitored<S: TransitionSystem>(
    system: &S,
    monitor: &Monitor,
    observer: usize,
    failure: Failure,
    options: &Options,
    control: Control<'_>,
) -> Watched {
    let product = Product::new(system, monitor, observer, failure);
    let mut outcome = search(&product, &respectful(options, observer), control);
    for violation in &mut outcome.violations {
        violation.schedule = product.system_schedule(&violation.schedule);
    }
    Watched { outcome, reached: product.reached() }
}

/// Searches for a run that the monitor accepts: a lasso, or a prefix that ends in a violating state.
///
/// One worker; `options.order` does not matter, and after a violation the search goes on only for
/// [`AfterViolation::EachPart`]. Reduction is off under fairness, which the order of independent steps can change.
///
/// One worker: depth-first search orders states, and parallel variants either give that up or need
/// much more memory.
pub fn find_cycle<S: TransitionSystem>(
    system: &S,
    monitor: &Monitor,
    observer: usize,
    failure: Failure,
    fairness: Fairness,
    options: &Options,
    control: Control<'_>,
) -> Watched {
    let mut options = respectful(options, observer);
    if fairness == Fairness::Weak {
        options.reduction = Reduction::Off;
    }
    let product = Product::new(system, monitor, observer, failure.clone());
    let watch = Watch::new(&options, control);
    let patience = watch.patience().clone();
    let find = Find { product: &product, monitor, failure, fairness, options: &options, watch };
    let outcome = open(&product, &options, &patience, find);
    Watched { outcome, reached: product.reached() }
}

/// The options with a reduction that keeps the propositions of `observer` (C2).
fn respectful(options: &Options, observer: usize) -> Options {
    let reduction = match options.reduction {
        Reduction::Off | Reduction::Broken(_) => options.reduction,
        Reduction::Safety | Reduction::Observed(_) => Reduction::Observed(observer),
    };
    Options { reduction, ..options.clone() }
}

struct Find<'a, S: TransitionSystem> {
    product: &'a Product<'a, S>,
    monitor: &'a Monitor,
    failure: Failure,
    fairness: Fairness,
    options: &'a Options,
    watch: Watch<'a>,
}

impl<S: TransitionSystem> WithStore for Find<'_, S> {
    // Cycles are found by numbers of states, which a bitstate store does not give.
    const NEEDS_NUMBERS: bool = true;

    fn search<V: Visited>(self, store: V) -> Outcome {
        let Self { product, options, ref watch, .. } = self;
        let slot = StoreSlot::new(store, options);
        let mut graph = Graph::new(product, Session::new(&slot), reducer(product, options.reduction), self.fairness);
        graph.limit(watch.patience());
        let required = Marks::required(self.monitor, self.fairness);
        let within = options.bounds.depth.and_then(|depth| Within::new(&mut graph, depth, watch));
        let limits = Limits { path: options.bounds.path, states: options.bounds.states, within };
        let mut emptiness = Emptiness::new(graph, watch, required, limits);
        if options.after_violation == AfterViolation::EachPart && V::RESTORES {
            emptiness = emptiness.in_each_part();
        }
        let mut violations = Vec::new();
        let mut found = emptiness.run();
        loop {
            // A counterexample is made however long that takes.
            emptiness.graph.limit(&Patience::default());
            let (failure, schedule) = match found {
                Found::Nothing => break,
                Found::Component(root) => (self.failure.clone(), emptiness.lasso(root, required)),
                Found::Failure(id, failure) => (failure, emptiness.schedule_to(id)),
            };
            let part = emptiness.part();
            match schedule {
                // Without a schedule there is no proof, so no verdict either.
                None => watch.note(Incomplete::Memory),
                Some(schedule) => {
                    let schedule = product.system_schedule(&schedule);
                    violations.push(Violation { failure, part: part.unwrap_or(0), schedule });
                }
            }
            if !emptiness.wants_each_part() {
                watch.stop(Incomplete::StoppedAtViolation);
                break;
            }
            emptiness.graph.limit(watch.patience());
            found = emptiness.resume();
        }
        let mut outcome = Outcome { incomplete: watch.reasons(), violations, stats: emptiness.stats };
        fill_in(&mut outcome, &mut emptiness, watch, &slot);
        outcome
    }
}

fn fill_in<S: TransitionSystem, V: Visited>(
    outcome: &mut Outcome,
    emptiness: &mut Emptiness<'_, '_, S, V>,
    watch: &Watch<'_>,
    slot: &StoreSlot<V>,
) {
    emptiness.graph.session.release();
    let store = slot.read();
    let stats = &mut outcome.stats;
    stats.seconds = watch.seconds();
    stats.bytes_store = store.bytes() + stats.states * 4;
    stats.bytes_total = stats.bytes_store + stats.bytes_total.max(emptiness.bytes_beside_store());
    stats.bytes_per_state = stats.bytes_store as f64 / stats.states.max(1) as f64;
    stats.collision_probability = store.collision_probability(stats.states);
}
