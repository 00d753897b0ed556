//! SARIF 2.1.0: a result for each violated property, with the trace as its code flow.
//!
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>. A thread flow is an actor, and
//! `executionOrder` the step: that is how the standard tells interleavings. What was not decided is a
//! notification of the invocation, which then was not successful.

use super::date::date_time;
use super::findings::{Findings, Standing, place};
use super::occurrences::{Occurrence, actors, occurrences};
use crate::escape::uri;
use crate::events::waiting_text;
use crate::fit::clean;
use crate::verdicts::verdict_line;
use crate::{Detail, Outcome, Property, Verdict};
use serde_json::{Value, json};
use trace::{Counterexample, FailureKind, Location};

/// Steps of a code flow; the last ones are kept. Code scanning of GitHub takes 10 000 for all results together.
const STEPS_MAX: usize = 1_000;

/// What each kind of property is about, for the list of rules.
const RULES: [(FailureKind, &str); 14] = [
    (FailureKind::Deadlock, "Deadlock: every thread or process that is left waits for ever."),
    (FailureKind::Assert, "An assertion is false."),
    (FailureKind::Runtime, "Something is used as the language forbids."),
    (FailureKind::Accept, "A cycle goes through an accept label."),
    (FailureKind::Progress, "A cycle makes no progress."),
    (FailureKind::Ltl, "A formula of linear temporal logic does not hold."),
    (FailureKind::Never, "Something is true that must never be."),
    (FailureKind::Trace, "Messages come in an order that is not allowed."),
    (FailureKind::Exclusive, "A channel is not used by one process alone, as was promised."),
    (FailureKind::Crash, "A program is ended by a signal."),
    (FailureKind::Exit, "A program ends with an exit code that says that it failed."),
    (FailureKind::Race, "Two accesses to the same memory can happen without synchronisation."),
    (FailureKind::Misuse, "A lock is used as it may not be."),
    (FailureKind::Livelock, "Somebody moves for ever and nobody gets on."),
];

/// A log with one run.
#[must_use]
pub fn sarif(findings: &Findings<'_>) -> String {
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver(findings) },
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation(findings)],
            "results": results(findings),
        }],
    });
    serde_json::to_string_pretty(&log).expect("plain data always becomes JSON") + "\n"
}

/// Who found it. All rules are listed, also those that nothing broke: code scanning closes results of rules that it knows.
fn driver(findings: &Findings<'_>) -> Value {
    let rule =
        |(kind, about): &(FailureKind, &str)| json!({ "id": kind.name(), "shortDescription": { "text": about } });
    json!({
        "name": "Allways",
        "version": findings.version,
        "informationUri": "https://github.com/allways/allways",
        "rules": RULES.iter().map(rule).collect::<Vec<_>>(),
    })
}

/// How the check went: what was not decided, warnings, and the verdict as a note.
fn invocation(findings: &Findings<'_>) -> Value {
    let is_answer =
        matches!(findings.summary.outcome(), Outcome::Verdict(Verdict::Holds | Verdict::NotFound | Verdict::Violated));
    let open = findings.summary.properties.iter().enumerate().filter_map(|(index, property)| {
        let is_open = matches!(findings.standing(property), Standing::Error | Standing::Skipped);
        is_open.then(|| format!("{}: {}: {}", property.name, property.verdict.words(), findings.message(index)))
    });
    let mut notifications: Vec<Value> = open.map(|text| notification("warning", &text)).collect();
    notifications.extend(findings.summary.warnings.iter().map(|text| notification("warning", text)));
    notifications.extend(findings.troubles().iter().map(|text| notification("error", text)));
    notifications.push(notification("note", &verdict_line(findings.summary)));
    json!({
        "executionSuccessful": is_answer && findings.doubts.is_empty(),
        "endTimeUtc": format!("{}Z", date_time(findings.created)),
        "toolExecutionNotifications": notifications,
    })
}

/// Something to say about the check itself; it has no place in a file.
fn notification(level: &str, text: &str) -> Value {
    json!({ "level": level, "message": message(text) })
}

/// A message. What a program printed must not become a link: `[text](target)` is one in plain texts, too (3.11.6).
fn message(text: &str) -> Value {
    json!({ "text": clean(text).replace("](", "] (") })
}

/// What is wrong with the system that was checked. Of what holds there is no result: readers show every one as a finding.
fn results(findings: &Findings<'_>) -> Vec<Value> {
    let properties = findings.summary.properties.iter().enumerate();
    let failed = properties.filter(|(_, property)| findings.standing(property) == Standing::Failed);
    failed.map(|(index, property)| result(findings, index, property)).collect()
}

/// The result of a property. The fingerprint is that of the counterexample, so it is known again while it stays the same.
fn result(findings: &Findings<'_>, index: usize, property: &Property) -> Value {
    let rule = RULES.iter().position(|(kind, _)| *kind == property.kind);
    let text = match property.name == property.kind.name() {
        true => findings.message(index),
        false => format!("{}: {}", property.name, findings.message(index)),
    };
    let mut result = json!({
        "ruleId": property.kind.name(),
        "ruleIndex": rule,
        "kind": "fail",
        "level": "error",
        "message": message(&text),
    });
    if let Some(found) = findings.against(index).next() {
        result["locations"] = json!([{ "physicalLocation": failing(findings, found) }]);
        result["relatedLocations"] = related(findings, found);
        result["partialFingerprints"] = json!({ "allwaysCounterexample/v1": found.fingerprint().to_string() });
        let flow = code_flow(findings, found);
        result["codeFlows"] = flow.into_iter().collect();
    }
    result
}

/// Where the result is shown; without any place it is the file that was checked.
fn failing(findings: &Findings<'_>, found: &Counterexample) -> Value {
    match place(found) {
        Some(location) => physical(findings, location),
        None => json!({ "artifactLocation": artifact(findings, &found.system.file) }),
    }
}

/// A file, relative to the root of the repository as code scanning wants it.
fn artifact(findings: &Findings<'_>, file: &str) -> Value {
    json!({ "uri": uri(&findings.paths.relative(file)) })
}

/// A place; lines and columns count from 1, and a line that nobody knows leaves the file.
fn physical(findings: &Findings<'_>, location: &Location) -> Value {
    let mut physical = json!({ "artifactLocation": artifact(findings, &location.file) });
    if location.line > 0 {
        physical["region"] = json!({ "startLine": location.line });
    }
    if location.line > 0 && location.column > 0 {
        physical["region"]["startColumn"] = json!(location.column);
        physical["region"]["endColumn"] = json!(u64::from(location.column) + u64::from(location.width.max(1)));
    }
    physical
}

/// Who waits for what, or both sides of a race.
fn related(findings: &Findings<'_>, found: &Counterexample) -> Value {
    let placed = found.wait_for.iter().filter_map(|waiting| Some((waiting, waiting.location.as_ref()?)));
    let told = placed.enumerate().map(|(id, (waiting, location))| {
        let text = format!("{} {}", found.trace.name(waiting.actor), waiting_text(waiting));
        json!({ "id": id, "message": message(&text), "physicalLocation": physical(findings, location) })
    });
    told.collect()
}

/// The trace, if its steps were kept.
fn code_flow(findings: &Findings<'_>, found: &Counterexample) -> Option<Value> {
    let all = occurrences(&found.trace, Detail::Folded);
    let shown = &all[all.len().saturating_sub(STEPS_MAX)..];
    let flow = |actor: u32| {
        let own = shown.iter().filter(|one| one.actor() == actor).map(|one| flow_location(findings, one));
        json!({ "id": clean(&found.trace.name(actor)), "locations": own.collect::<Vec<_>>() })
    };
    let threads: Vec<Value> = actors(&found.trace, shown).into_iter().map(flow).collect();
    let left_out = all.len() - shown.len();
    let about = match left_out {
        0 => format!("{} steps", found.schedule.choices.len()),
        _ => format!("the last {} of {} events", shown.len(), all.len()),
    };
    (!threads.is_empty()).then(|| json!({ "message": message(&about), "threadFlows": threads }))
}

/// A step of a thread flow: what happened and what it changed. Without debug information it has no place.
fn flow_location(findings: &Findings<'_>, one: &Occurrence<'_>) -> Value {
    let words = std::iter::once(one.text()).chain(one.changes()).collect::<Vec<_>>().join("; ");
    let mut location = json!({ "message": message(&words) });
    if let Some(place) = &one.event.location {
        location["physicalLocation"] = physical(findings, place);
    }
    json!({ "executionOrder": one.step, "location": location })
}
