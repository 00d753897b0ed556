//! Rounds of a search: what one that is cut off has found leads where it says, and all begin with the same steps.

use crate::inside;
use crate::start;
use checker::{Engine, Options, Outcome, Programs, search_by};
use explore::graph::{Limits, Mode};
use std::path::PathBuf;

/// The first round finds that the assertion may fail, and that `n` races: it refines, too.
const PROGRAM: &str = "#include <assert.h>\n#include <pthread.h>\n\
    static int n;\n\
    static void *adds(void *unused) { n++; return unused; }\n\
    static void *looks(void *unused) { assert(n == 0); return unused; }\n\
    int main(void) {\n\
        pthread_t a, b; n++; n--;\n\
        pthread_create(&a, 0, adds, 0); pthread_create(&b, 0, looks, 0);\n\
        pthread_join(a, 0); pthread_join(b, 0);\n\
    }\n";

/// The program, compiled.
fn built(name: &str) -> PathBuf {
    let folder = inside::folder(name);
    std::fs::write(folder.join("program.c"), PROGRAM).expect("it can be written");
    let mut gcc = std::process::Command::new("gcc");
    gcc.current_dir(&folder).args(["-g", "-O0", "-pthread", "-o", "program", "program.c"]);
    assert!(gcc.status().expect("gcc runs").success(), "it does not compile");
    folder
}

fn searched(programs: &mut Programs, failures: usize) -> Outcome {
    let mut limits = Limits { states: usize::MAX, failures, stop: &mut |_, _| false };
    search_by(&Engine::Graph { mode: Mode::Reduced, workers: 1, alone: 0 }, programs, &mut limits)
}

#[test]
fn what_a_round_that_was_cut_off_has_found_leads_where_it_says() {
    let folder = built("rounds");
    let mut programs = start::search_of(&folder, Options::default());
    let outcome = searched(&mut programs, 1);
    assert!(!outcome.report.complete && outcome.report.found.len() == 1, "{:?}", outcome.report);
    let found = &outcome.report.found[0];
    assert_eq!(programs.fingerprints(&found.schedule).as_ref(), Some(&found.states));
}

/// All that is kept is computed again and compared, or next to nothing.
#[test]
fn steps_of_the_prefix_are_the_same_in_every_round() {
    let folder = built("prefix");
    let with = |audit: Option<u32>| {
        let mut programs = start::search_of(&folder, Options { audit, ..Options::default() });
        let outcome = searched(&mut programs, usize::MAX);
        assert!(programs.refusal.is_none(), "{:?}", programs.refusal);
        assert!(outcome.rounds > 2 && outcome.report.complete, "{:?}", outcome.report);
        let found = outcome.report.found.iter().map(|found| (found.schedule.clone(), found.states.clone()));
        (outcome.rounds, outcome.report.states, outcome.report.steps, found.collect::<Vec<_>>())
    };
    assert_eq!(with(Some(1)), with(Some(1_000_000)));
}
