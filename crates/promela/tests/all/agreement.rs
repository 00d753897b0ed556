//! Everything that makes a check fast against plain, unreduced interpretation, on thousands of random models.
//!
//! `MODELS=20000 cargo nextest run -p promela agreement::` looks further than CI does; a failure names the seed,
//! and the model's text is printed.

use explore::reduce::{self, Reducer};
use explore::{
    AfterViolation, Bits, Control, Fairness, Options, Order, Outcome, Reduction, Selection, StoreKind, TransitionSystem,
};
use promela::engines::{find_cycle, search};
use promela::parse::{ParseOptions, parse_text};
use promela::property::{self, RunProperty};
use promela::run::{Backend, ModelSystem};
use promela::unread::lean;
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

fn load(text: &str, code: impl FnOnce(&promela::ir::Model) -> Backend) -> ModelSystem {
    let parsed = parse_text("random.pml", text, &ParseOptions::default())
        .unwrap_or_else(|failure| panic!("{}\n{text}", failure.diagnostics[0].message));
    let (model, _) = promela::lower::lower(&parsed.program, &parsed.sources)
        .unwrap_or_else(|errors| panic!("{}\n{text}", errors[0].message));
    let code = code(&model);
    ModelSystem::new(model, parsed.sources, code)
}

/// Random models whose state space is small enough to spell out.
fn small(count: u64, ltl: bool, most: usize) -> impl Iterator<Item = (u64, String, ModelSystem, Space<Vec<u8>>)> {
    (0..count).filter_map(move |seed| {
        let mut spice = Spice::from_seed(seed);
        spice.ltl = if ltl { 2 } else { 0 };
        let text = random_model(seed, spice);
        let system = load(&text, |_| Backend::Interpreter);
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
fn ends(system: &ModelSystem, mut reducer: Option<Reducer>, merging: bool) -> BTreeSet<Vec<u8>> {
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
        reduce::steps(system, &mut scratch, &state, selection, &mut |step| {
            moved |= !step.moved.is_empty();
            if !step.failure.is_some_and(|failure| failure.fatal) {
                let end = if merging { merged(system, step.state, step.moved) } else { step.state.clone() };
                if seen.insert(end.clone()) {
                    open.push(end);
                }
            }
            ControlFlow::Continue(())
        });
        if !moved {
            ends.insert(state);
        }
    }
    ends
}

/// Where processes come to that go on by themselves after they moved.
fn merged(system: &ModelSystem, state: &[u8], moved: Bits) -> Vec<u8> {
    let (mut scratch, mut state) = (system.scratch(), state.to_vec());
    while let Some(actor) = system.private(&mut scratch, &state, moved) {
        let mut next = Vec::new();
        system.steps(&mut scratch, &state, Selection::Only(Bits::one(actor)), &mut |step| {
            next.push((step.state.clone(), step.failure.is_some()));
            ControlFlow::Continue(())
        });
        match next.as_mut_slice() {
            [(only, false)] => state = std::mem::take(only),
            _ => break,
        }
    }
    state
}

#[test]
fn stores_orders_and_workers_agree_with_plain_interpretation() {
    for (seed, text, system, space) in small(models(250), false, STATES_MAX) {
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
    for (seed, text, system, space) in small(models(600), false, STATES_MAX) {
        let options = Options { reduction: Reduction::Safety, merging: false, ..exhaustive() };
        let outcome = search(&system, &options, Control::default());
        assert_eq!(failures(&outcome), space.failures, "seed {seed}\n{text}");
        let found = ends(&system, Some(Reducer::for_safety()), false);
        assert_eq!(found, ends(&system, None, false), "seed {seed}\n{text}");
        full += space.states.len() as u64;
        reduced += outcome.stats.states;
    }
    assert!(reduced < full * 9 / 10, "{reduced} of {full} states: the reduction does not reduce");
}

#[test]
fn merging_keeps_every_failure_and_every_end_state_and_its_schedules_can_be_taken() {
    let (mut reduced, mut merged) = (0, 0);
    for (seed, text, system, space) in small(models(400), false, STATES_MAX) {
        let unmerged = Options { reduction: Reduction::Safety, merging: false, ..exhaustive() };
        reduced += search(&system, &unmerged, Control::default()).stats.states;
        let broad = Options { merging: true, ..unmerged };
        let deep =
            Options { store: StoreKind::Fingerprint64, order: Order::Depth { seed: Some(seed) }, ..broad.clone() };
        let shared = Options { workers: 2, ..broad.clone() };
        let options = &[broad, deep, shared][seed as usize % 3];
        let outcome = search(&system, options, Control::default());
        assert_eq!(failures(&outcome), space.failures, "seed {seed} {options:?}\n{text}");
        for violation in &outcome.violations {
            assert!(shows(&system, violation), "seed {seed} {options:?} {violation:?}\n{text}");
        }
        merged += outcome.stats.states;
        let found = ends(&system, Some(Reducer::for_safety()), true);
        assert_eq!(found, ends(&system, None, false), "seed {seed}\n{text}");
    }
    assert!(merged < reduced * 9 / 10, "{merged} of {reduced} states: nothing was merged");
}

/// Whether the schedule of a violation can be taken and ends with its failure.
fn shows(system: &ModelSystem, violation: &explore::Violation) -> bool {
    let mut scratch = system.scratch();
    let (mut state, mut failure) = (system.initial(&mut scratch), None);
    for choice in &violation.schedule.choices {
        let Some(explained) = system.explain(&mut scratch, &state, *choice) else { return false };
        (state, failure) = (explained.state, explained.failure);
    }
    let stuck = system.stuck(&mut scratch, &state);
    [failure, stuck].contains(&Some(violation.failure.clone()))
}

#[test]
fn values_that_nobody_reads_or_reads_any_more_can_be_left_out() {
    let (mut all, mut kept, mut leaner) = (0, 0, 0);
    for (seed, text, system, space) in small(models(250), false, STATES_MAX) {
        let Some(lean) = lean(&system.model, &[]) else { continue };
        let lean = ModelSystem::new(lean, system.sources.clone(), Backend::Interpreter);
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
fn replays(system: &ModelSystem, schedule: &trace::Schedule) -> bool {
    let mut scratch = system.scratch();
    let mut state = system.initial(&mut scratch);
    schedule.choices.iter().all(|choice| {
        let explained = system.explain(&mut scratch, &state, *choice);
        explained.map(|explained| state = explained.state).is_some()
    })
}

fn properties(system: &mut ModelSystem) -> Vec<(RunProperty, usize)> {
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
    for (seed, text, mut system, space) in small(models(200), true, PRODUCT_STATES_MAX) {
        // Failures of steps end runs; the oracle and the search treat them alike only where there are none.
        if space.failures.iter().any(|(kind, _)| *kind == FailureKind::Runtime) {
            continue;
        }
        let model = lean(&system.model, &[]).unwrap_or_else(|| system.model.clone());
        let mut lean = ModelSystem::new(model, system.sources.clone(), Backend::Interpreter);
        properties(&mut lean);
        for (property, observer) in properties(&mut system) {
            for fairness in [Fairness::Off, Fairness::Weak] {
                let expected = space.accepts(&system, &property.monitor, observer, fairness);
                for (what, system) in [("as written", &system), ("lean", &lean)] {
                    for reduction in [Reduction::Off, Reduction::Safety] {
                        let options = Options { reduction, ..exhaustive() };
                        let (failure, control) = (property.failure(), Control::default());
                        let watched =
                            find_cycle(system, &property.monitor, observer, failure, fairness, &options, control);
                        let found = watched.outcome.violations.iter().any(|v| v.failure.kind == property.kind);
                        let name = &property.name;
                        assert_eq!(found, expected, "seed {seed} {name} {fairness:?} {reduction:?} {what}\n{text}");
                    }
                }
            }
        }
    }
}

#[cfg(feature = "native")]
#[test]
fn native_code_agrees_with_the_interpreter() {
    for (seed, text, _, space) in small(models(120), false, STATES_MAX) {
        let compile = |model: &promela::ir::Model| Backend::compiled(model).expect("this host has a code generator");
        let system = load(&text, compile);
        let outcome = search(&system, &exhaustive(), Control::default());
        let counts = (outcome.stats.states, outcome.stats.steps);
        assert_eq!(counts, (space.states.len() as u64, space.step_count()), "seed {seed}\n{text}");
        assert_eq!(failures(&outcome), space.failures, "seed {seed}\n{text}");
        let Some(model) = lean(&system.model, &[]) else { continue };
        let code = compile(&model);
        let native = ModelSystem::new(model.clone(), system.sources.clone(), code);
        let plain = ModelSystem::new(model, system.sources.clone(), Backend::Interpreter);
        let [native, plain] =
            [search(&native, &exhaustive(), Control::default()), search(&plain, &exhaustive(), Control::default())];
        assert_eq!(
            (native.stats.states, native.stats.steps),
            (plain.stats.states, plain.stats.steps),
            "seed {seed}\n{text}"
        );
        assert_eq!(failures(&native), space.failures, "seed {seed}\n{text}");
    }
}
