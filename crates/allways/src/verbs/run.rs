//! `allways run`: one simulated run of a model.

use super::refuse;
use crate::args::RunArgs;
use crate::evidence::state_text;
use crate::exit::Exit;
use crate::fault_plan::Wanted;
use crate::input::look_at;
use crate::interrupt::on_interrupt;
use crate::model::Model;
use crate::output::Output;
use crate::saved::Saved;
use crate::simulate::{Ending, Guide, Watcher, simulate};
use explore::random::Random;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use trace::{Event, FailureKind};

/// Simulates a model.
pub fn run(args: RunArgs, output: &Output) -> Exit {
    let Some(file) = &args.file else {
        output.error("nothing to run\n  = help: allways run FILE.pml, or allways run -- CMD");
        return Exit::Usage;
    };
    if let Err(why) = look_at(file) {
        output.error(&why);
        return Exit::Usage;
    }
    // A schedule with faults means something only where they may happen.
    let counterexample = args.schedule.as_ref().and_then(|name| Saved::here().find(Some(name)).ok());
    let wanted = counterexample.and_then(|counterexample| Wanted::from_options(&counterexample.system.options));
    let mut model = match Model::load(file, &args.model, &[], wanted.as_ref(), output.message_colour()) {
        Ok(model) => model,
        Err(error) => return refuse(error, output),
    };
    output.raw_message(&model.warnings);
    if let Err(why) = attach_input(&mut model, &args) {
        output.error(&why);
        return Exit::Usage;
    }
    match guide(&model, &args, output) {
        Ok(guide) => follow(&model, guide, &args, output),
        Err(why) => {
            output.error(&why);
            Exit::Usage
        }
    }
}

/// Gives the model what it reads from `STDIN`.
fn attach_input(model: &mut Model, args: &RunArgs) -> Result<(), String> {
    if !model.reads_input() {
        return Ok(());
    }
    if args.interactive {
        let why = "the model reads `STDIN`, and -i needs the standard input for your choices";
        return Err(format!("{why}\n  = help: leave -i away, and try several seeds: --seed N"));
    }
    model.attach_input(std::io::stdin());
    Ok(())
}

fn guide(model: &Model, args: &RunArgs, output: &Output) -> Result<Guide, String> {
    if args.interactive {
        return Ok(Guide::Hand(Box::new(std::io::stdin().lock())));
    }
    if let Some(name) = &args.schedule {
        return Ok(Guide::Schedule(Saved::here().find(Some(name))?.schedule.choices));
    }
    if let Some(path) = &args.trail {
        return Ok(Guide::Schedule(model.read_trail(path)?.choices));
    }
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| u64::from(since.subsec_nanos()));
    let seed = args.seed.unwrap_or_else(clock);
    output.note(&format!("seed {seed}"));
    Ok(Guide::Random(Random::new(seed)))
}

fn follow(model: &Model, guide: Guide, args: &RunArgs, output: &Output) -> Exit {
    // Whoever is asked waits for a key, not for a flag: there Ctrl-C ends the program at once.
    let waits = args.interactive || model.reads_input();
    let stop = if waits { Arc::default() } else { on_interrupt() };
    let all_steps = args.steps || args.interactive;
    let mut step = |number: usize, name: &str, event: &Event| output.data(&told(number, name, event, all_steps));
    let mut ask = |question: &str| crate::output::stderr(question);
    let mut watcher = Watcher { step: &mut step, ask: &mut ask, stop: &stop };
    let mut replayed = model.replay();
    match simulate(&mut replayed, guide, args.depth, &mut watcher) {
        Ok((mut timeline, ending)) => {
            if all_steps {
                output.data(&state_text(&mut timeline));
            }
            match &ending {
                Ending::Failed(failure) if failure.kind == FailureKind::Deadlock && model.input_has_ended() => {
                    output.note(&format!("waits for input after {} steps, but the input has ended", timeline.mark()));
                    Exit::Fine
                }
                _ => end(&ending, timeline.mark(), output),
            }
        }
        Err(mismatch) => {
            output.error(&format!("the schedule does not fit this model: {mismatch}"));
            Exit::Usage
        }
    }
}

/// One event: what the model printed, and the step itself if wanted.
fn told(number: usize, name: &str, event: &Event, all_steps: bool) -> String {
    let printed = event.output.clone().unwrap_or_default();
    if !all_steps {
        return printed;
    }
    let place = event.location.as_ref().map(|place| format!("{}:{}", place.file, place.line)).unwrap_or_default();
    let changes = event.changes.iter().map(|change| format!("{}: {} -> {}", change.name, change.before, change.after));
    let changes = changes.collect::<Vec<_>>().join(", ");
    let line = format!("{number:5}  {name:16} {place:20} {:30} {changes}", report::event_text(event));
    let newline = if printed.is_empty() || printed.ends_with('\n') { "" } else { "\n" };
    format!("{}\n{printed}{newline}", line.trim_end())
}

fn end(ending: &Ending, steps: usize, output: &Output) -> Exit {
    match ending {
        Ending::Ended => output.note(&format!("ended after {steps} steps")),
        Ending::ScheduleEnds => output.note(&format!("the schedule ends after {steps} steps")),
        Ending::Bound => output.note(&format!("stopped after {steps} steps (--depth)")),
        Ending::Left => output.note(&format!("left after {steps} steps")),
        Ending::Interrupted => {
            output.note(&format!("interrupted after {steps} steps"));
            return Exit::Interrupted;
        }
        Ending::Failed(failure) => {
            output.error(&format!("[{}] {} (step {steps})", failure.kind, failure.message));
            return Exit::Violated;
        }
    }
    Exit::Fine
}
