//! What a search is offered can be told: counterexamples are made of nothing else.

use explore::{Control, Explained, Options, Selection, TransitionSystem};
use promela::engines::search;
use promela::parse::{ParseOptions, parse_file, parse_text};
use promela::run::vector::Work;
use promela::run::{Backend, ModelSystem, explain};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use trace::Choice;

/// States that are looked at of each model.
const STATES_MAX: usize = 300;

fn models(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(folder);
    let entries = std::fs::read_dir(folder).expect("a folder of models").flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "pml")).collect()
}

fn load(path: &Path) -> Option<ModelSystem> {
    let parsed = parse_file(path, &ParseOptions::default()).ok()?;
    let (model, _) = promela::lower::lower(&parsed.program, &parsed.sources).ok()?;
    Some(ModelSystem::new(model, parsed.sources, Backend::Interpreter))
}

fn choices(system: &ModelSystem, state: &Vec<u8>) -> Vec<(Choice, Vec<u8>)> {
    let mut found = Vec::new();
    system.steps(&mut system.scratch(), state, Selection::All, &mut |step| {
        found.push((step.choice, step.state.clone()));
        ControlFlow::Continue(())
    });
    found
}

/// Everything that has a name of its own in a state, with its value: blocks may declare the same name twice.
fn named(system: &ModelSystem, state: &[u8]) -> HashMap<String, String> {
    let mut work = Work::default();
    work.load(&system.model, state);
    let all = explain::variables(&system.model, &work);
    let is_unique = |name: &String| all.iter().filter(|(other, _)| other == name).count() == 1;
    all.iter().filter(|(name, _)| is_unique(name)).cloned().collect()
}

/// What the events of a step say was changed, one after the other, must lead from the values before to those after.
fn assert_changes(system: &ModelSystem, state: &[u8], explained: &Explained<Vec<u8>>) {
    let mut values = named(system, state);
    for change in explained.events.iter().flat_map(|event| &event.changes) {
        if let Some(value) = values.get_mut(&change.name) {
            assert_eq!(*value, change.before, "{change:?}");
            value.clone_from(&change.after);
        }
    }
    for (name, value) in named(system, &explained.state) {
        assert!(values.get(&name).is_none_or(|told| *told == value), "{name} is {value}, told otherwise");
    }
}

#[test]
fn a_state_with_ten_thousand_successors_is_searched_whole() {
    let text = "byte a, b, c;
        active proctype P() { atomic { select (a : 1 .. 22); select (b : 1 .. 22); select (c : 1 .. 22) } }";
    let parsed = parse_text("wide.pml", text, &ParseOptions::default()).expect("a model without errors");
    let (model, _) = promela::lower::lower(&parsed.program, &parsed.sources).expect("a model without errors");
    let system = ModelSystem::new(model, parsed.sources, Backend::Interpreter);
    let outcome = search(&system, &Options::default(), Control::default());
    // The start, each choice of three numbers with the process at its end, and each without the process.
    assert_eq!(outcome.stats.states, 1 + 2 * 22 * 22 * 22);
    assert_eq!(outcome.incomplete, []);
}

#[test]
fn every_choice_that_is_offered_is_told_and_leads_where_it_was_said_to_lead() {
    let (mut told, mut read) = (0, 0);
    for path in models("micro").into_iter().chain(models("examples")) {
        let Some(system) = load(&path) else { continue };
        let mut scratch = system.scratch();
        let mut open = vec![system.initial(&mut scratch)];
        let mut seen: HashSet<Vec<u8>> = open.iter().cloned().collect();
        read += 1;
        while let Some(state) = open.pop() {
            for (choice, next) in choices(&system, &state) {
                let explained = system.explain(&mut scratch, &state, choice);
                let explained = explained.unwrap_or_else(|| panic!("{}: {choice:?} is not there", path.display()));
                assert_eq!(explained.state, next, "{}: {choice:?} leads elsewhere", path.display());
                assert_changes(&system, &state, &explained);
                told += 1;
                if seen.len() < STATES_MAX && explained.failure.is_none() && seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    assert!(read > 100 && told > 3_000, "{told} choices of {read} models");
}
