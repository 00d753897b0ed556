//! Random programs through every engine: what the reductions leave out cannot matter.

mod toy;

use explore::graph::{Filter, Limits, Mode, Parts, Report, search};
use std::collections::BTreeSet;
use toy::{Machine, Program, generate};

/// Programs with more states are left out.
const STATES_MAX: usize = 4_000;

fn graph(program: &Program, mode: Mode) -> Option<Report> {
    let mut stop = |_: u64, _: u64| false;
    let mut limits = Limits { states: STATES_MAX, failures: usize::MAX, stop: &mut stop };
    let report = search(&mut Machine::new(program.clone()), mode, &mut limits);
    report.complete.then_some(report)
}

/// Programs to try: `ALLWAYS_FUZZ` of them.
fn count(default: u64) -> u64 {
    std::env::var("ALLWAYS_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(default)
}

/// What no reduction may change.
#[derive(PartialEq, Eq, Debug)]
struct Seen {
    failures: BTreeSet<String>,
    ends: Vec<u128>,
    raced: BTreeSet<(u64, bool)>,
}

fn seen(report: &Report) -> Seen {
    let failures = report.found.iter().map(|found| format!("{:?}", found.failure)).collect();
    let raced = report.races.iter().map(|race| (race.object, race.plain)).collect();
    Seen { failures, ends: report.ends.clone(), raced }
}

/// Programs that a mode gets wrong.
fn differences(programs: u64, mode: Mode) -> impl Iterator<Item = u64> {
    let differs = move |seed: &u64| {
        let (program, _) = generate::program(*seed);
        let Some(full) = graph(&program, Mode::Full) else { return false };
        let reduced = graph(&program, mode).expect("no more states than without reduction");
        seen(&full) != seen(&reduced)
    };
    (0..programs).filter(differs)
}

#[test]
fn reduced_searches_see_what_full_ones_see() {
    assert_eq!(differences(count(600), Mode::Reduced).next(), None);
}

#[test]
fn reduced_searches_that_know_nothing_of_locks_see_what_full_ones_see() {
    let mode = Mode::Partly(Parts { locks: Filter::Off, ..Parts::ALL });
    assert_eq!(differences(count(600), mode).next(), None);
}

/// The comparison is worth something only if it notices when a part is missing.
fn is_noticed(parts: Parts) -> bool {
    differences(1000, Mode::Partly(parts)).next().is_some()
}

#[test]
fn it_is_noticed_when_conflicts_are_not_looked_for() {
    assert!(is_noticed(Parts { conflicts: false, ..Parts::ALL }));
}

#[test]
fn it_is_noticed_when_cycles_are_not_broken() {
    assert!(is_noticed(Parts { cycles: false, ..Parts::ALL }));
}

#[test]
fn it_is_noticed_when_a_lock_counts_before_it_is_held() {
    assert!(is_noticed(Parts { locks: Filter::Broken, ..Parts::ALL }));
}

#[test]
fn it_is_noticed_when_a_fatal_step_hides_what_others_do() {
    assert!(is_noticed(Parts { fatal: false, ..Parts::ALL }));
}
