//! Everything that makes a check fast against plain, unreduced interpretation, on thousands of random models.
//!
//! `MODELS=20000 cargo nextest run -p promela --test agreement` looks further than CI does; a failure names the seed,
//! and the model's text is printed.

use explore::reduce::Reducer;
use explore::{
    AfterViolation, Control, Fairness, Options, Order, Outcome, Reduction, Selection, StoreKind, TransitionSystem,
    find_cycle, search,
};
use promela::parse::{ParseOptions, parse_text};
use promela::property::{self, RunProperty};
use promela::run::{Code, Interpreter, System};
use promela::unread::without_unread;
use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use testkit::Space;
use testkit::random_model::{Spice, random_model};
use trace::FailureKind;

const STATES_MAX: usize = 400;
/// The product spelt out grows with the square of the states.
const PRODUCT_STATES_MAX: usize = 90;

fn models(default: u64) -> u64 {
    std::env::var("MODELS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn load<C: Code>(text: &str, code: impl FnOnce(&promela::ir::Model) -> C) -> System<C> {
    let parsed = parse_text("random.pml", text, &ParseOptions::default())
        .unwrap_or_else(|failure| panic!("{}\n{text}", failure.diagnostics[0].message));
    let (model, _) = promela::lower::lower(&parsed.program, &parsed.sources)
        .unwrap_or_else(|errors| panic!("{}\n{text}", errors[0].message));
    let code = code(&model);
    System::new(model, parsed.sources, code)
}

/// Random models whose state space is small enough to spell out.
fn small(
    count: u64,
    ltl: bool,
    most: usize,
) -> impl Iterator<Item = (u64, String, System<Interpreter>, Space<Vec<u8>>)> {
    (0..count).filter_map(move |seed| {
        let mut spice = Spice::from_seed(seed);
        spice.ltl = if ltl { 2 } else { 0 };
        let text = random_model(seed, spice);
        let system = load(&text, |_| Interpreter);
        let space = Space::build(&system, most)?;
        Some((seed, text, system, space))
    })
}

fn exhaustive() -> Options {
    Options { after_violation: AfterViolation::Continue { states: None }, ..Options::default() }
}

fn failures(outcome: &Outcome) -> BTreeSet<(FailureKind, String)> {
    outcome.violations.iter().map(|violation| (violation.failure.kind, violation.failure.message.clone())).collect()
}

/// The states in which nothing can move, as a reduced or full search by hand finds them.
fn ends(system: &System<Interpreter>, mut reducer: Option<Reducer>) -> BTreeSet<Vec<u8>> {
    let mut scratch = system.scratch();
    let mut open = vec![system.initial(&mut scratch)];
    let mut seen: HashSet<Vec<u8>> = open.iter().cloned().collect();
    let mut ends = BTreeSet::new();
    while let Some(state) = open.pop() {
        let selection = match &mut reducer {
            Some(reducer) => reducer.select(system, &mut scratch, &state),
            None => Selection::All,
        };
        let mut moved = false;
        system.steps(&mut scratch, &state, selection, &mut |step| {
            moved = true;
            if !step.failure.is_some_and(|failure| failure.fatal) && seen.insert(step.state.clone()) {
                open.push(step.state.clone());
            }
            ControlFlow::Continue(())
        });
        if !moved {
            ends.insert(state);
        }
    }
    ends
}

#[test]
fn stores_orders_and_workers_agree_with_plain_interpretation() {
    for (seed, text, system, space) in small(models(500), false, STATES_MAX) {
        let variants = [
            Options { store: StoreKind::Fingerprint64, ..exhaustive() },
            Options { store: StoreKind::Fingerprint128, order: Order::Depth { seed: Some(seed) }, ..exhaustive() },
            Options { workers: 2, ..exhaustive() },
            exhaustive(),
        ];
        for options in variants {
            let outcome = search(&system, &options, Control::default());
            assert!(outcome.complete(), "seed {seed}");
            let counts = (outcome.stats.states, outcome.stats.steps);
            assert_eq!(counts, (space.states.len() as u64, space.step_count()), "seed {seed} {options:?}\n{text}");
            assert_eq!(failures(&outcome), space.failures, "seed {seed} {options:?}\n{text}");
        }
    }
}

#[test]
fn reduction_keeps_every_failure_and_every_end_state() {
    let (mut full, mut reduced) = (0, 0);
    for (seed, text, system, space) in small(models(1500), false, STATES_MAX) {
        let options = Options { reduction: Reduction::Safety, ..exhaustive() };
        let outcome = search(&system, &options, Control::default());
        assert_eq!(failures(&outcome), space.failures, "seed {seed}\n{text}");
        assert_eq!(ends(&system, Some(Reducer::for_safety())), ends(&system, None), "seed {seed}\n{text}");
        full += space.states.len() as u64;
        reduced += outcome.stats.states;
    }
    assert!(reduced < full * 9 / 10, "{reduced} of {full} states: the reduction does not reduce");
}

#[test]
fn values_that_nobody_reads_can_be_left_out() {
    let (mut all, mut kept, mut leaner) = (0, 0, 0);
    for (seed, text, system, space) in small(models(500), false, STATES_MAX) {
        let Some(lean) = without_unread(&system.model, &[]) else { continue };
        let lean = System::new(lean, system.sources.clone(), Interpreter);
        let outcome = search(&lean, &exhaustive(), Control::default());
        assert_eq!(failures(&outcome), space.failures, "seed {seed}\n{text}");
        let found = space.failures.iter().any(|(kind, _)| *kind == FailureKind::Deadlock);
        let deadlock = |violation: &explore::Violation| violation.failure.kind == FailureKind::Deadlock;
        for violation in outcome.violations.iter().filter(|violation| deadlock(violation)) {
            assert!(found && replays(&system, &violation.schedule), "seed {seed}\n{text}");
        }
        (all, kept) = (all + space.states.len() as u64, kept + outcome.stats.states);
        leaner += u64::from(outcome.stats.states < space.states.len() as u64);
    }
    assert!(leaner > 5 && kept < all, "{leaner} models shrank, {kept} of {all} states are left");
}

/// Whether every choice of a schedule exists in the model as written.
fn replays(system: &System<Interpreter>, schedule: &trace::Schedule) -> bool {
    let mut scratch = system.scratch();
    let mut state = system.initial(&mut scratch);
    schedule.choices.iter().all(|choice| {
        let explained = system.explain(&mut scratch, &state, *choice);
        explained.map(|explained| state = explained.state).is_some()
    })
}

fn properties(system: &mut System<Interpreter>) -> Vec<(RunProperty, usize)> {
    let mut all: Vec<RunProperty> =
        system.model.claims.iter().map(|claim| property::claim(claim).expect("small formulas translate")).collect();
    all.extend(property::acceptance(&system.model));
    all.push(property::progress(&system.model));
    all.into_iter()
        .map(|property| {
            let observer = system.add_observer(property.propositions.clone());
            (property, observer)
        })
        .collect()
}

#[test]
fn reduction_and_cycle_search_agree_with_the_product_spelt_out() {
    for (seed, text, mut system, space) in small(models(400), true, PRODUCT_STATES_MAX) {
        // Failures of steps end runs; the oracle and the search treat them alike only where there are none.
        if space.failures.iter().any(|(kind, _)| *kind == FailureKind::Runtime) {
            continue;
        }
        for (property, observer) in properties(&mut system) {
            for fairness in [Fairness::Off, Fairness::Weak] {
                let expected = space.accepts(&system, &property.monitor, observer, fairness);
                for reduction in [Reduction::Off, Reduction::Safety] {
                    let options = Options { reduction, ..exhaustive() };
                    let failure = property.failure();
                    let control = Control::default();
                    let watched =
                        find_cycle(&system, &property.monitor, observer, failure, fairness, &options, control);
                    let found = watched.outcome.violations.iter().any(|v| v.failure.kind == property.kind);
                    assert_eq!(found, expected, "seed {seed} {} {fairness:?} {reduction:?}\n{text}", property.name);
                }
            }
        }
    }
}

#[cfg(feature = "native")]
#[test]
fn native_code_agrees_with_the_interpreter() {
    use promela::jit::Native;
    for (seed, text, _, space) in small(models(400), false, STATES_MAX) {
        let system = load(&text, |model| Native::compile(model).expect("this host has a code generator"));
        let outcome = search(&system, &exhaustive(), Control::default());
        let counts = (outcome.stats.states, outcome.stats.steps);
        assert_eq!(counts, (space.states.len() as u64, space.step_count()), "seed {seed}\n{text}");
        assert_eq!(failures(&outcome), space.failures, "seed {seed}\n{text}");
    }
}
