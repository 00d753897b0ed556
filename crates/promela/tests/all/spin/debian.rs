//! The examples of Debian's `spin` package, against the verdicts and counts in `models/debian.csv`.

use super::counts::{self, STATES_MAX};
use super::csv::{self, Row};
use super::kinds::{Extent, Kinds, agree, kinds};
use super::subject::{self, Subject};
use super::{all_agree, repository};
use explore::{Fairness, Reduction};
use promela::engines;
use promela::run::{Backend, ModelSystem};
use std::collections::BTreeMap;
use std::path::PathBuf;
use trace::FailureKind;

/// Rows on which SPIN and we differ on purpose. Model, run, reason.
const DIFFERENT: [(&str, &str, &str); 9] = [
    ("Book_1991/p108", "first", ENDLESS),
    ("Book_1991/p108", "all", ENDLESS),
    ("Book_1991/p108", "states", ENDLESS),
    ("Book_1991/p108", "progress", ENDLESS),
    ("priorities", "first", HIDDEN),
    ("priorities", "all", HIDDEN),
    ("priorities", "progress", HIDDEN),
    ("wordcount", "states", INPUT),
    ("wordcount", "progress", INPUT),
];

const HIDDEN: &str =
    "counters that nobody reads, which are there in the model as written: compared in a test of its own";
const INPUT: &str = "a run-time error: pan counts the state in which it fails, and stops the search for cycles";
const ENDLESS: &str = "runs into SPIN's limits; the way to our limit of 255 processes is too long for a test";

/// Cycles are searched for in pairs of states, on one worker: the bound is lower.
const PAIRS_MAX: u64 = 150_000;

fn file(model: &str) -> PathBuf {
    let path = PathBuf::from(format!("/usr/share/doc/spin/examples/Examples/{model}.pml"));
    assert!(path.exists(), "{} is missing: install Debian's package spin", path.display());
    path
}

fn rows(run: &str) -> Vec<Row> {
    let rows = csv::read(&repository("models/debian.csv")).into_iter();
    let different =
        |row: &Row| DIFFERENT.iter().any(|(model, run, _)| (*model, *run) == (row.get("model"), row.get("run")));
    rows.filter(|row| row.get("run") == run && !different(row)).collect()
}

fn load(row: &Row) -> Subject {
    Subject::native(&file(row.get("model")), &[]).unwrap_or_else(|why| panic!("{}: {why}", row.get("model")))
}

fn fairness(row: &Row) -> Fairness {
    if row.get("fair") == "weak" { Fairness::Weak } else { Fairness::Off }
}

/// SPIN gave an answer and the search is not too large for a test.
fn comparable(row: &Row, max: u64) -> bool {
    matches!(row.get("status"), "complete" | "stopped") && row.number("stored").is_some_and(|stored| stored <= max)
}

fn extent(row: &Row) -> Extent {
    if row.get("status") == "stopped" { Extent::First } else { Extent::All }
}

fn name(row: &Row) -> String {
    format!("{} {} {} fair={}", row.get("model"), row.get("run"), row.get("claim"), row.get("fair"))
}

#[test]
fn what_spin_accepts_we_accept() {
    let rows = rows("parse");
    let differs = |row: &&Row| {
        let accepted = subject::read(&file(row.get("model")), &[]).is_ok();
        accepted != (row.get("status") == "complete")
    };
    let differences: Vec<String> = rows.iter().filter(differs).map(name).collect();
    all_agree(&differences);
    assert_eq!(rows.len(), 78, "rows compared");
}

#[test]
fn the_examples_have_spins_counts() {
    let rows: Vec<Row> = rows("states").into_iter().filter(|row| comparable(row, STATES_MAX)).collect();
    let differences: Vec<String> = rows.iter().filter_map(|row| counts::difference(row, &load(row))).collect();
    all_agree(&differences);
    assert_eq!(rows.len(), 64, "rows compared");
}

/// How many states a model has, if SPIN could count them.
fn sizes() -> BTreeMap<String, u64> {
    let rows = counts::rows("models/debian.csv").into_iter();
    rows.filter_map(|row| Some((row.get("model").to_owned(), row.number("stored")?))).collect()
}

fn safety(run: &str, expected: usize) {
    let sizes = sizes();
    let small = |row: &Row| sizes.get(row.get("model")).is_some_and(|size| *size <= STATES_MAX);
    let fits = |row: &Row| comparable(row, u64::MAX) && small(row);
    let rows: Vec<Row> = rows(run).into_iter().filter(fits).collect();
    let difference = |row: &Row| {
        let (spin, ours) = (kinds(row.get("kinds"), None), load(row).safety(Reduction::Safety));
        (!agree(&spin, &ours, extent(row))).then(|| format!("{}: SPIN finds {spin:?}, we find {ours:?}", name(row)))
    };
    all_agree(&rows.iter().filter_map(difference).collect::<Vec<_>>());
    assert_eq!(rows.len(), expected, "rows compared");
}

#[test]
fn the_examples_have_spins_first_error() {
    safety("first", 65);
}

#[test]
fn the_examples_have_spins_errors() {
    safety("all", 65);
}

/// SPIN's kinds without the failed steps that it met on the way.
fn cycles_of_spin(row: &Row, claim: Option<FailureKind>) -> Kinds {
    let on_the_way = [FailureKind::Assert, FailureKind::Deadlock];
    kinds(row.get("kinds"), claim).into_iter().filter(|kind| !on_the_way.contains(kind)).collect()
}

fn accept(row: &Row) -> Option<String> {
    let mut subject = load(row);
    let (claim, ours) = match row.get("claim") {
        "" => (None, subject.acceptance(fairness(row))),
        name => {
            let property = subject.claim((name != "never").then_some(name)).expect("the claim is there");
            (Some(property.kind), subject.cycles(&property, fairness(row)))
        }
    };
    let spin = cycles_of_spin(row, claim);
    (spin != ours).then(|| format!("{}: SPIN finds {spin:?}, we find {ours:?}", name(row)))
}

#[test]
fn the_examples_have_spins_acceptance_cycles() {
    let rows: Vec<Row> = rows("accept").into_iter().filter(|row| comparable(row, PAIRS_MAX)).collect();
    all_agree(&rows.iter().filter_map(accept).collect::<Vec<_>>());
    assert_eq!(rows.len(), 48, "rows compared");
}

fn progress(fair: &str, expected: usize) {
    let rows: Vec<Row> =
        rows("progress").into_iter().filter(|row| row.get("fair") == fair && comparable(row, PAIRS_MAX)).collect();
    let difference = |row: &Row| {
        let (spin, ours) = (cycles_of_spin(row, None), load(row).progress(fairness(row)));
        (spin != ours).then(|| format!("{}: SPIN finds {spin:?}, we find {ours:?}", name(row)))
    };
    all_agree(&rows.iter().filter_map(difference).collect::<Vec<_>>());
    assert_eq!(rows.len(), expected, "rows compared");
}

#[test]
fn the_examples_have_spins_non_progress_cycles() {
    progress("no", 69);
}

#[test]
fn the_examples_have_spins_non_progress_cycles_under_fairness() {
    progress("weak", 62);
}

#[test]
fn counters_that_nobody_reads_take_no_states_as_in_spin() {
    let (model, sources) = subject::read(&file("priorities"), &[]).expect("a model");
    let lean = promela::unread::without_unread(&model, &[]).expect("has counters that nobody reads");
    let system = ModelSystem::new(lean, sources, Backend::Interpreter);
    let outcome = engines::search(&system, &explore::Options::default(), explore::Control::default());
    let row = rows_of("priorities", "first");
    assert_eq!((Some(outcome.stats.states), outcome.violations.len()), (row.number("stored"), 0));
}

fn rows_of(model: &str, run: &str) -> Row {
    let mut rows = csv::read(&repository("models/debian.csv")).into_iter();
    rows.find(|row| (row.get("model"), row.get("run")) == (model, run)).expect("a row of the table")
}
