//! Exact counts and honest ends of searches over toy systems.

use explore::{Control, Incomplete, Options, Order, Outcome, StoreKind, TransitionSystem, search};
use testkit::Counters;

fn run<S: TransitionSystem>(system: &S, options: &Options) -> Outcome {
    search(system, options, Control::default())
}

const STORES: [StoreKind; 3] = [StoreKind::Tree, StoreKind::Fingerprint64, StoreKind::Fingerprint128];

/// Every combination of order, store and workers.
fn all_options() -> Vec<Options> {
    let mut all = Vec::new();
    for store in STORES {
        for workers in [1, 2, 4] {
            all.push(Options { store, workers, ..Options::default() });
        }
        for seed in [None, Some(7)] {
            all.push(Options { store, order: Order::Depth { seed }, ..Options::default() });
        }
    }
    all
}

#[test]
fn every_order_store_and_worker_count_gives_the_same_counts() {
    let system = Counters { stride: 5, ..Counters::new(5, 9) };
    for options in all_options() {
        let outcome = run(&system, &options);
        assert!(outcome.complete(), "{options:?}");
        assert_eq!(outcome.stats.states, system.state_count(), "{options:?}");
        assert_eq!(outcome.stats.steps, system.step_count(), "{options:?}");
        assert_eq!(outcome.stats.matched, system.step_count() - system.state_count() + 1, "{options:?}");
    }
}

#[test]
fn breadth_first_finds_the_shortest_counterexample_with_any_store_and_worker_count() {
    let system = Counters { forbidden: Some(3), ..Counters::new(6, 6) };
    for options in all_options().into_iter().filter(|options| options.order == Order::Breadth) {
        let outcome = run(&system, &options);
        assert_eq!(outcome.incomplete, [Incomplete::StoppedAtViolation]);
        assert_eq!(outcome.violations.len(), 1);
        assert_eq!(outcome.violations[0].schedule.choices.len(), 18, "{options:?}");
    }
}
