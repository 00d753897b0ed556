//! All schedules of small C programs, unmodified: what is found, and that the reduction finds what a full search finds.

use crate::inside;
use crate::start;
use checker::{Options, Programs, search};
use explore::graph::{Limits, Mode, Race, Report};
use std::collections::BTreeSet;
use std::path::Path;
use trace::FailureKind;

const HEAD: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n";
const MAIN: &str = "int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0);\
                    pthread_join(s, 0); pthread_join(t, 0); assert(END); return 0; }\n";

/// Two threads `f` and `g`; what must hold at the end is `END`.
fn build(name: &str, source: &str) -> std::path::PathBuf {
    let folder = inside::folder(&format!("check-{name}"));
    let file = folder.join("program.c");
    std::fs::write(&file, format!("{HEAD}{source}{MAIN}")).expect("the folder takes files");
    let mut gcc = std::process::Command::new("gcc");
    let status = gcc.args(["-g", "-O1", "-pthread", "-o"]).arg(folder.join("program")).arg(&file).status();
    assert!(status.expect("gcc runs").success(), "{name} does not compile");
    folder
}

fn programs(folder: &Path) -> Programs {
    start::search_of(folder, Options::default())
}

/// Searches until no race is left that is no scheduling point; the races of all searches, and the last report.
fn explore(folder: &Path, mode: Mode) -> (Vec<Race>, Report) {
    let mut programs = programs(folder);
    let mut stop = |_: u64, _: u64| false;
    let mut limits = Limits { states: 1_000_000, failures: usize::MAX, stop: &mut stop };
    let outcome = search(&mut programs, mode, &mut limits);
    assert!(outcome.report.complete && programs.refusal.is_none());
    (outcome.races, outcome.report)
}

fn kinds(report: &Report) -> BTreeSet<FailureKind> {
    report.found.iter().map(|found| found.failure.kind).collect()
}

const LOCKS: &str = "#define END x == 2\nint x; pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;\n\
                     static void both(pthread_mutex_t *m, pthread_mutex_t *n) { pthread_mutex_lock(m); pthread_mutex_lock(n);\
                     x++; pthread_mutex_unlock(n); pthread_mutex_unlock(m); }\n\
                     void *f(void *p) { both(&a, &b); return p; }\n";

#[test]
fn a_deadlock_of_two_locks_is_found() {
    let folder = build("deadlock", &format!("{LOCKS}void *g(void *p) {{ both(&b, &a); return p; }}\n"));
    let (_, report) = explore(&folder, Mode::Reduced);
    assert_eq!(kinds(&report), [FailureKind::Deadlock].into());
}

#[test]
fn locks_that_are_always_taken_in_one_order_are_fine() {
    let folder = build("order", &format!("{LOCKS}void *g(void *p) {{ both(&a, &b); return p; }}\n"));
    let (_, report) = explore(&folder, Mode::Reduced);
    assert!(report.found.is_empty(), "{:?}", report.found);
}

#[test]
fn a_lost_update_is_found_and_the_reduction_misses_nothing() {
    let body = "{ int v = x; x = v + 1; return p; }";
    let source = format!("#define END x == 2\natomic_int x;\nvoid *f(void *p) {body}\nvoid *g(void *p) {body}\n");
    let folder = build("lost", &source);
    let (_, reduced) = explore(&folder, Mode::Reduced);
    let (_, full) = explore(&folder, Mode::Full);
    assert_eq!(kinds(&reduced), [FailureKind::Assert].into());
    assert_eq!(kinds(&reduced), kinds(&full));
    assert_eq!(reduced.ends, full.ends);
    assert!(reduced.states < full.states);
}

#[test]
fn plain_accesses_that_nothing_keeps_apart_are_a_race() {
    let source =
        "#define END 1\nint x;\nvoid *f(void *p) { x = 1; return p; }\nvoid *g(void *p) { x = 2; return p; }\n";
    let (races, _) = explore(&build("race", source), Mode::Reduced);
    assert!(races.iter().any(|race| race.plain && race.one.1 && race.other.1));
}
