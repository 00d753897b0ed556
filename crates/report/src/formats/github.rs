//! Workflow commands of GitHub Actions: annotations at the lines of a change.
//!
//! `::error file=...,line=...::message`, one a line, on standard output of a step. The runner shows
//! ten errors and ten warnings of a step, so properties that hold have no line: the last one is the
//! verdict.

use super::findings::{Findings, Standing, place};
use crate::escape::{workflow_message, workflow_property};
use crate::verdicts::verdict_line;
use trace::Location;

/// An annotation for each property that does not hold or was not decided, and one for the verdict.
#[must_use]
pub fn github(findings: &Findings<'_>) -> String {
    let mut out = String::new();
    for (index, property) in findings.summary.properties.iter().enumerate() {
        let level = match findings.standing(property) {
            Standing::Failed => "error",
            Standing::Error | Standing::Skipped => "warning",
            Standing::Passed => continue,
        };
        // One annotation a property is enough: ten of a kind are shown.
        let found = findings.against(index).next();
        let title = format!("{}: {}", property.name, property.verdict.words());
        let again = found.filter(|found| !found.id.is_empty()).map(|found| format!("\nallways replay {}", found.id));
        let message = findings.message(index) + &again.unwrap_or_default();
        out += &command(level, &title, found.and_then(place), &message, findings);
    }
    for trouble in findings.troubles() {
        out += &command("error", "allways", None, &trouble, findings);
    }
    out + &command("notice", "allways", None, &verdict_line(findings.summary), findings)
}

/// One command. Lines and columns that nobody knows are left out: GitHub takes 0 for the first one.
fn command(level: &str, title: &str, at: Option<&Location>, message: &str, findings: &Findings<'_>) -> String {
    let mut properties = vec![format!("title={}", workflow_property(title))];
    if let Some(at) = at.filter(|at| at.line > 0) {
        let file = workflow_property(&findings.paths.relative(&at.file));
        properties.extend([format!("file={file}"), format!("line={}", at.line)]);
        properties.extend((at.column > 0).then(|| format!("col={}", at.column)));
    }
    format!("::{level} {}::{}\n", properties.join(","), workflow_message(message))
}
