//! `allways report`: print a saved counterexample.

use crate::args::{ReportArgs, ReportFormat};
use crate::exit::Exit;
use crate::output::Output;
use crate::saved::Saved;
use ::report::{Colour, Layout, Sources, counterexample_json, counterexample_text};
use trace::Counterexample;

/// Prints a counterexample, or writes it to a file.
pub fn report(args: &ReportArgs, output: &Output) -> Exit {
    let counterexample = match Saved::here().find(args.counterexample.as_deref()) {
        Ok(counterexample) => counterexample,
        Err(why) => {
            output.error(&why);
            return Exit::Usage;
        }
    };
    let layout = match args.output {
        Some(_) => Layout { colour: Colour::Never, ..output.layout },
        None => output.layout,
    };
    let text = match args.format {
        ReportFormat::Text => counterexample_text(&counterexample, &sources(&counterexample), &layout),
        ReportFormat::Json => counterexample_json(&counterexample),
    };
    match &args.output {
        None => output.data(&text),
        Some(path) => {
            if let Err(error) = std::fs::write(path, text) {
                output.error(&format!("cannot write {}: {error}", path.display()));
                return Exit::Usage;
            }
        }
    }
    Exit::Fine
}

/// The source files that the counterexample names, as far as they are still there.
fn sources(counterexample: &Counterexample) -> Sources {
    let waiting = counterexample.wait_for.iter().filter_map(|waiting| waiting.location.as_ref());
    let mut sources = Sources::default();
    for location in waiting.chain(&counterexample.location) {
        if let Ok(text) = crate::careful::source(std::path::Path::new(&location.file)) {
            sources.add(location.file.as_str(), text);
        }
    }
    sources
}
