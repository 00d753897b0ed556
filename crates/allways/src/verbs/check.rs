//! `allways check`: search, report, save.

use super::refuse;
use crate::args::{CheckArgs, CheckFormat};
use crate::exit::Exit;
use crate::fault_plan::Wanted;
use crate::input::look_at;
use crate::interrupt::on_interrupt;
use crate::model::{Checked, Model};
use crate::output::Output;
use crate::programs;
use crate::progress::ProgressLine;
use crate::request::Request;
use crate::safety::Watch;
use crate::saved::Saved;
use report::{Sources, counterexample_text, spin_text, summary_json, summary_text};
use std::path::Path;

/// Checks programs or a model.
pub fn check(args: Box<CheckArgs>, output: &Output) -> Exit {
    if !args.world.command.is_empty() {
        return programs::check(&args, output);
    }
    let has_checks = Path::new(programs::config::FILE).is_file();
    let name = args.file.as_ref().filter(|file| is_name(file)).and_then(|file| file.to_str()).map(str::to_owned);
    if has_checks && (args.file.is_none() || name.is_some()) {
        return programs::check_named(name.as_deref(), args, output);
    }
    if let Some(name) = name {
        output.error(&format!(
            "there is no file `{name}`, and no allways.toml with a check of that name\n  = help: a program: allways check -- {name}; a model: allways check {name}.pml; `allways init` writes an allways.toml"
        ));
        return Exit::Usage;
    }
    let Some(file) = &args.file else {
        output.error(
            "nothing to check\n  = help: name programs or a model: allways check -- CMD, allways check FILE.pml",
        );
        return Exit::Nothing;
    };
    if let Err(why) = programs::only_for_programs(&args).and_then(|()| look_at(file)) {
        output.error(&why);
        return Exit::Usage;
    }
    let wanted = match Wanted::new(&args.faults, &args.scope) {
        Ok(wanted) => wanted,
        Err(why) => {
            output.error(&why);
            return Exit::Usage;
        }
    };
    if args.trail && wanted.is_some() {
        output.error("--trail and --faults do not go together: SPIN knows no faults");
        return Exit::Usage;
    }
    let loaded = Model::load(file, &args.model, &args.ltl, wanted.as_ref(), output.message_colour());
    let model = match loaded {
        Ok(model) => model,
        Err(error) => return refuse(error, output),
    };
    output.raw_message(&model.warnings);
    let request = Request::new(&args);
    let mut checked = search(&model, &request, output);
    keep(&mut checked, &args, output);
    if args.format == CheckFormat::Spin {
        measure_trails(&model, &mut checked);
    }
    print(&checked, &model.sources(), &args, output);
    if args.trail {
        write_trails(&model, &checked, &args, output);
    }
    exit(&checked, output)
}

/// The exit code; says what was found and could not be shown again. Then there is no verdict unless something else was shown.
pub fn exit(checked: &Checked, output: &Output) -> Exit {
    for what in &checked.unconfirmed {
        output.warn(&format!(
            "a violation could not be shown again ({what}); this is a bug in allways, please report it"
        ));
    }
    match Exit::from(checked.summary.outcome()) {
        Exit::Violated => Exit::Violated,
        _ if checked.is_doubtful || !checked.unconfirmed.is_empty() => Exit::Bug,
        exit => exit,
    }
}

/// Whether this names a check of `allways.toml`, and no file.
fn is_name(file: &Path) -> bool {
    file.extension().is_none() && file.components().count() == 1 && !file.exists()
}

fn search(model: &Model, request: &Request, output: &Output) -> Checked {
    let stop = on_interrupt();
    let line = ProgressLine::new(output.is_quiet(), output.layout.width);
    let checked = model.check(request, Watch { stop: &stop, progress: &|progress| line.show(progress), pause: None });
    line.clear();
    checked
}

/// Names and saves the counterexamples. That a disk is full changes no verdict.
pub fn keep(checked: &mut Checked, args: &CheckArgs, output: &Output) {
    let saved = Saved::here();
    for (index, counterexample) in &mut checked.counterexamples {
        saved.name(counterexample);
        let property = &mut checked.summary.properties[*index];
        property.counterexample.get_or_insert(counterexample.id.clone());
    }
    // The first one is saved last: it is the one to look at, so it becomes the latest.
    let mut saves = !args.no_save;
    for (_, counterexample) in checked.counterexamples.iter_mut().rev() {
        if saves && let Err(why) = saved.save(&kept_part(counterexample)) {
            output.warn(&why);
            saves = false;
        }
        // No command is offered that would not find it.
        if !saves {
            counterexample.id.clear();
        }
    }
}

/// Steps beyond which only the schedule is saved; a replay tells the rest again.
const STEPS_KEPT: usize = 100_000;

fn kept_part(counterexample: &trace::Counterexample) -> trace::Counterexample {
    let mut kept = counterexample.clone();
    if kept.trace.steps.len() > STEPS_KEPT {
        kept.trace.steps.clear();
    }
    kept
}

/// Finds the depths that SPIN would print, counterexample by counterexample.
fn measure_trails(model: &Model, checked: &mut Checked) {
    for (index, counterexample) in &checked.counterexamples {
        let property = &mut checked.summary.properties[*index];
        property.trail = property.trail.or_else(|| model.trail_end(counterexample));
    }
}

/// Prints counterexamples and verdicts, as the user wants them.
pub fn print(checked: &Checked, sources: &Sources, args: &CheckArgs, output: &Output) {
    match args.format {
        CheckFormat::Json => output.data(&summary_json(&checked.summary)),
        CheckFormat::Spin => output.data(&spin_text(&checked.summary, env!("CARGO_PKG_VERSION"))),
        CheckFormat::Text => print_text(checked, sources, output),
    }
}

fn print_text(checked: &Checked, sources: &Sources, output: &Output) {
    let summary = summary_text(&checked.summary, &output.layout);
    if output.is_quiet() {
        let verdict = summary.lines().last().unwrap_or_default();
        return output.data(&format!("{verdict}\n"));
    }
    for (_, counterexample) in &checked.counterexamples {
        output.data(&(counterexample_text(counterexample, sources, &output.layout) + "\n"));
    }
    output.data(&summary);
}

/// Writes `FILE.pml.trail`, and `FILE.pml2.trail` and so on for further ones, where `spin -t` looks for them.
fn write_trails(model: &Model, checked: &Checked, args: &CheckArgs, output: &Output) {
    let file = model.system_ref.file.as_str();
    for (number, (_, counterexample)) in checked.counterexamples.iter().enumerate() {
        let suffix = if number == 0 { String::new() } else { (number + 1).to_string() };
        let path = format!("{file}{suffix}.trail");
        let written = model.trail(counterexample).and_then(|text| {
            crate::careful::replace(Path::new(&path), text.as_bytes())
                .map_err(|error| format!("cannot write {path}: {error}"))
        });
        match written {
            Ok(()) if args.format != CheckFormat::Json => output.note(&format!("wrote {path}")),
            Ok(()) => {}
            Err(why) => output.warn(&why),
        }
    }
}
