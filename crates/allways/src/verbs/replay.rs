//! `allways replay`: execute a counterexample again.

use super::refuse;
use crate::args::ReplayArgs;
use crate::evidence::{cut_at_failure, state_text};
use crate::exit::Exit;
use crate::model::Model;
use crate::output::Output;
use crate::programs;
use crate::saved::Saved;
use ::replay::Timeline;
use report::counterexample_text;
use std::path::Path;
use trace::Counterexample;

/// Executes a counterexample and prints it.
pub fn replay(args: &ReplayArgs, output: &Output) -> Exit {
    let counterexample = match Saved::here().find(args.counterexample.as_deref()) {
        Ok(counterexample) => counterexample,
        Err(why) => {
            output.error(&why);
            return Exit::Usage;
        }
    };
    if let Some(record) = counterexample.programs.clone() {
        return programs::replay(counterexample, &record, args, output);
    }
    if let Err(why) = crate::input::look_at(Path::new(&counterexample.system.file)) {
        output.error(&why);
        return Exit::Usage;
    }
    let model = match Model::load_again(&counterexample, output.message_colour()) {
        Ok(model) => model,
        Err(error) => return refuse(error, output),
    };
    let changed = model.system_ref.fingerprint != counterexample.system.fingerprint;
    if changed {
        output.warn(&format!("{} has changed since this counterexample was found", counterexample.system.file));
    }
    match args.to {
        Some(step) => up_to(&model, counterexample, step, output),
        None => whole(&model, counterexample, output),
    }
}

fn whole(model: &Model, mut counterexample: Counterexample, output: &Output) -> Exit {
    if counterexample.is_driven {
        return driven(model, counterexample, output);
    }
    match model.confirm(&counterexample) {
        Ok(mut trace) => {
            cut_at_failure(&mut trace, &counterexample.message);
            counterexample.trace = trace;
            output.data(&counterexample_text(&counterexample, &model.sources(), &output.layout));
            Exit::Violated
        }
        Err(mismatch) => {
            output.error(&format!("the counterexample does not show its failure: {mismatch}"));
            output.note("  = help: check again: the model may be correct now, or differ in its macros");
            Exit::Inconclusive
        }
    }
}

/// A schedule that was taken by hand: it is told, whatever comes of it.
fn driven(model: &Model, mut counterexample: Counterexample, output: &Output) -> Exit {
    match ::replay::run(&mut model.replay(), &counterexample.schedule) {
        Ok(run) => {
            counterexample.trace = run.trace;
            output.data(&counterexample_text(&counterexample, &model.sources(), &output.layout));
            Exit::Fine
        }
        Err(mismatch) => {
            output.error(&format!("the schedule does not fit this model: {mismatch}"));
            Exit::Inconclusive
        }
    }
}

/// The first steps, and the state after them.
fn up_to(model: &Model, mut counterexample: Counterexample, step: usize, output: &Output) -> Exit {
    let steps = counterexample.schedule.choices.len();
    if step > steps {
        output.error(&format!("step {step} does not exist: the counterexample has {steps}"));
        return Exit::Usage;
    }
    let mut replayed = model.replay();
    let mut timeline = Timeline::new(&mut replayed, counterexample.schedule.choices.clone());
    if let Err(mismatch) = timeline.go_to(step) {
        output.error(&format!("the counterexample does not fit this model: {mismatch}"));
        return Exit::Inconclusive;
    }
    counterexample.schedule.choices.truncate(step);
    // A part of a cycle leads nowhere back.
    counterexample.schedule.cycle_start = counterexample.schedule.cycle_start.filter(|_| step == steps);
    match ::replay::run(&mut model.replay(), &counterexample.schedule) {
        Ok(run) => output.data(&report::trace_text(&run.trace, &output.layout)),
        Err(mismatch) => output.warn(&mismatch.to_string()),
    }
    output.data(&format!("\nafter step {step} of {steps}:\n{}", state_text(&mut timeline)));
    Exit::Fine
}
