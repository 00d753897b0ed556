//! Any bytes, read as a model and run for a few steps: nothing that parses may bring lowering or execution down.
//!
//! `cargo +nightly fuzz run promela_run -- -dict=promela.dict` in this folder, with the models as seeds:
//! `cargo +nightly fuzz run promela_run corpus ../models/micro`.
#![no_main]

use explore::{Selection, TransitionSystem};
use libfuzzer_sys::fuzz_target;
use promela::parse::{ParseOptions, parse_text};
use promela::run::{Interpreter, System};
use std::ops::ControlFlow;

/// Steps of one run.
const STEPS: usize = 32;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let Ok(parsed) = parse_text("fuzz.pml", &text, &ParseOptions::default()) else { return };
    let Ok((model, _)) = promela::lower::lower(&parsed.program, &parsed.sources) else { return };
    let lean = promela::unread::without_unread(&model, &[]);
    run(&System::new(model, parsed.sources.clone(), Interpreter));
    if let Some(lean) = lean {
        run(&System::new(lean, parsed.sources, Interpreter));
    }
});

/// Takes the last choice each time, and has it told.
fn run(system: &System<Interpreter>) {
    let mut scratch = system.scratch();
    let mut state = system.initial(&mut scratch);
    for _ in 0..STEPS {
        let mut last = None;
        system.steps(&mut scratch, &state, Selection::All, &mut |step| {
            last = Some(step.choice);
            ControlFlow::Continue(())
        });
        let Some(choice) = last else { return drop(system.stuck(&mut scratch, &state)) };
        let explained = system.explain(&mut scratch, &state, choice).expect("a choice that was offered");
        state = explained.state;
    }
}
