//! Whole models: the same states and steps, whoever executes the statements.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

use crate::ir::Model;
use crate::jit::{Lazy, Native};
use crate::parse::{ParseOptions, parse_file};
use crate::run::{Code, Interpreter, System};
use crate::source::SourceMap;
use explore::{Failure, Selection, TransitionSystem};
use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::path::Path;

const STATES_MAX: usize = 3_000;

/// One step: actor, choice, who moved, where to, what went wrong.
type Told = (u32, u32, Vec<u8>, Option<Failure>);

/// Every step of the first states, breadth first.
fn steps<C: Code>(model: Model, code: C) -> Vec<Vec<Told>> {
    walk(&System::new(model, SourceMap::default(), code))
}

fn walk<C: Code>(system: &System<C>) -> Vec<Vec<Told>> {
    let mut scratch = system.scratch();
    let initial = system.initial(&mut scratch);
    let mut seen = HashMap::from([(initial.clone(), ())]);
    let (mut queue, mut all) = (VecDeque::from([initial]), Vec::new());
    while let Some(state) = queue.pop_front() {
        let mut told = Vec::new();
        system.steps(&mut scratch, &state, Selection::All, &mut |step| {
            told.push((step.choice.actor, step.choice.index, step.state.clone(), step.failure.cloned()));
            let fatal = step.failure.is_some_and(|failure| failure.fatal);
            if !fatal && seen.len() < STATES_MAX && seen.insert(step.state.clone(), ()).is_none() {
                queue.push_back(step.state.clone());
            }
            ControlFlow::Continue(())
        });
        all.push(told);
    }
    all
}

fn compare(folder: &str) -> (usize, usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(folder);
    let (mut compared, mut native_edges) = (0, 0);
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("models are there").flatten().map(|f| f.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "pml"));
    files.sort();
    for file in files {
        let Ok(parsed) = parse_file(&file, &ParseOptions::default()) else { continue };
        let Ok((model, _)) = crate::lower::lower(&parsed.program, &parsed.sources) else { continue };
        let native = Native::compile(&model).expect("this host has native code");
        native_edges += native.coverage().0;
        assert_eq!(steps(model.clone(), native), steps(model, Interpreter), "{}", file.display());
        compared += 1;
    }
    (compared, native_edges)
}

#[test]
fn a_long_search_is_compiled_on_the_way_and_goes_on_as_before() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/scalable/window.pml");
    let parsed = parse_file(&file, &ParseOptions::default()).expect("a model without errors");
    let (model, _) = crate::lower::lower(&parsed.program, &parsed.sources).expect("a model without errors");
    let lazy = Lazy::new(&model);
    assert!(!lazy.is_native());
    let system = System::new(model.clone(), SourceMap::default(), lazy);
    assert_eq!(walk(&system), steps(model, Interpreter));
    assert!(system.code.is_native());
}

#[test]
fn small_models_take_the_same_steps() {
    let (compared, native_edges) = compare("micro");
    assert!(compared > 50 && native_edges > 300, "{compared} models, {native_edges} native edges");
}

#[test]
fn scalable_models_take_the_same_steps() {
    let (compared, native_edges) = compare("scalable");
    assert!(compared >= 5 && native_edges > 50, "{compared} models, {native_edges} native edges");
}

#[test]
fn example_models_take_the_same_steps() {
    let (compared, native_edges) = compare("examples");
    assert!(compared >= 10 && native_edges > 50, "{compared} models, {native_edges} native edges");
}
