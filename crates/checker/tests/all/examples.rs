//! The example programs, built by gcc as they stand: all schedules, the verdicts that `programs/README.md` tells.

use crate::inside;
use crate::start;
use checker::memo::memoized::Memoized;
use checker::{Engine, Options, Outcome, Programs, search, search_by};
use explore::graph::{self, FootprintSystem, Limits, Mode, Report};
use explore::stateless;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use trace::FailureKind::{self, Assert, Deadlock};

/// Builds an example.
fn build(file: &str, flags: &[&str]) -> PathBuf {
    // Tests run at the same time, some of them on the same example.
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    let folder = inside::folder(&format!("example-{test}-{file}{}", flags.concat()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs").join(file);
    let mut gcc = std::process::Command::new("gcc");
    gcc.args(["-g", "-O1", "-pthread"]).args(flags).arg(source).arg("-o").arg(folder.join("program"));
    assert!(gcc.status().expect("gcc runs").success(), "{file} {flags:?} does not compile");
    folder
}

fn start(folder: &Path) -> Programs {
    start::search_of(folder, Options::default())
}

/// Searches all schedules of an example.
fn explore(folder: &Path, failures: usize) -> Outcome {
    let mut programs = start(folder);
    let mut limits = Limits { states: 2_000_000, failures, stop: &mut |_, _| false };
    let outcome = search(&mut programs, Mode::Reduced, &mut limits);
    assert!(programs.refusal.is_none(), "{:?}", programs.refusal);
    outcome
}

/// All schedules of an example are explored; exactly these kinds of failures are found.
fn all_ways(file: &str, flags: &[&str], kinds: &[FailureKind]) {
    let outcome = explore(&build(file, flags), usize::MAX);
    assert!(outcome.report.complete, "{file} {flags:?}");
    let found: BTreeSet<FailureKind> = outcome.report.found.iter().map(|found| found.failure.kind).collect();
    assert_eq!(found, kinds.iter().copied().collect(), "{file} {flags:?}");
}

fn counted(file: &str, flags: &[&str]) -> stateless::Report {
    let mut programs = start(&build(file, flags));
    let mut limits = Limits { states: 2_000_000, failures: usize::MAX, stop: &mut |_, _| false };
    let outcome = search_by(&Engine::Classes { depth: 10_000 }, &mut programs, &mut limits);
    assert!(outcome.report.complete && programs.refusal.is_none(), "{file} {flags:?}");
    outcome.classes.expect("classes were searched")
}

/// Classes of schedules that differ in the order of conflicting operations: all, stuck, failed.
fn classes(file: &str, flags: &[&str]) -> (u64, u64, u64) {
    let report = counted(file, flags);
    (report.traces, report.stuck, report.failed)
}

#[test]
fn schedules_are_counted_exactly() {
    assert_eq!(classes("phil.c", &["-DN=2"]), (3, 1, 0));
    assert_eq!(classes("phil.c", &["-DN=3"]), (7, 1, 0));
    assert_eq!(classes("phil.c", &["-DN=4", "-DFIXED"]), (14, 0, 0));
    assert_eq!(classes("rax.c", &["-DROUNDS=1"]), (4, 0, 0));
    assert_eq!(classes("rax.c", &["-DROUNDS=2"]), (16, 0, 0));
    assert_eq!(classes("rax.c", &["-DROUNDS=2", "-DCOND_OUTER"]), (31, 15, 0));
    assert_eq!(classes("treiber.c", &["-DT=2", "-DK=1"]), (80, 0, 0));
    assert_eq!(classes("sb.c", &[]), (3, 0, 0));
    // Its loop looks at two words.
    assert_eq!(classes("peterson.c", &["-DK=1"]), (4, 0, 0));
    assert_eq!(classes("peterson.c", &["-DK=2"]), (48, 0, 0));
}

#[test]
fn schedules_of_bounded_buffers_are_counted_exactly() {
    const SMALL: [&str; 3] = ["-DNP=2", "-DNC=2", "-DITEMS=1"];
    let with = |flag| classes("bbuf.c", &[&SMALL[..], &[flag]].concat());
    assert_eq!(classes("bbuf.c", &["-DNP=1", "-DNC=1", "-DITEMS=2"]), (8, 0, 0));
    assert_eq!(classes("bbuf.c", &SMALL), (64, 0, 0));
    assert_eq!(with("-DBUG_IF"), (64, 0, 8));
    assert_eq!(with("-DBUG_SIGNAL"), (80, 8, 0));
    assert_eq!(with("-DONE_CV_BROADCAST"), (80, 0, 0));
}

/// Otherwise long counts become slow.
#[test]
fn few_runs_are_given_up_while_schedules_are_counted() {
    for flag in ["-DBUG_IF", "-DBUG_SIGNAL", "-DONE_CV_BROADCAST"] {
        let report = counted("bbuf.c", &["-DNP=2", "-DNC=2", "-DITEMS=1", flag]);
        assert!(report.redundant <= 3 * report.traces, "{flag}: {} runs like another", report.redundant);
        assert!(report.executed <= 40 * report.traces, "{flag}: {} steps", report.executed);
    }
}

#[test]
fn philosophers_starve_unless_one_is_left_handed() {
    all_ways("phil.c", &["-DN=3"], &[Deadlock]);
    all_ways("phil.c", &["-DN=4"], &[Deadlock]);
    all_ways("phil.c", &["-DN=4", "-DFIXED"], &[]);
}

#[test]
fn bounded_buffers_fail_as_they_are_meant_to() {
    const SMALL: [&str; 3] = ["-DNP=2", "-DNC=2", "-DITEMS=1"];
    let with = |flag| [&SMALL[..], &[flag]].concat();
    all_ways("bbuf.c", &SMALL, &[]);
    all_ways("bbuf.c", &with("-DBUG_IF"), &[Assert]);
    all_ways("bbuf.c", &with("-DBUG_SIGNAL"), &[Deadlock]);
    all_ways("bbuf.c", &with("-DONE_CV_BROADCAST"), &[]);
    all_ways("bbuf.c", &["-DNP=1", "-DNC=1", "-DITEMS=2"], &[]);
}

#[test]
fn the_remote_agent_deadlocks_with_the_outer_check_only() {
    for file in ["rax.c", "rax_sysv.c"] {
        for rounds in ["-DROUNDS=2", "-DROUNDS=0"] {
            all_ways(file, &[rounds], &[]);
            all_ways(file, &[rounds, "-DCOND_OUTER"], &[Deadlock]);
        }
    }
}

#[test]
fn lock_free_examples_hold_and_their_bugs_are_found() {
    all_ways("sb.c", &[], &[]);
    all_ways("peterson.c", &["-DK=1"], &[]);
    all_ways("peterson.c", &["-DK=1", "-DBUG"], &[Assert]);
    all_ways("treiber.c", &["-DT=2", "-DK=1"], &[]);
    all_ways("treiber.c", &["-DT=2", "-DK=2"], &[]);
}

#[test]
fn servers_with_two_clients_are_explored_to_the_end() {
    all_ways("daytime.c", &[], &[]);
    all_ways("echo.c", &[], &[]);
    all_ways("chat.c", &[], &[]);
}

#[test]
fn both_bugs_of_the_chat_server_are_found() {
    let early = explore(&build("chat.c", &["-DBUG_INIT"]), 1);
    assert_eq!(early.report.found[0].failure.kind, Assert);
    // Optimised, the compiler reads the entry only once, so the assertion cannot fail; the race is there all the same.
    let unlocked = explore(&build("chat.c", &["-DBUG_SYNC"]), 1);
    assert!(unlocked.races.iter().any(|race| race.plain));
    let literal = explore(&build("chat.c", &["-DBUG_SYNC", "-O0"]), 1);
    assert!(!literal.report.found.is_empty());
}

/// One round of a search by any system over the same programs.
fn round<S: FootprintSystem>(system: &mut S) -> Report {
    let mut limits = Limits { states: 2_000_000, failures: usize::MAX, stop: &mut |_, _| false };
    graph::search_with(system, graph::Options::new(Mode::Reduced), &mut limits)
}

#[test]
fn a_search_with_memoized_steps_is_the_search_without() {
    for (file, flags) in
        [("phil.c", &["-DN=3"][..]), ("bbuf.c", &["-DNP=2", "-DNC=2", "-DITEMS=1"]), ("peterson.c", &[])]
    {
        let mut programs = start(&build(file, flags));
        let mut limits = Limits { states: 2_000_000, failures: usize::MAX, stop: &mut |_, _| false };
        search(&mut programs, Mode::Reduced, &mut limits);
        let executed = round(&mut programs);
        let mut memoized = Memoized::new(&mut programs);
        assert_eq!(round(&mut memoized), executed, "{file}");
        assert!(memoized.hits() > 0 && executed.complete, "{file}");
    }
}
