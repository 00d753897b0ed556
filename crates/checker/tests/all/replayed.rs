//! Schedules of programs, executed again step by step: forwards, backwards, explained and not.

use crate::{inside, start};
use checker::narrate::program_replay::ProgramReplay;
use checker::{Options, Programs, search};
use explore::graph::{Found, Limits, Mode};
use replay::{Budget, Replayable, Timeline, fails_with, run, shorten};
use trace::{Choice, Schedule};

/// Two threads that take two locks in opposite order, and what a search finds in them.
fn found(test: &str) -> (Programs, Found) {
    let folder = inside::folder(&format!("replayed-{test}"));
    let source = "#include <pthread.h>\npthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER; int x;\n\
                  static void both(pthread_mutex_t *m, pthread_mutex_t *n) { pthread_mutex_lock(m); x++;\
                  pthread_mutex_lock(n); x++; pthread_mutex_unlock(n); pthread_mutex_unlock(m); }\n\
                  static void *f(void *p) { both(&a, &b); return p; }\nstatic void *g(void *p) { both(&b, &a); return p; }\n\
                  int main(void) { pthread_t s, t; pthread_create(&s, 0, f, 0); pthread_create(&t, 0, g, 0);\
                  pthread_join(s, 0); pthread_join(t, 0); return 0; }\n";
    std::fs::write(folder.join("program.c"), source).expect("the folder takes files");
    let mut gcc = std::process::Command::new("gcc");
    let status =
        gcc.args(["-g", "-O0", "-pthread", "-o"]).arg(folder.join("program")).arg(folder.join("program.c")).status();
    assert!(status.expect("gcc runs").success());
    let mut programs = start::search_of(&folder, Options::default());
    let mut limits = Limits { states: 100_000, failures: usize::MAX, stop: &mut |_, _| false };
    let outcome = search(&mut programs, Mode::Reduced, &mut limits);
    let found = outcome.report.found.into_iter().next().expect("a deadlock");
    (programs, found)
}

#[test]
fn a_timeline_of_programs_goes_back_to_the_states_it_came_from() {
    let (mut programs, found) = found("timeline");
    let mut replayed = ProgramReplay::new(&mut programs, "");
    let mut timeline = Timeline::new(&mut replayed, found.schedule.clone());
    let mut fingerprints = vec![timeline.state().reached.fingerprint];
    let mut told = Vec::new();
    while let Some(step) = timeline.forward().expect("possible") {
        told.push(step);
        fingerprints.push(timeline.state().reached.fingerprint);
    }
    assert_eq!(fingerprints.last(), Some(&found.fingerprint));
    let steps = found.schedule.len();
    for mark in [0, steps, 1, steps / 2] {
        assert_eq!(timeline.go_to(mark), Ok(mark));
        assert_eq!(timeline.state().reached.fingerprint, fingerprints[mark]);
        let again = timeline.forward().expect("possible");
        assert_eq!(again.as_ref(), told.get(mark), "the same events, whatever came before");
    }
    let (system, state) = timeline.at_mark();
    let variables = system.variables(state);
    assert!(variables.iter().any(|variable| variable.name == "x"), "{variables:?}");
}

#[test]
fn a_detour_is_cut_out_of_a_schedule_of_programs() {
    let (mut programs, found) = found("detour");
    let mut replayed = ProgramReplay::new(&mut programs, "");
    let short = |replayed: &mut ProgramReplay<'_>, choices: &[Choice]| {
        let schedule = Schedule { choices: choices.to_vec(), cycle_start: None };
        shorten(replayed, &schedule, Budget { work: 200_000_000 }, &mut fails_with(&found.failure)).choices
    };
    let shortest = short(&mut replayed, &found.schedule);
    let schedule = Schedule { choices: shortest.clone(), cycle_start: None };
    let end = run(&mut replayed, &schedule).expect("possible").states.pop().expect("there is one");
    assert_eq!(replayed.stuck(&end).map(|failure| failure.kind), Some(found.failure.kind));
    assert!(shortest.len() <= found.schedule.len());
    assert_eq!(short(&mut replayed, &shortest), shortest, "nothing is left to cut");
}
