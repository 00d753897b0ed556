//! One JSON object for scripts.
//!
//! Read by scripts: adding a field is safe, renaming or removing one breaks them, and so does
//! another word for a verdict. One line, so that the logs of several runs can be joined.

use crate::events::worded;
use crate::{End, Programs, PropertyVerdict, Summary, Unreached, Verdict};
use serde::Serialize;
use trace::{Counterexample, FailureKind};

#[derive(Serialize)]
struct Object<'a> {
    verdict: Verdict,
    complete: bool,
    properties: Vec<PropertyObject<'a>>,
    states: u64,
    steps: u64,
    traces: u64,
    depth_max: u64,
    seconds: f64,
    cpu_seconds: f64,
    memory_bytes: u64,
    store_bytes: u64,
    state_bytes: u64,
    matched: u64,
    not_controlled: &'a [String],
    warnings: &'a [String],
    coverage: Coverage<'a>,
}

#[derive(Serialize)]
struct PropertyObject<'a> {
    name: &'a str,
    kind: FailureKind,
    verdict: PropertyVerdict,
    counterexample: Option<&'a str>,
    violations: u64,
    note: &'a str,
}

#[derive(Serialize)]
struct Coverage<'a> {
    system: &'a str,
    end: &'static str,
    bound: Option<&'a str>,
    order: &'a str,
    store: &'a str,
    reduction: &'a str,
    workers: usize,
    fair: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    faults: Option<&'a str>,
    seed: Option<u64>,
    collision_probability: Option<f64>,
    unreached: Option<&'a [Unreached]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    programs: Option<&'a Programs>,
}

/// The summary as one object on one line.
#[must_use]
pub fn summary_json(summary: &Summary) -> String {
    let covered = &summary.covered;
    let object = Object {
        verdict: summary.verdict(),
        complete: summary.complete(),
        properties: properties(summary),
        states: covered.states,
        steps: covered.steps,
        traces: covered.traces,
        depth_max: covered.depth_max,
        seconds: covered.seconds,
        cpu_seconds: covered.cpu_seconds,
        memory_bytes: covered.memory_bytes,
        store_bytes: covered.store_bytes,
        state_bytes: covered.state_bytes,
        matched: covered.matched,
        not_controlled: &summary.not_controlled,
        warnings: &summary.warnings,
        coverage: coverage(summary),
    };
    serde_json::to_string(&object).expect("plain data always becomes JSON") + "\n"
}

fn properties(summary: &Summary) -> Vec<PropertyObject<'_>> {
    let properties = summary.properties.iter().map(|property| PropertyObject {
        name: &property.name,
        kind: property.kind,
        verdict: property.verdict,
        counterexample: property.counterexample.as_deref(),
        violations: property.violations,
        note: &property.note,
    });
    properties.collect()
}

fn coverage(summary: &Summary) -> Coverage<'_> {
    let covered = &summary.covered;
    let (end, bound) = match &covered.end {
        End::Exhaustive => ("exhaustive", None),
        End::Bound(bound) => ("bound", Some(bound.as_str())),
        End::Limit(effort) => ("limit", Some(effort.as_str())),
        End::Violation => ("violation", None),
        End::Inconclusive(why) => ("inconclusive", Some(why.as_str())),
        End::Interrupted => ("interrupted", None),
    };
    Coverage {
        system: &summary.system,
        end,
        bound,
        order: &covered.order,
        store: &covered.store,
        reduction: &covered.reduction,
        workers: covered.workers,
        fair: covered.fair,
        faults: (!covered.faults.is_empty()).then_some(covered.faults.as_str()),
        seed: covered.seed,
        collision_probability: covered.collision_probability,
        unreached: summary.unreached.as_deref(),
        programs: summary.programs.as_ref(),
    }
}

/// A counterexample as its file has it: the data of every event, and its words for people who read the file.
#[must_use]
pub fn counterexample_json(counterexample: &Counterexample) -> String {
    worded(counterexample).to_json()
}
