//! The saved counterexamples as one JSON object, for scripts.
//!
//! As for a check: adding a field is safe, renaming one breaks scripts.

use crate::formats::place;
use serde::Serialize;
use trace::{Counterexample, FailureKind};

/// The version of this format.
const VERSION: u32 = 1;

/// A saved counterexample, or why it cannot be read.
pub struct Listed {
    /// The name of its folder.
    pub id: String,
    /// What is in it.
    pub content: Result<Counterexample, String>,
}

#[derive(Serialize)]
struct Object<'a> {
    version: u32,
    latest: Option<&'a str>,
    counterexamples: Vec<Entry<'a>>,
}

/// A line of the list. A file that cannot be read has an id and an error, and null for the rest: a script can rely on the keys.
#[derive(Serialize, Default)]
struct Entry<'a> {
    id: &'a str,
    created: Option<u64>,
    system: Option<&'a str>,
    property: Option<&'a str>,
    kind: Option<FailureKind>,
    message: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    steps: Option<usize>,
    error: Option<&'a str>,
}

/// The list on one line; the oldest first, if it comes so.
#[must_use]
pub fn list_json(all: &[Listed], latest: Option<&str>) -> String {
    let object = Object { version: VERSION, latest, counterexamples: all.iter().map(entry).collect() };
    serde_json::to_string(&object).expect("plain data always becomes JSON") + "\n"
}

/// The place is that which dashboards show, not only the one of the failure.
fn entry(listed: &Listed) -> Entry<'_> {
    match &listed.content {
        Ok(found) => Entry {
            id: &listed.id,
            created: Some(found.created),
            system: Some(&found.system.file),
            property: Some(&found.property.name),
            kind: Some(found.property.kind),
            message: Some(&found.message),
            file: place(found).map(|at| at.file.as_str()),
            line: place(found).map(|at| at.line),
            steps: Some(found.schedule.choices.len()),
            error: None,
        },
        Err(why) => Entry { id: &listed.id, error: Some(why), ..Entry::default() },
    }
}
