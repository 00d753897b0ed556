//! Programs that run for ever and get nowhere, although everybody gets its turn.

use crate::inside;
use crate::start;
use checker::{Engine, Options, Programs, Refutation, search, search_by};
use explore::graph::{FootprintSystem, Limits, Mode, Report};
use explore::{Allowance, Budget, Fairness, sample};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use trace::{Choice, FailureKind};

const HEAD: &str = "#define _GNU_SOURCE\n#include <assert.h>\n#include <pthread.h>\n#include <sched.h>\n\
                    #include <stdatomic.h>\n#include <unistd.h>\n";
const MAIN: &str = "int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0);\
                    pthread_join(s, 0); pthread_join(t, 0); assert(END); return 0; }\n";

/// A program of two threads `f` and `g`; what must hold at the end is `END`.
fn programs(name: &str, source: &str) -> Programs {
    program(name, &format!("{HEAD}{source}{MAIN}"))
}

fn program(name: &str, source: &str) -> Programs {
    let folder = inside::folder(&format!("livelock-{name}"));
    let file = folder.join("program.c");
    std::fs::write(&file, source).expect("the folder takes files");
    let mut gcc = std::process::Command::new("gcc");
    let status = gcc.args(["-g", "-O1", "-pthread", "-o"]).arg(folder.join("program")).arg(&file).status();
    assert!(status.expect("gcc runs").success(), "{name} does not compile");
    start::search_of(&folder, Options::default())
}

fn explore(programs: &mut Programs, mode: Mode) -> Report {
    let mut limits = Limits { states: 100_000, failures: usize::MAX, stop: &mut |_, _| false };
    let outcome = search(programs, mode, &mut limits);
    assert!(outcome.report.complete && programs.refusal.is_none(), "{:?}", programs.refusal);
    outcome.report
}

/// Where a schedule leads.
fn fingerprint(programs: &mut Programs, schedule: &[Choice]) -> u128 {
    let mut reached = programs.initial();
    for choice in schedule {
        reached = programs.step(&reached.state, *choice).expect("it was a step").reached;
    }
    reached.fingerprint
}

/// Two threads that want two locks in different orders, and give back the first if they do not get the second.
const POLITE: &str = "#define END x == 2\nint x; pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;\n\
    static void both(pthread_mutex_t *m, pthread_mutex_t *n) { for (;;) { pthread_mutex_lock(m);\
    if (pthread_mutex_trylock(n) == 0) break; pthread_mutex_unlock(m); }\
    x++; pthread_mutex_unlock(n); pthread_mutex_unlock(m); }\n\
    void *f(void *p) { both(&a, &b); return p; }\n";

#[test]
fn two_threads_that_back_off_for_each_other_may_do_so_for_ever() {
    for mode in [Mode::Full, Mode::Reduced] {
        let mut programs = programs("polite", &format!("{POLITE}void *g(void *p) {{ both(&b, &a); return p; }}\n"));
        let report = explore(&mut programs, mode);
        assert_eq!(report.found, []);
        let livelock = report.livelocks.first().expect("there is one");
        assert_eq!(livelock.actors.len(), 2, "both threads move");
        let around: Vec<Choice> = livelock.stem.iter().chain(&livelock.cycle).copied().collect();
        assert_eq!(fingerprint(&mut programs, &livelock.stem), fingerprint(&mut programs, &around));
    }
}

#[test]
fn backing_off_in_the_same_order_ends() {
    for mode in [Mode::Full, Mode::Reduced] {
        let mut programs = programs("ordered", &format!("{POLITE}void *g(void *p) {{ both(&a, &b); return p; }}\n"));
        assert_eq!(explore(&mut programs, mode).livelocks, []);
    }
}

#[test]
fn spinning_until_another_thread_has_done_its_work_is_no_livelock() {
    let spins = [
        "while (!atomic_load(&flag)) { }",
        "while (!atomic_load(&flag)) sched_yield();",
        "for (int done = 0; !done; ) { pthread_mutex_lock(&m); done = flag; pthread_mutex_unlock(&m); }",
    ];
    for (number, spin) in spins.iter().enumerate() {
        let source = format!(
            "#define END flag\natomic_int flag; pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
             void *f(void *p) {{ {spin} return p; }}\n\
             void *g(void *p) {{ pthread_mutex_lock(&m); flag = 1; pthread_mutex_unlock(&m); return p; }}\n"
        );
        for mode in [Mode::Full, Mode::Reduced] {
            let report = explore(&mut programs(&format!("spin{number}"), &source), mode);
            assert_eq!((report.found, report.livelocks), (Vec::new(), Vec::new()), "{spin}");
        }
    }
}

#[test]
fn spinning_for_what_nobody_does_is_a_livelock() {
    let source = "#define END 1\natomic_int flag;\nvoid *f(void *p) { while (!atomic_load(&flag)) { } return p; }\n\
                  void *g(void *p) { return p; }\n";
    for mode in [Mode::Full, Mode::Reduced] {
        assert_eq!(explore(&mut programs("redundant", source), mode).livelocks.len(), 1);
    }
}

#[test]
fn time_passes_while_others_only_spin() {
    let source = "#define END flag == 2\natomic_int flag;\nvoid *f(void *p) { while (!atomic_load(&flag)) { } return p; }\n\
                  void *g(void *p) { usleep(1000); flag = 1; return p; }\n";
    for mode in [Mode::Full, Mode::Reduced] {
        let report = explore(&mut programs("late", source), mode);
        let kinds: Vec<FailureKind> = report.found.iter().map(|found| found.failure.kind).collect();
        assert_eq!((kinds, report.livelocks), (vec![FailureKind::Assert], Vec::new()));
    }
}

/// A thread that spins until another has slept.
const LATE: &str = "#define END flag == 2\natomic_int flag;\nvoid *f(void *p) { while (!atomic_load(&flag)) { } return p; }\n\
                    void *g(void *p) { usleep(1000); flag = 1; return p; }\n";

#[test]
fn time_passes_beside_spinners_without_memory_and_in_samples_too() {
    let sample = sample::Options { runs: 20, depth: 1_000, shrink: false, ..sample::Options::default() };
    for engine in [Engine::Classes { depth: 1_000 }, Engine::Sample(sample)] {
        let mut programs = programs("patience", LATE);
        let mut limits = Limits { states: 100_000, failures: usize::MAX, stop: &mut |_, _| false };
        let report = search_by(&engine, &mut programs, &mut limits).report;
        let kinds: Vec<FailureKind> = report.found.iter().map(|found| found.failure.kind).collect();
        assert_eq!(kinds, [FailureKind::Assert], "{engine:?}: {:?}", report.stopped);
    }
}

#[test]
fn a_program_that_only_computes_is_told_with_its_place() {
    let mut programs = program("counts", "volatile int x;\nint main(void) {\n    for (;;) x++;\n}\n");
    let (name, place) = programs.spinning().expect("it goes on and on");
    assert_eq!((name.as_str(), place.map(|place| place.line)), ("program", Some(3)));
    let mut programs = program("ends", "volatile int x;\nint main(void) {\n    for (int i = 0; i < 10; i++) x++;\n}\n");
    assert_eq!(programs.spinning(), None);
}

#[test]
fn the_search_for_runs_that_violate_a_formula_ends_with_the_budget() {
    let mut programs = program("formula", "volatile int x;\nint main(void) { for (;;) x = 1 - x; }\n");
    programs.add_formula("[] <> x == 1").expect("it is a formula");
    programs.add_formula("<> [] x == 1").expect("it is a formula");
    let graph = explore(&mut programs, Mode::Full).graph.expect("it was asked for");
    let [holds, fails] = programs.formulas().to_vec().try_into().expect("two");
    assert_eq!(programs.refutation(&holds, &graph, Fairness::Off), Refutation::Impossible);
    let Refutation::Found(run) = programs.refutation(&fails, &graph, Fairness::Off) else {
        panic!("x changes for ever")
    };
    assert!(programs.refutes(&fails, &run) && !programs.refutes(&holds, &run));
    let over = Allowance { time: Some(Duration::ZERO), ..Allowance::default() };
    for budget in
        [Budget::new(Arc::default(), over), Budget::new(Arc::new(AtomicBool::new(true)), Allowance::default())]
    {
        programs.set_budget(budget);
        assert_eq!(programs.refutation(&holds, &graph, Fairness::Off), Refutation::Cut);
    }
}
