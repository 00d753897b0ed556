//! Random small C programs through every search: what reductions leave out cannot matter.
//!
//! `ALLWAYS_FUZZ=2000` tries so many programs, `ALLWAYS_FUZZ=500..900` those of certain seeds.

mod batch;
mod compare;
mod diamond;
mod generate;
#[path = "../inside/mod.rs"]
mod inside;

use batch::{Batch, Case};
use compare::{Seen, graph, without_memory};
use explore::graph::{Filter, Mode, Parts};
use std::ops::Range;
use std::path::Path;
use world::check::Depth;

/// Programs that are compiled together.
const TOGETHER: usize = 100;

fn seeds(default: u64) -> Range<u64> {
    let given = std::env::var("ALLWAYS_FUZZ").unwrap_or_default();
    match given.split_once("..") {
        Some((from, to)) => from.parse().unwrap_or(0)..to.parse().unwrap_or(default),
        None => 0..given.parse().unwrap_or(default),
    }
}

/// Compiles programs in batches, and looks at each.
fn for_each(name: &str, seeds: Range<u64>, mut look: impl FnMut(Case<'_>)) {
    for from in seeds.clone().step_by(TOGETHER) {
        let batch = Batch::new(name, from..seeds.end.min(from + TOGETHER as u64));
        batch.cases().for_each(&mut look);
    }
}

fn full(case: Case<'_>) -> Option<Seen> {
    graph(&mut case.start(Depth::Summary), Mode::Full)
}

/// Compares every program's full search with another look at it; nothing is compared where that takes too long.
fn compare(name: &str, seeds: Range<u64>, other: impl Fn(Case<'_>) -> Option<Seen>, same: fn(&Seen, &Seen) -> bool) {
    let (count, mut compared, mut differences) = (seeds.end - seeds.start, 0, Vec::new());
    for_each(name, seeds, |case| {
        let Some((full, other)) = full(case).and_then(|full| Some((full, other(case)?))) else { return };
        compared += 1;
        if !same(&full, &other) {
            differences.push(format!("{}full: {full:x?}\nother: {other:x?}\n", case.told()));
        }
    });
    assert!(differences.is_empty(), "{} of {compared}:\n{}", differences.len(), differences.join("\n"));
    assert!(compared * 2 >= count, "only {compared} of {count} programs are small enough");
}

#[test]
fn reduced_searches_of_programs_see_what_full_ones_see() {
    compare("reduced", seeds(100), |case| graph(&mut case.start(Depth::Summary), Mode::Reduced), PartialEq::eq);
}

#[test]
fn searches_of_programs_without_memory_see_what_full_ones_see() {
    let search =
        |case: Case<'_>| if case.program.spins { None } else { without_memory(&mut case.start(Depth::Summary)) };
    compare("stateless", seeds(50), search, |full, other| {
        (&full.failures, &full.ends) == (&other.failures, &other.ends)
    });
}

#[test]
fn every_instruction_of_the_library_shows_what_its_functions_mean() {
    let search = |case: Case<'_>| match case.program.spin_locks {
        true => None,
        false => graph(&mut case.start(Depth::Real), Mode::Reduced),
    };
    compare("real", seeds(20), search, |full, other| full.is_misused() || full.wrong() == other.wrong());
}

#[test]
fn independent_steps_of_random_programs_commute() {
    let mut wrong = Vec::new();
    let mut pairs = 0;
    for_each("diamond", seeds(30), |case| {
        let mut programs = case.start(Depth::Summary);
        if graph(&mut programs, Mode::Reduced).is_none() {
            return;
        }
        for seed in 0..3 {
            match diamond::walk(&mut programs, seed, 60) {
                Ok(more) => pairs += more,
                Err(error) => wrong.push(format!("{}{error}\n", case.told())),
            }
        }
    });
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(pairs > 0);
}

/// Programs of `programs/` and how they are compiled.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("chat.c", &["-DCLIENTS=2"]),
    ("echo.c", &["-DCLIENTS=2"]),
    ("daytime.c", &["-DCLIENTS=2"]),
    ("rax_sysv.c", &["-DROUNDS=2"]),
    ("bbuf.c", &["-DNP=2", "-DNC=2"]),
];

#[test]
fn independent_steps_of_the_examples_commute() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    for (name, flags) in EXAMPLES {
        let folder = inside::folder(&format!("fuzz-{name}"));
        let source = sources.join(name);
        batch::compile(&folder, &[flags, &["-O1", source.to_str().expect("a path in UTF-8")][..]].concat());
        let mut programs = batch::start(&folder, &["./program"], Depth::Summary);
        diamond::learn(&mut programs, 5);
        let pairs = diamond::walk(&mut programs, 1, 300).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(pairs > 0, "{name}");
    }
}

/// The comparison is worth something only if it notices when a part is missing.
fn is_noticed(name: &str, parts: Parts) -> bool {
    let mut is_noticed = false;
    for_each(name, 0..60, |case| {
        is_noticed = is_noticed || full(case) != graph(&mut case.start(Depth::Summary), Mode::Partly(parts));
    });
    is_noticed
}

#[test]
fn it_is_noticed_when_conflicts_are_not_looked_for() {
    assert!(is_noticed("conflicts", Parts { conflicts: false, ..Parts::ALL }));
}

#[test]
fn it_is_noticed_when_cycles_are_not_broken() {
    assert!(is_noticed("cycles", Parts { cycles: false, ..Parts::ALL }));
}

#[test]
fn it_is_noticed_when_a_lock_counts_before_it_is_held() {
    assert!(is_noticed("locks", Parts { locks: Filter::Broken, ..Parts::ALL }));
}
