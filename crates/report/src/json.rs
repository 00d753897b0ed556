//! One JSON object for scripts.
//!
//! Read by scripts: adding a field is safe, renaming or removing one breaks them, and so does
//! another word for a verdict. One line, so that the logs of several runs can be joined.

use crate::events::worded;
use crate::formats::{Findings, place};
use crate::{End, Programs, PropertyVerdict, Summary, Unreached, Verdict};
use serde::Serialize;
use trace::{Counterexample, FailureKind};

/// The version of this format. It grows when a field goes or changes its meaning; a new field changes nothing.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Object<'a> {
    version: u32,
    tool: String,
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
    warnings: Vec<&'a str>,
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
    file: Option<&'a str>,
    line: Option<u32>,
    message: Option<&'a str>,
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

/// The findings as one object on one line.
#[must_use]
pub fn summary_json(findings: &Findings<'_>) -> String {
    let summary = findings.summary;
    let covered = &summary.covered;
    let object = Object {
        version: VERSION,
        tool: format!("allways {}", findings.version),
        verdict: summary.verdict(),
        complete: summary.complete(),
        properties: properties(findings),
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
        warnings: summary.warnings.iter().chain(findings.doubts).map(String::as_str).collect(),
        coverage: coverage(summary),
    };
    serde_json::to_string(&object).expect("plain data always becomes JSON") + "\n"
}

/// The properties, each with what its first counterexample says and points to. Files are named as the user did.
fn properties<'a>(findings: &Findings<'a>) -> Vec<PropertyObject<'a>> {
    let properties = findings.summary.properties.iter().enumerate().map(|(index, property)| {
        let found = findings.against(index).next();
        let at = found.and_then(place);
        PropertyObject {
            name: &property.name,
            kind: property.kind,
            verdict: property.verdict,
            counterexample: property.counterexample.as_deref(),
            violations: property.violations,
            note: &property.note,
            file: at.map(|at| at.file.as_str()),
            line: at.map(|at| at.line),
            message: found.map(|found| found.message.as_str()),
        }
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
