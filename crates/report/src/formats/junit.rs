//! JUnit's XML: a test case for each property.
//!
//! There is no standard, but two schemas that readers check: that of Ant's task (element order,
//! attributes that must be there) and that of Jenkins' xUnit plugin (no attribute that it does not
//! know). What is written here is right by both, so a test case has neither `file` nor `line`: the
//! text of the failure begins with the place.

use super::date::date_time;
use super::findings::{Findings, Standing};
use crate::escape::{xml_attribute, xml_text};
use crate::{Layout, Property, counterexample_text, summary_text};
use std::fmt::Write as _;

/// One test case, as both schemas have it: at most one element inside.
struct Case {
    name: String,
    standing: Standing,
    /// The attribute of what is inside.
    message: String,
    /// The type of a failure or error.
    kind: String,
    /// All there is to say.
    text: String,
}

/// A test suite for the check.
#[must_use]
pub fn junit(findings: &Findings<'_>) -> String {
    let summary = findings.summary;
    let cases = cases(findings);
    // Ant's schema wants a name that is not blank.
    let name = Some(summary.system.trim()).filter(|name| !name.is_empty()).unwrap_or("allways");
    let system = xml_attribute(name);
    let count = |wanted| cases.iter().filter(|case| case.standing == wanted).count();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let _ = writeln!(
        out,
        "  <testsuite name=\"{system}\" package=\"allways\" id=\"0\" timestamp=\"{}\" hostname=\"localhost\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3}\">",
        date_time(findings.created),
        cases.len(),
        count(Standing::Failed),
        count(Standing::Error),
        count(Standing::Skipped),
        summary.covered.seconds,
    );
    out += &properties(findings);
    cases.iter().for_each(|case| out += &element(case, &system));
    let _ = writeln!(out, "    <system-out>{}</system-out>", xml_text(&summary_text(summary, &Layout::PLAIN)));
    out += "    <system-err/>\n  </testsuite>\n</testsuites>\n";
    out
}

/// What was covered, by the names that JSON has.
fn properties(findings: &Findings<'_>) -> String {
    let covered = &findings.summary.covered;
    let all = [
        ("version", findings.version.to_owned()),
        ("states", covered.states.to_string()),
        ("steps", covered.steps.to_string()),
        ("depth_max", covered.depth_max.to_string()),
        ("complete", findings.summary.complete().to_string()),
    ];
    let mut out = String::from("    <properties>\n");
    for (name, value) in all {
        let _ = writeln!(out, "      <property name=\"{name}\" value=\"{}\"/>", xml_attribute(&value));
    }
    out + "    </properties>\n"
}

/// A case for each property, and one for each trouble with the check as a whole: a dashboard shows cases, not suites.
fn cases(findings: &Findings<'_>) -> Vec<Case> {
    let properties = findings.summary.properties.iter().enumerate();
    let mut cases: Vec<Case> = properties.map(|(index, property)| case(findings, index, property)).collect();
    cases.extend(findings.troubles().into_iter().map(|why| Case {
        name: "check".to_owned(),
        standing: Standing::Error,
        message: why.clone(),
        kind: "check".to_owned(),
        text: why,
    }));
    cases
}

/// The case of a property. Its text is all counterexamples, as people read them; without one it is the note.
fn case(findings: &Findings<'_>, index: usize, property: &Property) -> Case {
    let told = |found| counterexample_text(found, findings.sources, &Layout::PLAIN);
    let shown: Vec<String> = findings.against(index).map(told).collect();
    let message = match property.note.is_empty() {
        _ if !shown.is_empty() => findings.message(index),
        true => property.verdict.words().to_owned(),
        false => format!("{}: {}", property.verdict.words(), property.note),
    };
    let text = if shown.is_empty() { message.clone() } else { shown.join("\n") };
    let standing = findings.standing(property);
    Case { name: property.name.clone(), standing, message, kind: property.kind.to_string(), text }
}

/// The element of a case. The time of a property is not known: all of them are searched together.
fn element(case: &Case, class: &str) -> String {
    let head = format!("    <testcase name=\"{}\" classname=\"{class}\" time=\"0\"", xml_attribute(&case.name));
    let (message, text) = (xml_attribute(&case.message), xml_text(&case.text));
    let verdict = |name: &str| {
        format!(
            "{head}>\n      <{name} type=\"{}\" message=\"{message}\">{text}</{name}>\n    </testcase>\n",
            case.kind
        )
    };
    match case.standing {
        Standing::Passed => format!("{head}/>\n"),
        Standing::Failed => verdict("failure"),
        Standing::Error => verdict("error"),
        Standing::Skipped => format!("{head}>\n      <skipped>{text}</skipped>\n    </testcase>\n"),
    }
}
