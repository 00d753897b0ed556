//! A trace as a space-time diagram: lanes, rows, messages.

use super::lane::{Lane, Lanes};
use crate::events::event_text;
use crate::fold::{is_fault, quiet_events, quiet_steps};
use crate::messages::{Place as Passing, messages};
use serde::Serialize;
use trace::{Event, EventKind, Trace};

/// A trace, ready to be drawn.
#[derive(Serialize)]
pub(super) struct Diagram {
    lanes: Vec<Lane>,
    rows: Vec<Row>,
    arrows: Vec<Arrow>,
    /// How many steps there are.
    steps: usize,
    /// The row with which the cycle of a lasso begins; that behind the last if the last state is repeated.
    cycle: Option<usize>,
}

/// An event.
///
/// **Invariant:** rows are in the order of the trace; those of a step follow each other.
#[derive(Serialize)]
pub(super) struct Row {
    /// The number of its step, from 1.
    pub step: usize,
    /// Who does it; nothing if it happens to all.
    pub lane: Option<usize>,
    text: String,
    place: Option<Place>,
    /// Name, value before, value after.
    changes: Vec<[String; 3]>,
    output: Option<String>,
    failure: Option<String>,
    /// The lane that begins with it.
    starts: Option<usize>,
    /// Whether another actor moved before.
    is_switch: bool,
    /// Whether it is a fault.
    is_fault: bool,
    /// Whether it is folded unless it is asked for.
    is_quiet: bool,
}

/// A message between two rows, or one that nobody receives: rows and lanes of both ends.
#[derive(Serialize)]
pub(super) struct Arrow {
    from: (usize, usize),
    to: Option<(usize, usize)>,
    channel: String,
    text: String,
}

/// A place in a source file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(super) struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub width: u32,
}

/// Lays a trace out.
pub(super) fn diagram(trace: &Trace) -> Diagram {
    let lanes = Lanes::of(trace);
    let rows = rows(trace, &lanes);
    let cycle = trace.cycle_start.map(|start| rows.iter().take_while(|row| row.step <= start).count());
    let arrows = arrows(trace, &lanes);
    Diagram { steps: trace.steps.len(), lanes: lanes.lanes, rows, arrows, cycle }
}

/// Every event has a row of its own, so an event's number is that of its row.
fn arrows(trace: &Trace, lanes: &Lanes) -> Vec<Arrow> {
    let end = |at: Passing| Some((at.event, lanes.lane(at.actor)?));
    let arrows = messages(trace).into_iter().filter_map(|sent| {
        Some(Arrow { from: end(sent.from)?, to: sent.to.and_then(end), channel: sent.channel, text: sent.text })
    });
    arrows.collect()
}

/// A row for each event. What the text folds, the page folds: both ask `fold`.
fn rows(trace: &Trace, lanes: &Lanes) -> Vec<Row> {
    let quiet = quiet_steps(trace);
    let mut rows = Vec::new();
    let mut last = None;
    for (index, step) in trace.steps.iter().enumerate() {
        let quiet_events = quiet_events(&step.events);
        let is_switch = last.is_some_and(|last| last != step.choice.actor);
        for (at, event) in step.events.iter().enumerate() {
            let is_quiet = quiet[index] || quiet_events[at];
            let row = row(trace, lanes, event);
            rows.push(Row { step: index + 1, is_switch: is_switch && at == 0, is_quiet, ..row });
        }
        last = Some(step.choice.actor);
    }
    rows
}

/// A row without its place among the others.
fn row(trace: &Trace, lanes: &Lanes, event: &Event) -> Row {
    let changes = event.changes.iter();
    let location = event.location.as_ref();
    Row {
        step: 0,
        lane: lanes.lane(event.actor),
        text: event_text(event).into_owned(),
        place: location.map(super::place),
        changes: changes.map(|change| [change.name.clone(), change.before.clone(), change.after.clone()]).collect(),
        output: event.output.clone(),
        failure: event.failure.clone(),
        starts: event.created.and_then(|actor| lanes.lane(actor)),
        is_switch: false,
        is_fault: is_fault(trace, event.actor) || happens_to(event),
        is_quiet: false,
    }
}

/// Whether an event is a fault, or a call to which one happens.
fn happens_to(event: &Event) -> bool {
    matches!(event.kind, EventKind::Fault(_)) || event.kind.call().is_some_and(|call| call.fault.is_some())
}
