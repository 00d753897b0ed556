//! The engine against slow and obvious oracles, on thousands of random programs.

use explore::cycle::{Fairness, find_cycle, search_monitored};
use explore::reduce::LeftOut;
use explore::{
    AfterViolation, Bits, Control, Explained, Failure, Key, Monitor, Options, Order, Outcome, Reduction, Selection,
    Step, StoreKind, TransitionSystem, search,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use testkit::{Erased, Program, Shape, Space, random_monitor};
use trace::{Choice, FailureKind, Schedule};

const STATES_MAX: usize = 400;

/// Random programs whose state space is small enough to spell out.
fn programs(count: u64, shape: Shape) -> impl Iterator<Item = (u64, Program, Space<Vec<u8>>)> {
    (0..count).filter_map(move |seed| {
        let program = Program::random(seed, shape);
        Space::build(&program, STATES_MAX).map(|space| (seed, program, space))
    })
}

fn exhaustive() -> Options {
    Options { after_violation: AfterViolation::Continue { states: None }, ..Options::default() }
}

fn failures(outcome: &Outcome) -> BTreeSet<(FailureKind, String)> {
    outcome.violations.iter().map(|violation| (violation.failure.kind, violation.failure.message.clone())).collect()
}

/// Executes every counterexample and checks that it ends in the failure it promises.
fn check_schedules(program: &Program, outcome: &Outcome) {
    let mut scratch = program.scratch();
    for violation in &outcome.violations {
        let mut state = program.initial(&mut scratch);
        let mut last = None;
        for choice in &violation.schedule.choices {
            let explained = program.explain(&mut scratch, &state, *choice).expect("the choice exists");
            (state, last) = (explained.state, explained.failure);
        }
        let found =
            if violation.failure.kind == FailureKind::Deadlock { program.stuck(&mut scratch, &state) } else { last };
        assert_eq!(found.as_ref(), Some(&violation.failure));
    }
}

#[test]
fn every_order_and_store_finds_the_same_states_steps_and_failures() {
    let shape = Shape { meetings: true, ..Shape::default() };
    for (seed, program, space) in programs(1500, shape) {
        let mut lengths = None;
        for store in [StoreKind::Tree, StoreKind::Fingerprint64, StoreKind::Fingerprint128] {
            for order in [Order::Breadth, Order::Depth { seed: None }, Order::Depth { seed: Some(seed) }] {
                let outcome =
                    search(&Erased::new(&program), &Options { order, store, ..exhaustive() }, Control::default());
                assert!(outcome.complete());
                assert_eq!(outcome.stats.states, space.states.len() as u64, "seed {seed} {order:?}");
                assert_eq!(outcome.stats.steps, space.step_count(), "seed {seed} {order:?}");
                assert_eq!(failures(&outcome), space.failures, "seed {seed} {order:?}");
                check_schedules(&program, &outcome);
                if order == Order::Breadth {
                    let found: Vec<usize> = outcome.violations.iter().map(|v| v.schedule.choices.len()).collect();
                    assert_eq!(*lengths.get_or_insert(found.clone()), found);
                }
            }
        }
    }
}

#[test]
fn workers_agree_on_larger_programs() {
    let shape = Shape { threads: 5, operations: 8, variables: 3, ..Shape::default() };
    let mut compared = 0;
    for seed in 0..60 {
        let program = Program::random(seed, shape);
        let one = search(&Erased::new(&program), &exhaustive(), Control::default());
        if one.stats.states < 5_000 || one.stats.states > 200_000 {
            continue;
        }
        compared += 1;
        let three = search(&Erased::new(&program), &Options { workers: 3, ..exhaustive() }, Control::default());
        assert_eq!((one.stats.states, one.stats.steps), (three.stats.states, three.stats.steps), "seed {seed}");
        let lengths = |outcome: &Outcome| -> Vec<_> {
            outcome.violations.iter().map(|v| (v.failure.clone(), v.schedule.choices.len())).collect()
        };
        assert_eq!(lengths(&one), lengths(&three), "seed {seed}");
        check_schedules(&program, &three);
    }
    assert!(compared >= 5, "only {compared} programs were large enough");
}

#[test]
fn reduction_keeps_every_failure_and_stuck_state() {
    let mut smaller = 0;
    for (seed, program, space) in programs(4000, Shape { operations: 5, ..Shape::default() }) {
        let options = Options { reduction: Reduction::Safety, ..exhaustive() };
        let outcome = search(&Erased::new(&program), &options, Control::default());
        assert_eq!(failures(&outcome), space.failures, "seed {seed} {program:?}");
        check_schedules(&program, &outcome);
        smaller += usize::from(outcome.stats.states < space.states.len() as u64);
    }
    assert!(smaller > 500, "only {smaller} programs were reduced");
}

fn ltl_failure() -> Failure {
    Failure { kind: FailureKind::Ltl, message: "the property".into(), fatal: false, property: None }
}

#[test]
fn cycles_are_found_exactly_where_the_oracle_sees_one() {
    let shape = Shape { operations: 3, meetings: true, ..Shape::default() };
    let mut verdicts = [0, 0];
    for (seed, program, space) in programs(1200, shape).filter(|(_, _, space)| space.states.len() < 120) {
        let monitor = random_monitor(seed, 2);
        for fairness in [Fairness::Off, Fairness::Weak] {
            let expected = space.accepts(&program, &monitor, OBSERVER, fairness);
            for store in [StoreKind::Tree, StoreKind::Fingerprint128] {
                let options = Options { store, ..Options::default() };
                let found = find_cycle(
                    &Erased::new(&program),
                    &monitor,
                    OBSERVER,
                    ltl_failure(),
                    fairness,
                    &options,
                    Control::default(),
                )
                .outcome;
                assert_eq!(!found.violations.is_empty(), expected, "seed {seed} {fairness:?} {program:?} {monitor:?}");
                assert_eq!(found.complete(), !expected);
                for violation in &found.violations {
                    check_lasso(&program, &monitor, OBSERVER, fairness, &violation.schedule);
                }
            }
            verdicts[usize::from(expected)] += 1;
        }
    }
    assert!(verdicts[0] > 200 && verdicts[1] > 200, "{verdicts:?}");
}

/// Executes a lasso and checks that the cycle closes, that the monitor accepts it, and that nobody is wronged.
fn check_lasso(program: &Program, monitor: &Monitor, observer: usize, fairness: Fairness, schedule: &Schedule) {
    let Some(start) = schedule.cycle_start else { return };
    let mut scratch = program.scratch();
    let mut states = vec![program.initial(&mut scratch)];
    for choice in &schedule.choices {
        let explained = program.explain(&mut scratch, states.last().unwrap(), *choice).expect("the choice exists");
        states.push(explained.state);
    }
    assert_eq!(states[start], states[schedule.choices.len()], "the cycle closes");
    let mut idle = Bits::EMPTY;
    let mut moved = Bits::EMPTY;
    for (index, choice) in schedule.choices.iter().enumerate().skip(start) {
        idle = idle.union(Bits::ALL.minus(program.enabled(&mut scratch, &states[index])));
        program.steps(&mut scratch, &states[index], Selection::All, &mut |step| {
            if step.choice == *choice {
                moved = moved.union(step.moved);
            }
            ControlFlow::Continue(())
        });
    }
    let stutters = start == schedule.choices.len();
    if stutters {
        assert!(program.enabled(&mut scratch, &states[start]).is_empty(), "only a stuck state repeats");
    }
    assert!(stutters || fairness == Fairness::Off || idle.union(moved) == Bits::ALL, "an actor is wronged");
    // The word is ultimately periodic: a system of a single run, whose product the oracle knows how to decide.
    let word = Word { program, observer, states: states[..schedule.choices.len().max(start + 1)].to_vec(), start };
    let space = Space::build(&word, 10_000).unwrap();
    assert!(space.accepts(&word, monitor, observer, Fairness::Off), "the monitor accepts the lasso");
}

/// A single run as a system.
struct Word<'a> {
    program: &'a Program,
    observer: usize,
    states: Vec<Vec<u8>>,
    start: usize,
}

impl TransitionSystem for Word<'_> {
    type State = [u8; 8];
    type Scratch = Vec<u8>;

    fn scratch(&self) -> Vec<u8> {
        Vec::new()
    }
    fn initial(&self, _: &mut Vec<u8>) -> [u8; 8] {
        [0; 8]
    }
    fn key<'a>(&self, state: &'a [u8; 8]) -> Key<'a> {
        Key::Vector(state)
    }
    fn steps(
        &self,
        _: &mut Vec<u8>,
        state: &[u8; 8],
        _: Selection,
        visit: &mut impl FnMut(Step<'_, [u8; 8]>) -> ControlFlow<()>,
    ) {
        let next = u64::from_le_bytes(*state) as usize + 1;
        let next = if next < self.states.len() { next } else { self.start };
        let state = (next as u64).to_le_bytes();
        let choice = Choice { actor: 0, index: 0 };
        let _ = visit(Step { choice, moved: Bits::one(0), state: &state, failure: None });
    }
    fn stuck(&self, _: &mut Vec<u8>, _: &[u8; 8]) -> Option<Failure> {
        None
    }
    fn observe(&self, scratch: &mut Vec<u8>, state: &[u8; 8], _: usize) -> Result<u64, Failure> {
        self.program.observe(scratch, &self.states[u64::from_le_bytes(*state) as usize], self.observer)
    }
    fn explain(&self, _: &mut Vec<u8>, _: &[u8; 8], _: Choice) -> Option<Explained<[u8; 8]>> {
        None
    }
    fn actor_name(&self, _: &[u8; 8], _: u32) -> String {
        String::new()
    }
}

/// For each program and monitor: the verdict of the oracle and the outcome under a reduction.
fn reduced_verdicts(reduction: Reduction, mut check: impl FnMut(u64, &Program, &Monitor, bool, &Outcome)) {
    let monitors = stutter_insensitive();
    let options = Options { reduction, ..Options::default() };
    for (seed, program, space) in programs(1000, Shape { operations: 5, variables: 3, ..Shape::default() }) {
        if space.states.len() > 150 {
            continue;
        }
        for monitor in &monitors {
            let expected = space.accepts(&program, monitor, OBSERVER, Fairness::Off);
            let found = find_cycle(
                &Erased::new(&program),
                monitor,
                OBSERVER,
                ltl_failure(),
                Fairness::Off,
                &options,
                Control::default(),
            );
            check(seed, &program, monitor, expected, &found.outcome);
        }
    }
}

/// Two of three variables, whether they are 1: the rest may be reduced.
const OBSERVER: usize = 21;

#[test]
fn reduction_keeps_the_verdict_of_properties_without_next_time() {
    let mut reduced = 0;
    let mut verdicts = [0, 0];
    reduced_verdicts(Reduction::Observed(OBSERVER), |seed, program, monitor, expected, outcome| {
        assert_eq!(!outcome.violations.is_empty(), expected, "seed {seed} {program:?} {monitor:?}");
        for violation in &outcome.violations {
            check_lasso(program, monitor, OBSERVER, Fairness::Off, &violation.schedule);
        }
        reduced += outcome.stats.reduced;
        verdicts[usize::from(expected)] += 1;
    });
    assert!(reduced > 5_000 && verdicts[0] > 300 && verdicts[1] > 300, "{reduced} {verdicts:?}");
}

#[test]
fn a_reduction_that_ignores_visibility_changes_verdicts() {
    let mut wrong = 0;
    reduced_verdicts(Reduction::Broken(LeftOut::Visibility), |_, _, _, expected, outcome| {
        wrong += usize::from(outcome.violations.is_empty() == expected);
    });
    assert!(wrong > 0);
}

#[test]
fn a_reduction_that_ignores_cycles_loses_failures() {
    let mut wrong = 0;
    for (_, program, space) in programs(2000, Shape { operations: 5, ..Shape::default() }) {
        let options = Options { reduction: Reduction::Broken(LeftOut::Cycles), ..exhaustive() };
        wrong += usize::from(failures(&search(&Erased::new(&program), &options, Control::default())) != space.failures);
    }
    assert!(wrong > 0);
}

/// Monitors of formulas without next-time, over propositions 0 and 1.
fn stutter_insensitive() -> Vec<Monitor> {
    let (p, q) = (|| ltl::Formula::Atom(0), || ltl::Formula::Atom(1));
    let formulas = [
        p().globally().finally(),
        p().implies(q().finally()).globally(),
        p().until(q()),
        p().and(q().and(p().finally()).finally()).finally(),
        p().not().finally().globally().implies(p().until(q())),
    ];
    let automata = formulas.into_iter().map(|formula| ltl::translate(&formula.not()).unwrap());
    let mut monitors: Vec<Monitor> = automata.map(|automaton| remapped(&automaton)).collect();
    monitors.extend([Monitor::again_and_again(0), Monitor::never_again(0), Monitor::never_again(1)]);
    monitors
}

/// The monitor of an automaton that reads proposition k in bit k.
fn remapped(automaton: &ltl::Automaton) -> Monitor {
    let mut monitor = Monitor::from(automaton);
    let map = |mask: u64| (0..automaton.propositions.len()).map(|k| (mask >> k & 1) << automaton.propositions[k]).sum();
    for edge in monitor.states.iter_mut().flat_map(|state| &mut state.edges) {
        (edge.must_hold, edge.must_fail) = (map(edge.must_hold), map(edge.must_fail));
    }
    monitor
}

#[test]
fn shortest_violations_on_arrival_are_found_by_breadth() {
    for (seed, program, space) in programs(600, Shape::default()) {
        let mut monitor = random_monitor(seed, 2);
        if let Some(last) = monitor.states.last_mut() {
            last.violates = true;
        }
        monitor.acceptance_sets = 64;
        let expected = monitor.states.len() > 1 && space.accepts(&program, &monitor, OBSERVER, Fairness::Off);
        if monitor.states.len() == 1 {
            continue;
        }
        let found = search_monitored(
            &Erased::new(&program),
            &monitor,
            OBSERVER,
            ltl_failure(),
            &Options::default(),
            Control::default(),
        );
        assert_eq!(!found.outcome.violations.is_empty(), expected, "seed {seed}");
    }
}
