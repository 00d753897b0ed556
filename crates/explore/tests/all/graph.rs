//! The search of the graph, feature by feature, on programs that can be followed by hand.

use crate::toy::classics::{self, Buffer};
use crate::toy::code::Compare::Equal;
use crate::toy::code::{Op, Value};
use crate::toy::machine::State;
use crate::toy::{Machine, Program, generate};
use explore::graph::{Bound, FootprintSystem, Limits, Mode, Options, Reached, Report, Stopped, search_with};
use std::collections::BTreeSet;
use trace::{Choice, FailureKind};

fn graph(program: &Program, options: Options) -> Report {
    let mut stop = |_: u64, _: u64| false;
    let mut limits = Limits { states: 100_000, failures: usize::MAX, stop: &mut stop };
    search_with(&mut Machine::new(program.clone()), options, &mut limits)
}

fn plainly(program: &Program, mode: Mode) -> Report {
    let report = graph(program, Options::new(mode));
    assert!(report.complete, "{:?}", report.stopped);
    report
}

fn kinds(report: &Report) -> BTreeSet<FailureKind> {
    report.found.iter().map(|found| found.failure.kind).collect()
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

fn store(var: usize, value: i8) -> Op {
    Op::Store { var, value: Value::Is(value) }
}

#[test]
fn a_full_search_executes_every_step_once() {
    let report = plainly(&classics::philosophers(4, false), Mode::Full);
    assert_eq!((report.executed, report.counts.tried, report.counts.again), (report.steps, 0, 0));
}

#[test]
fn a_reduced_search_leaves_out_states_and_nothing_that_matters() {
    for program in [classics::philosophers(5, false), classics::remote_agent(2, false)] {
        let (full, reduced) = (plainly(&program, Mode::Full), plainly(&program, Mode::Reduced));
        assert_eq!((kinds(&full), &full.ends), (kinds(&reduced), &reduced.ends));
        assert!(reduced.states < full.states, "{} of {}", reduced.states, full.states);
        assert!(reduced.counts.pruned > 0 && full.counts.pruned == 0);
    }
}

#[test]
fn a_search_that_keeps_nothing_sees_the_same() {
    let program = classics::remote_agent(2, true);
    let usual = graph(&program, Options::new(Mode::Reduced));
    let poor = graph(&program, Options { snapshots: 0, trials: 0, ..Options::new(Mode::Reduced) });
    assert!(poor.counts.again > 0);
    assert_eq!((usual.ends, usual.found, usual.states), (poor.ends, poor.found, poor.states));
}

#[test]
fn a_restored_state_restores_its_ancestors_too() {
    let program = classics::remote_agent(3, false);
    let search = |snapshots| graph(&program, Options { snapshots, trials: 0, ..Options::new(Mode::Reduced) });
    let (usual, few) = (search(10_000), search(8));
    // 480 steps; 809 where the states on the way to the one that was asked for are dropped.
    assert!(usual.counts.again == 0 && (1..600).contains(&few.counts.again), "{}", few.counts.again);
    assert_eq!((usual.ends, usual.found, usual.states), (few.ends, few.found, few.states));
}

#[test]
fn a_bound_is_kept_and_what_is_within_it_is_found() {
    // One philosopher is interrupted; the others run into each other in turn. In the order of numbers all but one must be
    // passed over.
    let program = classics::philosophers(4, false);
    for (bound, least) in [(Bound::Preemptions as fn(u32) -> Bound, 1), (Bound::Delays, 3)] {
        assert!(plainly(&program, Mode::Bounded(bound(least - 1))).found.is_empty());
        assert_eq!(kinds(&plainly(&program, Mode::Bounded(bound(least)))), [FailureKind::Deadlock].into());
    }
}

#[test]
fn a_bound_that_is_never_reached_bounds_nothing() {
    let program = classics::buffer(Buffer::Signal, 2, 1);
    let full = plainly(&program, Mode::Full);
    for bound in [Bound::Preemptions(50), Bound::Delays(200)] {
        let bounded = plainly(&program, Mode::Bounded(bound));
        assert_eq!((full.states, &full.ends), (bounded.states, &bounded.ends));
    }
}

#[test]
fn every_counterexample_leads_where_it_says() {
    for mode in [Mode::Full, Mode::Reduced, Mode::Bounded(Bound::Preemptions(2))] {
        for program in [classics::philosophers(3, false), classics::buffer(Buffer::If, 2, 1)] {
            let report = plainly(&program, mode);
            assert!(!report.found.is_empty());
            assert!(report.found.iter().all(|found| replay(&program, &found.schedule) == found.fingerprint));
        }
    }
}

#[test]
fn a_limit_of_states_or_memory_ends_a_search_and_says_so() {
    let program = classics::philosophers(5, false);
    let mut stop = |_: u64, _: u64| false;
    let mut limits = Limits { states: 10, failures: usize::MAX, stop: &mut stop };
    let report = search_with(&mut Machine::new(program.clone()), Options::new(Mode::Full), &mut limits);
    assert_eq!((report.complete, report.stopped), (false, Some(Stopped::States)));
    assert!(report.counts.left > 0);
    let report = graph(&program, Options { bytes: 100_000, ..Options::new(Mode::Full) });
    assert_eq!((report.complete, report.stopped), (false, Some(Stopped::Memory)));
}

#[test]
fn a_deadlock_is_inevitable_from_the_step_that_closes_the_last_way_out() {
    let first = vec![Op::Load { var: 1, into: 0 }, store(0, 1), Op::Load { var: 1, into: 0 }, Op::End];
    let second = vec![Op::Await(vec![(0, Equal, 0)]), Op::End];
    let program = Program { threads: vec![first, second], born: 2, vars: vec![0; 2], ..Program::default() };
    for mode in [Mode::Full, Mode::Reduced] {
        let report = plainly(&program, mode);
        let [found] = &report.found[..] else { panic!("one deadlock") };
        assert_eq!((found.schedule.len(), found.inevitable_from), (3, Some(2)));
    }
}

/// Whether a good end or an endless run can be reached: everything behind a state, followed on foot.
fn can_be_saved(
    machine: &mut Machine,
    reached: &Reached<State>,
    way: &mut Vec<u128>,
    lost: &mut BTreeSet<u128>,
) -> bool {
    if way.contains(&reached.fingerprint) || reached.state.is_over() {
        return true;
    }
    if !lost.insert(reached.fingerprint) {
        return false;
    }
    way.push(reached.fingerprint);
    let choices = reached.actors.iter().flat_map(|actor| (0..actor.choices).map(|index| (actor.number, index)));
    let saved = choices.into_iter().any(|(actor, index)| {
        let taken = machine.step(&reached.state, Choice { actor, index }).expect("it can move");
        taken.failure.is_none() && can_be_saved(machine, &taken.reached, way, lost)
    });
    way.pop();
    saved
}

#[test]
fn what_is_called_inevitable_is_and_what_comes_before_is_not() {
    let mut inevitable = 0;
    for seed in 0..200 {
        let (program, _) = generate::program(seed);
        let mut stop = |_: u64, _: u64| false;
        let failures = if seed % 2 == 0 { 1 } else { usize::MAX };
        let mut limits = Limits { states: 2_000, failures, stop: &mut stop };
        let mut machine = Machine::new(program);
        let report = search_with(&mut machine, Options::new(Mode::Reduced), &mut limits);
        for found in &report.found {
            let from = found.inevitable_from.expect("graphs show it");
            let mut reached = machine.initial();
            for (steps, choice) in found.schedule.iter().enumerate().take(from + 1) {
                let saved = can_be_saved(&mut machine, &reached, &mut Vec::new(), &mut BTreeSet::new());
                assert!(saved || steps >= from || !report.complete, "program {seed}");
                assert!(!saved || steps < from, "program {seed}");
                reached = machine.step(&reached.state, *choice).expect("it was a step").reached;
            }
            inevitable += usize::from(from < found.schedule.len());
        }
    }
    assert!(inevitable > 20, "{inevitable}");
}

#[test]
fn visible_steps_keep_their_order() {
    let threads = (0..3).map(|var| vec![store(var, 1), Op::End]).collect();
    let program = Program { threads, born: 3, vars: vec![0; 3], ..Program::default() };
    assert_eq!(plainly(&program, Mode::Reduced).states, 4);
    let watched = Program { watched: true, ..program };
    assert_eq!(plainly(&watched, Mode::Reduced).states, plainly(&watched, Mode::Full).states);
}

/// Spins until the variable is 1.
fn spinner() -> Vec<Op> {
    vec![Op::Load { var: 0, into: 0 }, Op::Branch { register: 0, compare: Equal, value: 0, to: 0 }, Op::End]
}

#[test]
fn waiting_for_ever_for_what_nobody_does_is_a_livelock() {
    let program = Program {
        threads: vec![spinner(), vec![store(1, 1), Op::End]],
        born: 2,
        vars: vec![0; 2],
        ..Program::default()
    };
    for mode in [Mode::Full, Mode::Reduced] {
        let report = plainly(&program, mode);
        let [livelock] = &report.livelocks[..] else { panic!("{:?}", report.livelocks) };
        assert_eq!(livelock.actors, [0]);
        let around: Vec<Choice> = livelock.stem.iter().chain(&livelock.cycle).copied().collect();
        assert_eq!(replay(&program, &livelock.stem), replay(&program, &around));
    }
}

#[test]
fn waiting_for_a_step_that_fairness_ensures_is_no_livelock() {
    let program = Program {
        threads: vec![spinner(), vec![store(0, 1), Op::End]],
        born: 2,
        vars: vec![0; 2],
        ..Program::default()
    };
    for mode in [Mode::Full, Mode::Reduced] {
        assert_eq!(plainly(&program, mode).livelocks, []);
    }
}

#[test]
fn a_lock_that_is_held_needs_no_alternatives() {
    let body = |word: usize| {
        let put = |word: usize| Op::Put { word, value: Value::Is(1) };
        vec![Op::Lock(0), put(word), Op::Signal(0), Op::Unlock(0), Op::End]
    };
    let program = Program {
        threads: (0..3).map(body).collect(),
        born: 3,
        words: vec![0; 3],
        mutexes: 1,
        queues: 1,
        ..Program::default()
    };
    let report = plainly(&program, Mode::Reduced);
    // Six orders of taking the lock, and behind each of them no choice at all.
    assert_eq!(report.counts.scheduling - report.counts.partial, 4);
    assert_eq!(report.races, []);
}
