//! Random schedules: what they find is real, the same seed finds the same, and what is said about the rest is right.

use crate::toy::classics::{self, Buffer};
use crate::toy::code::{Op, Value};
use crate::toy::{Machine, Program, generate};
use explore::graph::{self, FootprintSystem, Mode, Stopped};
use explore::sample::{Limits, Options, Report, Strategy, sample, shrink};
use std::collections::BTreeSet;
use trace::{Choice, FailureKind};

const ALL: [Strategy; 5] =
    [Strategy::Walk, Strategy::Priorities(3), Strategy::Steps, Strategy::Weights, Strategy::Novelty];

fn sampled(program: &Program, options: &Options) -> Report {
    let mut stop = |_: u64, _: u64| false;
    let mut limits = Limits { failures: usize::MAX, stop: &mut stop };
    sample(&mut Machine::new(program.clone()), options, &mut limits)
}

fn full(program: &Program) -> Option<graph::Report> {
    let mut stop = |_: u64, _: u64| false;
    let mut limits = graph::Limits { states: 3_000, failures: usize::MAX, stop: &mut stop };
    let report = graph::search(&mut Machine::new(program.clone()), Mode::Full, &mut limits);
    report.complete.then_some(report)
}

/// Where a schedule leads.
fn replay(program: &Program, schedule: &[Choice]) -> u128 {
    let mut machine = Machine::new(program.clone());
    let mut reached = machine.initial();
    for choice in schedule {
        reached = machine.step(&reached.state, *choice).expect("it was a step").reached;
    }
    reached.fingerprint
}

#[test]
fn every_strategy_finds_the_bugs_of_the_classics() {
    let bugs = [
        (classics::philosophers(3, false), FailureKind::Deadlock),
        (classics::buffer(Buffer::If, 2, 2), FailureKind::Assert),
        (classics::buffer(Buffer::Signal, 2, 2), FailureKind::Deadlock),
        (classics::remote_agent(2, true), FailureKind::Deadlock),
    ];
    for (program, kind) in &bugs {
        for strategy in ALL {
            let options = Options { strategy: Some(strategy), runs: 400, shrink: false, ..Options::default() };
            let mut stop = |_: u64, _: u64| false;
            let mut limits = Limits { failures: 1, stop: &mut stop };
            let report = sample(&mut Machine::new(program.clone()), &options, &mut limits);
            assert!(report.found.iter().any(|found| found.failure.kind == *kind), "{strategy:?} misses {kind:?}");
            assert!(report.found.iter().all(|found| replay(program, &found.schedule) == found.fingerprint));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let program = classics::treiber(2);
    let report = |seed| sampled(&program, &Options { seed, runs: 100, ..Options::default() });
    assert_eq!(report(5), report(5));
    assert_ne!(report(5), report(6));
}

#[test]
fn a_found_deadlock_is_shrunk_to_the_one_preemption_that_it_needs() {
    let program = classics::philosophers(4, false);
    let report = sampled(&program, &Options { shrink: false, runs: 200, ..Options::default() });
    let found = report.found.first().expect("there is one");
    let shrunk = shrink(&mut Machine::new(program.clone()), &found.schedule, &found.failure);
    assert_eq!((shrunk.preemptions, shrunk.schedule.len()), (1, 4));
    assert_eq!(Some(replay(&program, &shrunk.schedule)), shrunk.fingerprint);
}

#[test]
fn samples_without_failure_bound_it_only_where_runs_are_independent() {
    let report = sampled(&classics::philosophers(4, true), &Options { runs: 1000, ..Options::default() });
    assert_eq!((report.found.len(), report.cut), (0, 0));
    assert_eq!(report.tallies.iter().map(|tally| tally.runs).sum::<u64>(), 1000);
    for tally in &report.tallies {
        let independent = matches!(tally.strategy, Strategy::Walk | Strategy::Steps);
        assert_eq!(tally.below, independent.then(|| 3.0 / tally.runs as f64), "{tally:?}");
    }
    let report = sampled(&classics::philosophers(4, false), &Options { runs: 1000, ..Options::default() });
    assert!(report.tallies.iter().all(|tally| tally.failed == 0 || tally.below.is_none()));
}

#[test]
fn classes_are_those_that_a_search_counts() {
    let report = sampled(&classics::philosophers(4, true), &Options { runs: 3000, ..Options::default() });
    assert_eq!((report.classes, report.unseen), (14, Some(0.0)));
}

#[test]
fn the_number_of_schedules_is_estimated_without_bias() {
    let thread = |var: usize, stores: usize| {
        let mut ops = vec![Op::Store { var, value: Value::Is(1) }; stores];
        ops.push(Op::End);
        ops
    };
    let program =
        Program { threads: vec![thread(0, 5), thread(1, 5)], born: 2, vars: vec![0; 2], ..Program::default() };
    let options = Options { strategy: Some(Strategy::Walk), runs: 4000, ..Options::default() };
    let estimate = sampled(&program, &options).schedules.expect("enough runs");
    // Ten over five.
    assert!((estimate.log10 - 252_f64.log10()).abs() < 0.05, "{estimate:?}");
    assert!(estimate.log10_low < estimate.log10 && estimate.log10 < estimate.log10_high);
}

#[test]
fn endless_runs_are_cut_and_a_failure_can_be_enough() {
    let endless = vec![Op::Load { var: 0, into: 0 }, Op::Jump(0)];
    let program = Program { threads: vec![endless], born: 1, vars: vec![0], ..Program::default() };
    let report = sampled(&program, &Options { runs: 40, depth: 50, ..Options::default() });
    assert_eq!((report.cut, report.classes, report.schedules), (40, 0, None));
    let mut stop = |_: u64, _: u64| false;
    let mut limits = Limits { failures: 1, stop: &mut stop };
    let mut machine = Machine::new(classics::philosophers(3, false));
    let report = sample(&mut machine, &Options::default(), &mut limits);
    assert_eq!((report.found.len(), report.stopped), (1, Some(Stopped::Failures)));
}

#[test]
fn what_samples_of_random_programs_find_is_real() {
    let (mut failing, mut found) = (0, 0);
    for seed in 0..30 {
        let (program, _) = generate::program(seed);
        let Some(full) = full(&program) else { continue };
        let report = sampled(&program, &Options { seed, runs: 60, depth: 100, ..Options::default() });
        let all: BTreeSet<_> = full.found.iter().map(|found| &found.failure.message).collect();
        assert!(report.found.iter().all(|found| all.contains(&found.failure.message)), "program {seed}");
        assert!(report.found.iter().all(|found| replay(&program, &found.schedule) == found.fingerprint));
        assert!(report.ends.iter().all(|end| full.ends.contains(end)), "program {seed}");
        // States after a fatal failure are counted by the one and not by the other.
        assert!(report.states <= full.states, "program {seed}");
        failing += all.len();
        found += report.found.len();
    }
    assert!(found * 10 > failing * 9, "{found} of {failing}");
}

#[test]
fn a_run_without_end_is_abandoned_when_the_caller_stops() {
    let thread = vec![Op::Store { var: 0, value: Value::Is(1) }, Op::Jump(0)];
    let program = Program { threads: vec![thread], born: 1, vars: vec![0], ..Program::default() };
    let mut stop = |_: u64, executed: u64| executed > 500;
    let mut limits = Limits { failures: usize::MAX, stop: &mut stop };
    let options = Options { depth: usize::MAX, ..Options::default() };
    let report = sample(&mut Machine::new(program), &options, &mut limits);
    assert_eq!((report.runs, report.cut, report.stopped), (0, 0, Some(Stopped::Asked)));
    assert!(report.gave_up && report.schedules.is_none() && report.tallies.iter().all(|tally| tally.runs == 0));
    assert!((500..5_000).contains(&report.executed), "{}", report.executed);
}
