//! Exact counts and honest ends of searches over toy systems.

use explore::cycle::{Fairness, Monitor, find_cycle};
use explore::{
    AfterViolation, Bounds, Control, Failure, Incomplete, Options, Order, Outcome, Progress, Reduction, Sampling,
    StoreKind, TransitionSystem, search, swarm, walk,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use testkit::{Counters, Erased, Heavy, Philosophers};
use trace::FailureKind;

fn run<S: TransitionSystem<State = Vec<u8>, Scratch = Vec<u8>>>(system: &S, options: &Options) -> Outcome {
    search(&Erased::new(system), options, Control::default())
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

/// States of n philosophers: each of the 3^n combinations in which no two neighbours hold the same fork.
fn philosopher_states(count: u32) -> u64 {
    let valid = |mut code: u64| {
        let held: Vec<u64> = (0..count)
            .map(|_| {
                let digit = code % 3;
                code /= 3;
                digit
            })
            .collect();
        (0..count as usize).all(|i| !(held[i] == 2 && held[(i + 1) % count as usize] > 0))
    };
    (0..3_u64.pow(count)).filter(|code| valid(*code)).count() as u64
}

#[test]
fn philosophers_have_the_counted_states_and_one_shortest_deadlock() {
    let going_on = AfterViolation::Continue { states: None };
    for count in 2..9 {
        let system = Philosophers { count, polite: false };
        let outcome = run(&system, &Options { after_violation: going_on, ..Options::default() });
        assert!(outcome.complete());
        assert_eq!(outcome.stats.states, philosopher_states(count), "{count} philosophers");
        assert_eq!(outcome.violations.len(), 1);
        assert_eq!(outcome.violations[0].schedule.choices.len(), count as usize);
        assert_eq!(run(&Philosophers { count, polite: true }, &Options::default()).violations, []);
    }
}

#[test]
fn reduction_of_independent_counters_leaves_one_path() {
    let system = Counters { may_end: false, ..Counters::new(6, 4) };
    let outcome = run(&system, &Options { reduction: Reduction::Safety, ..Options::default() });
    assert_eq!(outcome.stats.states, 6 * 4 + 1);
    assert_eq!(outcome.violations.len(), 1);
}

#[test]
fn heavy_states_are_searched_by_fingerprint_and_traced_by_execution() {
    let system = Heavy { actors: 3, end: 5, may_end: false };
    for workers in [1, 3] {
        let outcome = search(&system, &Options { workers, ..Options::default() }, Control::default());
        assert_eq!(outcome.stats.states, 6 * 6 * 6);
        assert_eq!(outcome.violations[0].schedule.choices.len(), 15);
        assert!(outcome.stats.collision_probability > 0.0 && outcome.stats.collision_probability < 1e-30);
    }
}

#[test]
fn memory_that_runs_out_ends_the_search_without_a_verdict() {
    let system = Counters { stride: 4, ..Counters::new(6, 20) };
    for options in all_options() {
        let bounds = Bounds { bytes: Some(2 << 20), ..Bounds::default() };
        let outcome = run(&system, &Options { bounds, ..options.clone() });
        assert_eq!(outcome.incomplete, [Incomplete::Memory], "{options:?}");
        assert!(outcome.stats.states > 1000 && outcome.stats.states < system.state_count());
        assert!(outcome.stats.bytes_store <= 2 << 20, "{options:?} {:?}", outcome.stats);
    }
}

#[test]
fn a_depth_bound_is_named_unless_nothing_lies_beyond_it() {
    let system = Counters { may_end: false, ..Counters::new(3, 4) };
    for order in [Order::Breadth, Order::Depth { seed: None }] {
        let at = |depth| {
            let bounds = Bounds { depth: Some(depth), ..Bounds::default() };
            let after_violation = AfterViolation::Continue { states: None };
            run(&system, &Options { order, bounds, after_violation, ..Options::default() })
        };
        let cut = at(11);
        // Depth first, what lies within the bound may have been missed, too.
        let reason = if order == Order::Breadth { Incomplete::DepthBound } else { Incomplete::TurnedBack };
        assert_eq!((cut.incomplete, cut.violations.len(), cut.stats.depth_max), (vec![reason], 0, 11));
        let whole = at(12);
        assert_eq!((whole.incomplete, whole.violations.len(), whole.stats.depth_max), (vec![], 1, 12));
    }
}

#[test]
fn other_bounds_are_named_too() {
    let system = Counters::new(6, 9);
    let bounded = |bounds| run(&system, &Options { bounds, ..Options::default() }).incomplete;
    assert_eq!(bounded(Bounds { states: Some(5000), ..Bounds::default() }), [Incomplete::StateBound]);
    assert_eq!(bounded(Bounds { time: Some(Duration::ZERO), ..Bounds::default() }), [Incomplete::Time]);
}

#[test]
fn an_interrupted_search_says_what_it_has_seen() {
    let system = Counters::new(6, 30);
    let interrupt = Arc::new(AtomicBool::new(false));
    let progress = |progress: &Progress| {
        assert!(progress.states > 0 && progress.bytes > 0);
        interrupt.store(true, Relaxed);
    };
    for order in [Order::Breadth, Order::Depth { seed: None }] {
        interrupt.store(false, Relaxed);
        let control = Control { interrupt: Some(&interrupt), progress: Some(&progress), ..Control::default() };
        let outcome = search(&Erased::new(&system), &Options { order, ..Options::default() }, control);
        assert_eq!(outcome.incomplete, [Incomplete::Interrupted]);
        assert!(outcome.stats.states > 0);
    }
}

#[test]
fn going_on_after_a_violation_can_be_bounded() {
    let system = Counters { forbidden: Some(1), ..Counters::new(6, 20) };
    let after_violation = AfterViolation::Continue { states: Some(10_000) };
    let outcome = run(&system, &Options { after_violation, ..Options::default() });
    assert_eq!(outcome.violations.len(), 1);
    assert_eq!(outcome.incomplete, [Incomplete::StoppedAtViolation]);
    assert!(outcome.stats.states < 20_000);
}

#[test]
fn the_same_is_found_with_any_number_of_workers() {
    // Very many shortest schedules lead there, through levels of thousands of states.
    let system = Counters { forbidden: Some(4), ..Counters::new(6, 7) };
    for store in STORES {
        for after_violation in [AfterViolation::Stop, AfterViolation::Continue { states: Some(1000) }] {
            let with = |workers| {
                let outcome = run(&system, &Options { workers, store, after_violation, ..Options::default() });
                let stats = outcome.stats;
                (outcome.violations, outcome.incomplete, stats.states, stats.steps, stats.matched, stats.depth_max)
            };
            let alone = with(1);
            assert_eq!(alone.0.len(), 1);
            for workers in [2, 3, 8] {
                assert_eq!(with(workers), alone, "{workers} workers, {store:?}, {after_violation:?}");
            }
        }
    }
}

#[test]
fn a_failure_that_lies_deep_is_found_by_looking_ahead() {
    // Breadth first, fifty million states come before it.
    let system = Counters { may_end: false, ..Counters::new(10, 6) };
    let bounds = Bounds { states: Some(2_000_000), ..Bounds::default() };
    let options = Options { bounds, probes: true, workers: 2, ..Options::default() };
    let outcome = run(&system, &options);
    assert_eq!(outcome.incomplete, [Incomplete::StoppedAtViolation]);
    assert_eq!(outcome.violations[0].failure.kind, FailureKind::Deadlock);
    assert_eq!(run(&system, &Options { probes: false, ..options }).violations, []);
}

#[test]
fn ignored_failures_are_passed_over() {
    let system = Counters { forbidden: Some(1), may_end: false, ..Counters::new(3, 2) };
    let outcome = run(&system, &Options { ignored: vec![FailureKind::Assert], ..Options::default() });
    assert_eq!(outcome.violations[0].failure.kind, FailureKind::Deadlock);
}

#[test]
fn bitstate_says_that_it_is_a_sample_and_how_full_it_is() {
    let system = Counters { may_end: false, ..Counters::new(5, 9) };
    let bounds = Bounds { bytes: Some(1 << 24), ..Bounds::default() };
    let options = Options { store: StoreKind::Bitstate { hashes: 3 }, bounds, ..Options::default() };
    let outcome = run(&system, &options);
    assert!(outcome.incomplete.contains(&Incomplete::Sampled));
    assert_eq!(outcome.violations[0].schedule.choices.len(), 45);
    let fill = outcome.stats.fill.unwrap();
    assert!(fill > 0.0 && fill < 0.1, "{fill}");
}

#[test]
fn walks_and_swarms_repeat_with_their_seed_for_any_number_of_workers() {
    let system = Counters { forbidden: Some(2), ..Counters::new(3, 4) };
    let sampling = Sampling { runs: 200, depth: 50, seed: 11 };
    let one = walk(&Erased::new(&system), sampling, &Options::default(), Control::default());
    let many = walk(&Erased::new(&system), sampling, &Options { workers: 3, ..Options::default() }, Control::default());
    assert_eq!(one.violations, many.violations);
    assert_eq!(one.violations.len(), 1);
    assert!(one.incomplete.contains(&Incomplete::Sampled));
    let bounds = Bounds { bytes: Some(1 << 20), ..Bounds::default() };
    let one = swarm(&Erased::new(&system), sampling, &Options { bounds, ..Options::default() }, Control::default());
    assert_eq!(one.violations.len(), 1);
    assert!(one.incomplete.contains(&Incomplete::Sampled) && one.stats.fill.is_some());
}

#[test]
fn a_walk_without_violations_is_no_proof() {
    let sampling = Sampling { runs: 10, depth: 5, seed: 1 };
    let outcome = walk(&Erased::new(&Counters::new(3, 4)), sampling, &Options::default(), Control::default());
    assert_eq!((outcome.incomplete, outcome.violations), (vec![Incomplete::Sampled], vec![]));
    assert!(outcome.stats.steps == 50 && outcome.stats.states > 10);
}

fn starving() -> Failure {
    Failure {
        kind: FailureKind::Ltl,
        message: "philosopher 0 eats again and again".into(),
        fatal: false,
        property: None,
    }
}

#[test]
fn a_philosopher_may_starve_and_fairness_does_not_help_against_neighbours() {
    let system = Philosophers { count: 3, polite: true };
    for fairness in [Fairness::Off, Fairness::Weak] {
        let found = find_cycle(
            &Erased::new(&system),
            &Monitor::never_again(0),
            0,
            starving(),
            fairness,
            &Options::default(),
            Control::default(),
        );
        let schedule = &found.outcome.violations[0].schedule;
        let cycle = &schedule.choices[schedule.cycle_start.unwrap()..];
        assert!(!cycle.is_empty());
        let others = cycle.iter().filter(|choice| choice.actor != 0).count();
        assert!(fairness == Fairness::Off || others > 0);
    }
}

#[test]
fn fairness_makes_counters_end_where_nobody_else_runs_for_ever() {
    // Without fairness nothing changes: counters end on every run, since no run is endless.
    let monitor = Monitor::never_again(0);
    for fairness in [Fairness::Off, Fairness::Weak] {
        let found = find_cycle(
            &Erased::new(&Counters::new(2, 3)),
            &monitor,
            0,
            starving(),
            fairness,
            &Options::default(),
            Control::default(),
        );
        assert!(found.outcome.complete() && found.outcome.violations.is_empty());
        assert!(found.reached.iter().flatten().any(|reached| *reached));
    }
}

#[test]
fn a_cycle_search_keeps_its_bounds() {
    let system = Heavy { actors: 3, end: 20, may_end: true };
    let bounds = Bounds { states: Some(500), ..Bounds::default() };
    let options = Options { bounds, ..Options::default() };
    let never = Monitor::never_again(0);
    let found = find_cycle(&system, &never, 0, starving(), Fairness::Off, &options, Control::default());
    assert_eq!(found.outcome.incomplete, [Incomplete::StateBound]);
    let bounds = Bounds { bytes: Some(1 << 18), ..Bounds::default() };
    let options = Options { bounds, ..Options::default() };
    let system = Counters::new(5, 20);
    let found = find_cycle(&Erased::new(&system), &never, 0, starving(), Fairness::Off, &options, Control::default());
    assert_eq!(found.outcome.incomplete, [Incomplete::Memory]);
}
