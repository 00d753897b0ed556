//! Trace events for Perfetto and Chrome: a track for each actor, a millisecond for each step.
//!
//! The JSON form of the "Trace Event Format", which <https://ui.perfetto.dev> opens. Time is the number of the step: nothing
//! that took time is measured here.

use super::causality::{Edge, edges};
use super::occurrences::{Occurrence, actors, occurrences};
use crate::Detail;
use crate::escape::line;
use crate::fold::is_fault;
use serde_json::{Value, json};
use trace::Counterexample;

/// Microseconds, the unit of the format, for one step.
const STEP: usize = 1_000;
/// All tracks are those of one process.
const PROCESS: u32 = 1;

/// The trace of a counterexample.
#[must_use]
pub fn perfetto(found: &Counterexample) -> String {
    let all = occurrences(&found.trace, Detail::Full);
    let times = times(&all);
    let mut events = tracks(found, &all);
    events.extend(all.iter().zip(&times).map(|(one, time)| slice(found, one, *time)));
    for (id, edge) in edges(found, &all).iter().enumerate() {
        events.extend(flow(id + 1, edge, &all, &times));
    }
    events.extend(switches(found, &all, &times));
    events.extend(cycle(found));
    events.push(instant("violation", &found.message, (found.trace.steps.len() + 1) * STEP, None));
    let file = json!({
        "displayTimeUnit": "ms",
        "otherData": { "tool": found.tool, "system": found.system.file, "property": found.property.name },
        "traceEvents": events,
    });
    serde_json::to_string(&file).expect("plain data always becomes JSON") + "\n"
}

/// When each occurrence begins and how long it takes: those of one step share its millisecond.
fn times(all: &[Occurrence<'_>]) -> Vec<(usize, usize)> {
    let steps = all.chunk_by(|one, next| one.step == next.step);
    let shared = steps.flat_map(|step| {
        let each = (STEP / step.len()).max(1);
        step.iter().enumerate().map(move |(index, one)| (one.step * STEP + index * each, each))
    });
    shared.collect()
}

/// Numbers of threads begin with 1: Perfetto takes 0 for the idle thread.
fn track(actor: u32) -> u64 {
    u64::from(actor) + 1
}

/// Names of tracks, in the order in which lanes stand in the text.
fn tracks(found: &Counterexample, all: &[Occurrence<'_>]) -> Vec<Value> {
    let name = |what: &str, track: u64, name: &str| json!({ "ph": "M", "name": what, "pid": PROCESS, "tid": track, "args": { "name": line(name) } });
    let mut told = vec![name("process_name", 0, &found.system.file)];
    for (order, actor) in actors(&found.trace, all).into_iter().enumerate() {
        told.push(name("thread_name", track(actor), &found.trace.name(actor)));
        let order = json!({ "sort_index": order });
        told.push(
            json!({ "ph": "M", "name": "thread_sort_index", "pid": PROCESS, "tid": track(actor), "args": order }),
        );
    }
    told
}

/// An event as a slice of its actor's track; a fault is an instant across all tracks besides.
fn slice(found: &Counterexample, one: &Occurrence<'_>, (begin, length): (usize, usize)) -> Value {
    let event = one.event;
    let category = if is_fault(&found.trace, event.actor) { "fault" } else { "step" };
    let mut about = json!({ "step": one.step });
    let told = [("place", one.place()), ("output", event.output.clone()), ("failure", event.failure.clone())];
    for (key, value) in told.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        about[key] = json!(value);
    }
    if !event.changes.is_empty() {
        about["changed"] = json!(one.changes());
    }
    if category == "fault" {
        return instant("fault", &one.text(), begin, Some((event.actor, about)));
    }
    json!({
        "ph": "X", "cat": category, "name": one.text(), "pid": PROCESS, "tid": track(event.actor), "ts": begin, "dur": length,
        "args": about,
    })
}

/// Something without a duration, seen on all tracks.
fn instant(category: &str, name: &str, at: usize, by: Option<(u32, Value)>) -> Value {
    let (actor, about) = by.map_or((0, json!({})), |(actor, about)| (track(actor), about));
    json!({
        "ph": "i", "s": "g", "cat": category, "name": line(name), "pid": PROCESS, "tid": actor, "ts": at, "args": about,
    })
}

/// An arrow from one slice to another; it begins and ends within them.
fn flow(id: usize, edge: &Edge, all: &[Occurrence<'_>], times: &[(usize, usize)]) -> [Value; 2] {
    let end = |phase: &str, at: usize| {
        json!({
            "ph": phase, "id": id, "cat": edge.cause.name(), "name": edge.cause.name(), "pid": PROCESS,
            "tid": track(all[at].actor()), "ts": times[at].0, "bp": "e",
        })
    };
    [end("s", edge.from), end("f", edge.to)]
}

/// Where another actor takes over.
fn switches(found: &Counterexample, all: &[Occurrence<'_>], times: &[(usize, usize)]) -> Vec<Value> {
    let taken_over = all.windows(2).zip(&times[1.min(times.len())..]).filter(|(pair, _)| {
        let is_fault = is_fault(&found.trace, pair[1].actor());
        pair[0].step != pair[1].step && pair[0].actor() != pair[1].actor() && !is_fault
    });
    let told = taken_over.map(|(pair, (begin, _))| {
        let name = format!("switch to {}", line(&found.trace.name(pair[1].actor())));
        json!({
            "ph": "i", "s": "t", "cat": "switch", "name": name, "pid": PROCESS, "tid": track(pair[1].actor()), "ts": begin,
        })
    });
    told.collect()
}

/// Where the cycle of a lasso begins.
fn cycle(found: &Counterexample) -> Option<Value> {
    let start = found.trace.cycle_start?;
    Some(instant("cycle", "what follows is repeated for ever", (start + 1) * STEP, None))
}
