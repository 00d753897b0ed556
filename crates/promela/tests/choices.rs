//! What a search is offered can be told: counterexamples are made of nothing else.

use explore::{Selection, TransitionSystem};
use promela::parse::{ParseOptions, parse_file};
use promela::run::{Interpreter, System};
use std::collections::HashSet;
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

fn load(path: &Path) -> Option<System<Interpreter>> {
    let parsed = parse_file(path, &ParseOptions::default()).ok()?;
    let (model, _) = promela::lower::lower(&parsed.program, &parsed.sources).ok()?;
    Some(System::new(model, parsed.sources, Interpreter))
}

fn choices(system: &System<Interpreter>, state: &Vec<u8>) -> Vec<(Choice, Vec<u8>)> {
    let mut found = Vec::new();
    system.steps(&mut system.scratch(), state, Selection::All, &mut |step| {
        found.push((step.choice, step.state.clone()));
        ControlFlow::Continue(())
    });
    found
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
                told += 1;
                if seen.len() < STATES_MAX && explained.failure.is_none() && seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
    }
    assert!(read > 100 && told > 3_000, "{told} choices of {read} models");
}
