//! Formulas on explored graphs, against their definition on the runs of those graphs, and on reduced graphs against all schedules.
//!
//! `PROGRAMS=20000` tries so many programs.

use crate::engines::count;
use crate::toy::{Machine, Program, generate};
use explore::graph::{ExploredGraph, Limits, Mode, Options, search_with};
use explore::system::Failure;
use explore::{Control, Fairness, Monitor, Selection, TransitionSystem, find_cycle};
use ltl::random::Random;
use ltl::{Formula, Lasso};
use std::ops::ControlFlow;
use trace::{Choice, FailureKind, Schedule};

/// Atoms of random formulas: variables of toy programs that are not zero.
const ATOMS: u32 = 3;

/// Random runs of a graph on which a formula that is said to hold is evaluated.
const RUNS: u64 = 40;

fn explored(seed: u64) -> Option<ExploredGraph> {
    explored_by(Mode::Full, generate::program(seed).0)
}

fn explored_by(mode: Mode, program: Program) -> Option<ExploredGraph> {
    let mut stop = |_: u64, _: u64| false;
    let mut limits = Limits { states: 3_000, failures: usize::MAX, stop: &mut stop };
    let options = Options { keeps_graph: true, ..Options::new(mode) };
    search_with(&mut Machine::new(program), options, &mut limits).graph
}

fn steps(graph: &ExploredGraph, state: [u8; 8]) -> Vec<(Choice, [u8; 8])> {
    let mut all = Vec::new();
    graph.steps(&mut (), &state, Selection::All, &mut |step| {
        all.push((step.choice, *step.state));
        ControlFlow::Continue(())
    });
    all
}

/// Whether a step has failed: a run with it is not judged.
fn fails(graph: &ExploredGraph, state: [u8; 8], choice: Choice) -> bool {
    let mut fails = false;
    graph.steps(&mut (), &state, Selection::All, &mut |step| {
        fails |= step.choice == choice && step.failure.is_some();
        ControlFlow::Continue(())
    });
    fails
}

fn valuation(graph: &ExploredGraph, state: [u8; 8]) -> u64 {
    graph.observe(&mut (), &state, 0).expect("it is kept")
}

/// The word of a run: after the last state it goes on at `start`, or stays where it is.
fn word(graph: &ExploredGraph, states: &[[u8; 8]], start: usize) -> Lasso {
    let letters: Vec<u64> = states.iter().map(|state| valuation(graph, *state)).collect();
    Lasso::new(&letters[..start], &letters[start..]).expect("it has a cycle")
}

/// A random run, until it comes back to a state or ends; none that fails.
fn walk(graph: &ExploredGraph, random: &mut Random) -> Option<Lasso> {
    let mut states = vec![graph.initial(&mut ())];
    loop {
        let next = steps(graph, *states.last().expect("there is one"));
        if next.is_empty() {
            return Some(word(graph, &states, states.len() - 1));
        }
        let (choice, state) = next[random.below(next.len())];
        if fails(graph, *states.last().expect("there is one"), choice) {
            return None;
        }
        if let Some(start) = states.iter().position(|known| *known == state) {
            return Some(word(graph, &states, start));
        }
        states.push(state);
    }
}

/// The word of a schedule of the graph. The last state of a cycle is its first one again.
fn followed(graph: &ExploredGraph, Schedule { choices, cycle_start }: &Schedule) -> Lasso {
    let mut states = vec![graph.initial(&mut ())];
    for choice in choices {
        let (_, state) = *steps(graph, *states.last().expect("there is one"))
            .iter()
            .find(|(known, _)| known == choice)
            .expect("a step");
        assert!(!fails(graph, *states.last().expect("there is one"), *choice), "a run that fails is none");
        states.push(state);
    }
    let start = cycle_start.unwrap_or(choices.len());
    if start < choices.len() {
        assert_eq!(states.pop(), Some(states[start]), "a cycle comes back");
    } else {
        assert!(cycle_start.is_none() || steps(graph, states[start]).is_empty(), "a run stays where it ends");
    }
    word(graph, &states, start)
}

/// A run that violates a formula, in numbers of the graph.
fn refutation(graph: &ExploredGraph, formula: &Formula, fairness: Fairness) -> Option<Schedule> {
    let automaton = ltl::translate(&formula.clone().not()).expect("it is small");
    let monitor = Monitor::observing(&automaton, |atom| atom);
    let failure = Failure { kind: FailureKind::Ltl, message: String::new(), fatal: false, property: None };
    let options = explore::Options::default();
    let watched = find_cycle(graph, &monitor, 0, failure, fairness, &options, Control::default());
    assert!(watched.outcome.complete() || !watched.outcome.violations.is_empty());
    watched.outcome.violations.first().map(|violation| violation.schedule.clone())
}

#[test]
fn formulas_on_graphs_mean_what_they_mean_on_their_runs() {
    let (mut violated, mut held, mut unfair) = (0, 0, 0);
    for seed in 0..400 {
        let Some(graph) = explored(seed) else { continue };
        let mut random = Random::new(seed);
        let options = ltl::random::Options { size: 5, atoms: ATOMS, next: false };
        let formula = ltl::random::formula(&mut random, options);
        match refutation(&graph, &formula, Fairness::Off) {
            Some(schedule) => {
                violated += 1;
                // A prefix that violates it does so however it goes on.
                assert!(!ltl::holds(&formula, &followed(&graph, &schedule)), "{seed}: {formula:?}");
                unfair += u32::from(refutation(&graph, &formula, Fairness::Weak).is_none());
            }
            None => {
                held += 1;
                assert_eq!(refutation(&graph, &formula, Fairness::Weak), None, "{seed}: fair runs are runs");
                for run in (0..RUNS).filter_map(|_| walk(&graph, &mut random)) {
                    assert!(ltl::holds(&formula, &run), "{seed}: {formula:?} on {run:?}");
                }
            }
        }
    }
    assert!(violated > 50 && held > 50 && unfair > 0, "{violated} violated, {held} held, {unfair} need fairness");
}

/// A random program, its graph of all schedules, and the reduced one. Steps that write variables are visible, or none is.
fn both(seed: u64, watched: bool) -> Option<[ExploredGraph; 2]> {
    let program = Program { watched, ..generate::program(seed).0 };
    Some([explored_by(Mode::Full, program.clone())?, explored_by(Mode::Reduced, program)?])
}

fn formula(seed: u64) -> Formula {
    ltl::random::formula(&mut Random::new(seed), ltl::random::Options { size: 5, atoms: ATOMS, next: false })
}

#[test]
fn reduced_graphs_decide_formulas_without_next_as_graphs_of_all_schedules_do() {
    let (mut violated, mut held, mut smaller) = (0, 0, 0);
    for seed in 0..count(600) {
        let Some([full, reduced]) = both(seed, true) else { continue };
        let formula = formula(seed);
        let found = refutation(&reduced, &formula, Fairness::Off);
        let expected = refutation(&full, &formula, Fairness::Off);
        assert_eq!(found.is_some(), expected.is_some(), "{seed}: {formula:?}");
        if let Some(schedule) = &found {
            assert!(!ltl::holds(&formula, &followed(&reduced, schedule)), "{seed}: {formula:?}");
        }
        *(if found.is_some() { &mut violated } else { &mut held }) += 1;
        smaller += u32::from(reduced.states() < full.states());
        // A fair run of the reduced graph is one of all.
        let fair = |graph| refutation(graph, &formula, Fairness::Weak).is_some();
        assert!(!fair(&reduced) || fair(&full), "{seed}: {formula:?}");
    }
    assert!(violated > 50 && held > 50 && smaller > 50, "{violated} violated, {held} held, {smaller} are smaller");
}

#[test]
fn it_is_noticed_when_steps_that_change_atoms_are_invisible() {
    let is_noticed = |seed: u64| {
        let Some([full, reduced]) = both(seed, false) else { return false };
        let formula = formula(seed);
        let is_violated = |graph| refutation(graph, &formula, Fairness::Off).is_some();
        is_violated(&full) != is_violated(&reduced)
    };
    assert!((0..600).any(is_noticed), "nobody notices");
}
