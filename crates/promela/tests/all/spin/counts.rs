//! Counts of states and steps with every reduction off: the `states` rows of the tables.

use super::csv::{self, Row};
use super::kinds::{Extent, agree, kinds};
use super::subject::Subject;
use super::{all_agree, repository};
use explore::Outcome;
use std::path::Path;

/// Larger state spaces are left to the benchmark.
pub const STATES_MAX: u64 = 300_000;

/// The rows of a table that have counts.
pub fn rows(table: &str) -> Vec<Row> {
    let rows = csv::read(&repository(table)).into_iter();
    rows.filter(|row| row.get("run") == "states" && row.number("stored").is_some()).collect()
}

/// How our counts differ from a row.
pub fn difference(row: &Row, subject: &Subject) -> Option<String> {
    let outcome = subject.count(STATES_MAX * 2);
    let spin = (row.number("stored").expect("a count"), row.number("transitions").expect("a count") - 1);
    let ours = (outcome.stats.states, outcome.stats.steps);
    let (spin_kinds, our_kinds) = (kinds(row.get("kinds"), None), found(&outcome));
    // Where SPIN gives up at the first run-time error there is no count to compare.
    let gave_up = row.get("status") == "stopped";
    let same = outcome.complete() && (gave_up || spin == ours) && agree(&spin_kinds, &our_kinds, Extent::All);
    let name = row.get("model");
    (!same).then(|| format!("{name}: SPIN counts {spin:?} {spin_kinds:?}, we count {ours:?} {our_kinds:?}"))
}

fn found(outcome: &Outcome) -> super::kinds::Kinds {
    outcome.violations.iter().map(|violation| violation.failure.kind).collect()
}

fn differences(table: &str, folder: &str, exceptions: &[(&str, &str)]) -> (usize, Vec<String>) {
    let rows = rows(table);
    let is_exception = |row: &&Row| exceptions.iter().any(|(model, _)| row.get("model") == *model);
    let compared: Vec<&Row> = rows.iter().filter(|row| !is_exception(row)).collect();
    assert_eq!(rows.len() - compared.len(), exceptions.len(), "an exception without a row");
    let mut found = Vec::new();
    for row in &compared {
        let path = repository(&format!("{folder}/{}.pml", row.get("model")));
        found.extend(both_ways(row, &path));
    }
    (compared.len(), found)
}

/// By the interpreter and by native code.
fn both_ways(row: &Row, path: &Path) -> Vec<String> {
    let read = |why: String| -> ! { panic!("{}: {why}", path.display()) };
    let interpreted = Subject::interpreted(path, &[]).unwrap_or_else(|why| read(why));
    let native = Subject::native(path, &[]).unwrap_or_else(|why| read(why));
    let native = difference(row, &native).map(|text| format!("{text} (native code)"));
    difference(row, &interpreted).into_iter().chain(native).collect()
}

/// Models of which SPIN's count is another one, and why.
const MICRO_DIFFERENT: [(&str, &str); 7] = [
    ("atomic_loop", "an endless atomic loop shows no next state, so there is no step"),
    ("msg_fewargs", RUN_TIME),
    ("notrace_bad", RUN_TIME),
    ("poll_rv", RUN_TIME),
    ("prio_set", "SPIN restores a priority wrongly when set_priority named a process that is gone"),
    ("xr_poll", PROMISE),
    ("xs_viol", PROMISE),
];

const RUN_TIME: &str = "a run-time error ends the path here; SPIN counts it and goes on";
const PROMISE: &str = "promises are checked always; SPIN checks them only when it reduces";

#[test]
fn micro_models_have_spins_counts() {
    let (compared, found) = differences("models/micro/states.csv", "models/micro", &MICRO_DIFFERENT);
    all_agree(&found);
    assert_eq!(compared, 117 - MICRO_DIFFERENT.len());
}

#[test]
fn the_appliance_has_spins_counts() {
    let (compared, found) = differences("models/av/states.csv", "models/av", &[]);
    all_agree(&found);
    assert_eq!(compared, 10);
}
