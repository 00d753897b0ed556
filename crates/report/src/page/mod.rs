//! The page: a counterexample or a run as a space-time diagram, in one file that needs nothing else.
//!
//! Rust decides *what* is shown (lanes, rows, messages, what is folded); `page.js` only lays it out and answers keys and clicks.
//! Everything from outside travels as JSON inside a data block and reaches the page as text nodes, never as markup; a content
//! policy forbids requests, so the page can be opened anywhere and tells nobody.

mod diagram;
mod lane;

use crate::counterexample::{facts, headline_text};
use crate::events::waiting_text;
use crate::snippet::Sources;
use crate::{Layout, Summary, Verdict, summary_text};
use diagram::{Diagram, Place, diagram};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use trace::{Counterexample, FailureKind, Location, Trace};

const HTML: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What a page shows.
#[derive(Clone, Debug, Default)]
pub struct Page<'a> {
    /// What was checked, as the user named it.
    pub system: String,
    /// The verdict, if a check was made.
    pub summary: Option<&'a Summary>,
    /// Counterexamples, the first of which is shown first.
    pub counterexamples: Vec<&'a Counterexample>,
    /// Runs in which nothing goes wrong, with what to say of them.
    pub runs: Vec<(String, &'a Trace)>,
    /// Source files that locations name.
    pub sources: Sources,
}

/// What the script gets.
#[derive(Serialize)]
struct Data<'a> {
    system: &'a str,
    summary: Option<String>,
    /// Whether a check was made and everything holds.
    holds: bool,
    traces: Vec<Told>,
    sources: BTreeMap<&'a str, &'a str>,
}

/// A trace, with what is said above and below its diagram.
#[derive(Serialize)]
struct Told {
    title: String,
    is_violation: bool,
    facts: String,
    place: Option<Place>,
    notes: Vec<String>,
    waiting: Vec<Waits>,
    variables: Vec<(String, String)>,
    commands: Vec<String>,
    diagram: Diagram,
}

/// Somebody who cannot go on, or one side of a race.
#[derive(Serialize)]
struct Waits {
    who: String,
    text: String,
    place: Option<Place>,
}

/// The page as one file.
#[must_use]
pub fn page_html(page: &Page<'_>) -> String {
    let counterexamples = page.counterexamples.iter().map(|counterexample| counterexample_told(counterexample));
    let runs = page.runs.iter().map(|(title, trace)| run_told(title, trace));
    let data = Data {
        system: &page.system,
        summary: page.summary.map(|summary| summary_text(summary, &Layout::PLAIN)),
        holds: page.summary.is_some_and(|summary| summary.verdict() == Verdict::Holds),
        traces: counterexamples.chain(runs).collect(),
        sources: page.sources.files().collect(),
    };
    let data = serde_json::to_string(&data).expect("plain data always becomes JSON");
    assembled(&page.system, &data, &Addition::default())
}

/// The page without a trace, for a server that tells it what to show.
#[must_use]
pub fn live_html(system: &str, style: &str, script: &str) -> String {
    let data =
        json!({ "system": system, "summary": null, "holds": false, "traces": [], "sources": {}, "is_live": true });
    assembled(system, &data.to_string(), &Addition { policy: " connect-src 'self';", style, script })
}

/// A trace as a page shows it.
#[must_use]
pub fn trace_json(title: &str, is_violation: bool, trace: &Trace) -> Value {
    let told = Told { is_violation, ..run_told(title, trace) };
    serde_json::to_value(told).expect("plain data always becomes JSON")
}

/// What a live page has beside the others.
#[derive(Default)]
struct Addition<'a> {
    policy: &'a str,
    style: &'a str,
    script: &'a str,
}

/// The files that a page of a counterexample shows lines of.
#[must_use]
pub fn files_of(counterexample: &Counterexample) -> BTreeSet<String> {
    let waiting = counterexample.wait_for.iter().filter_map(|waiting| waiting.location.as_ref());
    let ends = waiting.chain(&counterexample.location).map(|location| location.file.clone());
    ends.chain(files_of_trace(&counterexample.trace)).collect()
}

/// The files that a page of a run shows lines of.
#[must_use]
pub fn files_of_trace(trace: &Trace) -> BTreeSet<String> {
    let events = trace.steps.iter().flat_map(|step| &step.events);
    events.filter_map(|event| Some(event.location.as_ref()?.file.clone())).collect()
}

/// A data block ends at `</script`: no `<` of the data may be left in it.
fn assembled(system: &str, data: &str, more: &Addition<'_>) -> String {
    // No mark in it, either: it is put in first.
    let title = system.replace('&', "&amp;").replace('<', "&lt;").replace('@', "&#64;");
    let (style, script) = (format!("{STYLE}{}", more.style), format!("{SCRIPT}{}", more.script));
    let parts = [("@TITLE@", title.as_str()), ("@POLICY@", more.policy), ("@STYLE@", &style), ("@SCRIPT@", &script)];
    let page = parts.iter().fold(HTML.to_owned(), |page, (mark, text)| page.replacen(mark, text, 1));
    // The data come last: what they say is not looked through for marks.
    page.replacen("@DATA@", &data.replace('<', "\\u003c"), 1)
}

/// A counterexample, with all that a report says of it.
fn counterexample_told(counterexample: &Counterexample) -> Told {
    let trace = &counterexample.trace;
    let waiting = counterexample.wait_for.iter().map(|waiting| Waits {
        who: trace.name(waiting.actor),
        text: waiting_text(waiting).into_owned(),
        place: waiting.location.as_ref().map(place),
    });
    let variables = counterexample.final_state.iter().map(|known| (known.name.clone(), known.value.clone()));
    let command = |verb: &str| format!("allways {verb} {}", counterexample.id);
    let verbs: &[&str] =
        if counterexample.programs.is_some() { &["replay", "debug", "explore"] } else { &["replay", "explore"] };
    // One that was not saved has no name to ask for.
    let commands =
        if counterexample.id.is_empty() { Vec::new() } else { verbs.iter().map(|verb| command(verb)).collect() };
    Told {
        title: title(counterexample),
        is_violation: true,
        facts: facts(counterexample),
        place: counterexample.location.as_ref().map(place),
        notes: counterexample.notes.clone(),
        waiting: waiting.collect(),
        variables: variables.collect(),
        commands,
        diagram: diagram(trace),
    }
}

/// The headline. Who waits for whom does not say that this is wrong, and a page has no `error[deadlock]` before it.
fn title(counterexample: &Counterexample) -> String {
    match counterexample.property.kind {
        kind @ FailureKind::Deadlock if !counterexample.is_driven => {
            format!("{kind}: {}", headline_text(counterexample))
        }
        _ => headline_text(counterexample),
    }
}

/// A run in which nothing goes wrong has a diagram and nothing to explain.
fn run_told(title: &str, trace: &Trace) -> Told {
    let steps = trace.steps.len();
    Told {
        title: title.to_owned(),
        is_violation: false,
        facts: format!("{steps} steps"),
        place: None,
        notes: Vec::new(),
        waiting: Vec::new(),
        variables: Vec::new(),
        commands: Vec::new(),
        diagram: diagram(trace),
    }
}

/// A place as the script reads it.
fn place(location: &Location) -> Place {
    Place { file: location.file.clone(), line: location.line, column: location.column, width: location.width }
}
