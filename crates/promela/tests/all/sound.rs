//! Which bytes are a state: all that a search meets, and of others only those from which it can go on.

use explore::{Selection, TransitionSystem};
use promela::parse::{ParseOptions, parse_file, parse_text};
use promela::run::{Backend, ModelSystem};
use promela::unread::lean;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
#[cfg(feature = "native")]
use testkit::random_model::Dice;
use testkit::random_model::{Spice, random_model};

/// States of a model that are looked at.
const STATES: usize = 700;

/// Calls `look` with the first states of a model.
fn each_state(system: &ModelSystem, mut look: impl FnMut(&[u8])) {
    let mut scratch = system.scratch();
    let mut open = vec![system.initial(&mut scratch)];
    let mut seen: HashSet<Vec<u8>> = open.iter().cloned().collect();
    while let Some(state) = open.pop() {
        look(&state);
        system.steps(&mut scratch, &state, Selection::All, &mut |step| {
            let is_new = seen.len() < STATES && !step.failure.is_some_and(|failure| failure.fatal);
            if is_new && seen.insert(step.state.clone()) {
                open.push(step.state.clone());
            }
            ControlFlow::Continue(())
        });
    }
}

fn bundled() -> Vec<PathBuf> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let folders = ["examples", "micro", "scalable"].map(|name| std::fs::read_dir(models.join(name)));
    let files = folders.into_iter().flatten().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|kind| kind == "pml")).collect();
    files.sort();
    assert!(files.len() > 40, "{} models", files.len());
    files
}

/// As written, and without values that nobody reads.
fn systems(parsed: &promela::parse::Parsed) -> Vec<ModelSystem> {
    let Ok((model, _)) = promela::lower::lower(&parsed.program, &parsed.sources) else { return Vec::new() };
    let models = [lean(&model, &[]), Some(model)].into_iter().flatten();
    models.map(|model| ModelSystem::new(model, parsed.sources.clone(), Backend::Interpreter)).collect()
}

fn assert_sound(system: &ModelSystem, name: &str) {
    each_state(system, |state| {
        assert!(system.is_state(state), "{name}: a state that is met is one: {state:?}");
        // Stores hand out vectors as long as the longest.
        assert!(system.is_state(&[state, &[0; 16]].concat()), "{name}: padded: {state:?}");
    });
}

#[test]
fn whatever_a_search_meets_is_a_state() {
    for path in bundled() {
        let Ok(parsed) = parse_file(&path, &ParseOptions::default()) else { continue };
        systems(&parsed).iter().for_each(|system| assert_sound(system, &path.display().to_string()));
    }
    for seed in 0..50 {
        let text = random_model(seed, Spice::from_seed(seed));
        let parsed = parse_text("random.pml", &text, &ParseOptions::default()).unwrap_or_else(|_| panic!("{text}"));
        systems(&parsed).iter().for_each(|system| assert_sound(system, &text));
    }
}

#[cfg(feature = "native")]
/// Whoever makes up a state that has the right form gets steps or errors of the model, as in any state.
#[test]
fn a_state_that_was_made_up_is_refused_or_has_steps() {
    let (mut taken, mut refused) = (0, 0);
    for seed in 0..50 {
        let text = random_model(seed, Spice::from_seed(seed));
        let parsed = parse_text("random.pml", &text, &ParseOptions::default()).unwrap_or_else(|_| panic!("{text}"));
        let (model, _) = promela::lower::lower(&parsed.program, &parsed.sources).unwrap_or_else(|_| panic!("{text}"));
        let code = Backend::compiled(&model).unwrap_or(Backend::Interpreter);
        let system = ModelSystem::new(model, parsed.sources, code);
        let (mut dice, mut scratch, mut left) = (Dice::new(seed), system.scratch(), 200);
        each_state(&system, |state| {
            let mut state = state.to_vec();
            for _ in 0..=dice.below(2) {
                let at = dice.below(state.len() as u32) as usize;
                state[at] = [0, 1, 2, 3, 127, 255][dice.below(6) as usize];
            }
            if left == 0 || !system.is_state(&state) {
                refused += u32::from(left > 0);
                return;
            }
            (taken, left) = (taken + 1, left - 1);
            system.steps(&mut scratch, &state, Selection::All, &mut |_| ControlFlow::Continue(()));
            system.stuck(&mut scratch, &state);
        });
    }
    assert!(taken > 300 && refused > 300, "{taken} taken, {refused} refused");
}
