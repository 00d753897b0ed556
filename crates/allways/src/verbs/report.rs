//! `allways report`: print a saved counterexample.

use crate::args::{ReportArgs, ReportFormat};
use crate::exit::Exit;
use crate::output::Output;
use crate::report_files::{self, FileFormat, VERSION};
use crate::saved::Saved;
use ::report::{Colour, Findings, Layout, Page, Sources, Summary, files_of, page_html};
use ::report::{counterexample_json, counterexample_text, perfetto, shiviz, trace_dot};
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
    let text = render(counterexample, args.format, &layout);
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

/// The counterexample in a format: of one trace, or of a check that has no more than it.
fn render(found: Counterexample, format: ReportFormat, layout: &Layout) -> String {
    match format {
        ReportFormat::Text => counterexample_text(&found, &sources(&found), layout),
        ReportFormat::Json => counterexample_json(&found),
        ReportFormat::Junit => as_check(found, FileFormat::Junit, layout),
        ReportFormat::Sarif => as_check(found, FileFormat::Sarif, layout),
        ReportFormat::Github => as_check(found, FileFormat::Github, layout),
        ReportFormat::Html => as_page(&found),
        ReportFormat::Perfetto => perfetto(&found),
        ReportFormat::Shiviz => shiviz(&found),
        ReportFormat::Dot => trace_dot(&found, layout.detail),
    }
}

/// A counterexample as a page.
fn as_page(found: &Counterexample) -> String {
    let mut sources = Sources::default();
    for file in files_of(found) {
        if let Ok(text) = crate::careful::source(std::path::Path::new(&file)) {
            sources.add(file, text);
        }
    }
    page_html(&Page { system: found.system.file.clone(), counterexamples: vec![found], sources, ..Page::default() })
}

/// A counterexample as a check of one property, which failed.
fn as_check(found: Counterexample, format: FileFormat, layout: &Layout) -> String {
    let (summary, sources, created) = (Summary::of(&found), sources(&found), found.created);
    let findings = Findings {
        version: VERSION,
        created,
        summary: &summary,
        counterexamples: &[(0, found)],
        run: None,
        doubts: &[],
        sources: &sources,
        paths: &report_files::paths(),
    };
    format.render(&findings, layout)
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
