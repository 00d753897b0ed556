//! Random small C programs through every search: what reductions leave out cannot matter.
//!
//! `ALLWAYS_FUZZ=2000` tries so many programs, `ALLWAYS_FUZZ=500..900` those of certain seeds.

pub mod batch;
pub mod compare;
pub mod diamond;
mod generate;
mod known;
mod looks;
mod loops;
mod mix;
mod mixed;
mod native;
mod table;

use crate::inside;
use crate::start::search_of;
use batch::{Batch, Case};
use checker::footprint::access::Kind;
use checker::{Depth, Options, Timeouts};
use compare::{Seen, classes, graph, together, without_memory};
use explore::graph::{Filter, Mode, Parts};
use generate::Program;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

/// Programs that are compiled together.
const TOGETHER: usize = 100;

pub fn seeds(default: u64) -> Range<u64> {
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
    compare("reduced", seeds(50), |case| graph(&mut case.start(Depth::Summary), Mode::Reduced), PartialEq::eq);
}

#[test]
fn who_uses_other_names_does_not_meet_and_reduced_searches_see_what_full_ones_see() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for_each("files", seeds(100), |case| {
        if !case.program.row.contains("FILE_") {
            return;
        }
        let mut programs = case.start(Depth::Summary);
        let reduced = graph(&mut programs, Mode::Reduced);
        let Some((full, reduced)) = full(case).and_then(|full| Some((full, reduced?))) else { return };
        compared += 1;
        if full != reduced {
            wrong.push(format!("{}full: {full:x?}\nreduced: {reduced:x?}\n", case.told()));
        }
        let walks = (0..3).filter_map(|seed| diamond::walk(&mut programs, seed, 60).err());
        wrong.extend(walks.map(|error| format!("{}{error}\n", case.told())));
    });
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared >= 5, "only {compared}");
}

/// Compares a program's searches where time may pass early; false if they take too long.
fn compare_early(case: Case<'_>) -> bool {
    let options = || Options { timeouts: Timeouts::Any(1), ..Options::default() };
    let look = |mode| graph(&mut case.start_with(options()), mode);
    let seen = look(Mode::Full).and_then(|full| Some((full, look(Mode::Reduced)?)));
    seen.is_some_and(|(full, reduced)| {
        assert_eq!(full, reduced, "{}", case.told());
        true
    })
}

#[test]
fn reduced_searches_see_what_full_ones_see_when_time_may_pass_early() {
    let mut compared = 0;
    for_each("early", seeds(60), |case| compared += usize::from(case.program.times && compare_early(case)));
    assert!(compared > 0);
}

/// In the program of this seed nobody waits for a time to come once a lock is taken.
#[test]
fn time_may_pass_before_the_last_deadline_is_over() {
    assert!(Batch::new("deadline", std::iter::once(1157)).cases().all(compare_early));
}

#[test]
fn two_workers_see_what_full_searches_see() {
    compare("together", seeds(20), |case| together(&mut case.start(Depth::Summary)), PartialEq::eq);
}

#[test]
fn reduced_searches_see_what_full_ones_see_when_reads_may_be_short() {
    let mut compared = 0;
    for_each("short", seeds(15), |case| {
        let look = |mode| graph(&mut case.start_with(Options { short_reads: true, ..Options::default() }), mode);
        let Some((full, reduced)) = look(Mode::Full).and_then(|full| Some((full, look(Mode::Reduced)?))) else {
            return;
        };
        assert_eq!(full, reduced, "{}", case.told());
        compared += 1;
    });
    assert!(compared > 0);
}

#[test]
fn searches_of_programs_without_memory_see_what_full_ones_see() {
    let search =
        |case: Case<'_>| if case.program.spins { None } else { without_memory(&mut case.start(Depth::Summary)) };
    compare("stateless", seeds(25), search, PartialEq::eq);
}

#[test]
fn searches_without_memory_find_what_is_behind_loops_that_wait() {
    let wrong = |seen: &Seen| -> BTreeSet<String> {
        // Cycles of states are told apart from failures.
        seen.failures.iter().filter(|failure| !failure.starts_with("livelock")).cloned().collect()
    };
    let mut compared = 0;
    for_each("loops", seeds(60), |case| {
        if !case.program.spins {
            return;
        }
        let seen = classes(&mut case.start(Depth::Summary));
        let Some((full, seen)) = full(case).and_then(|full| Some((full, seen?))) else { return };
        assert_eq!((wrong(&full), &full.raced), (wrong(&seen), &seen.raced), "{}", case.told());
        compared += 1;
    });
    assert!(compared >= 3, "only {compared}");
}

#[test]
fn searches_without_memory_find_every_outcome_of_loops_that_wait_for_several_words() {
    let outcomes = |seen: &Seen| -> BTreeSet<String> {
        // Cycles of states are told apart from failures.
        seen.failures.iter().filter(|failure| !failure.starts_with("livelock")).cloned().collect()
    };
    // Seed 28 has two that write what a third waits for.
    let (seeds, mut compared, mut wrong) = (seeds(30), 0, Vec::new());
    let programs = |(number, seed): (usize, u64)| (seed, loops::program(seed, number));
    for from in seeds.clone().step_by(TOGETHER) {
        let some = from..seeds.end.min(from + TOGETHER as u64);
        for case in Batch::of("waits", some.enumerate().map(programs).collect()).cases() {
            let seen = classes(&mut case.start(Depth::Summary));
            let Some((full, seen)) = full(case).and_then(|full| Some((full, seen?))) else { continue };
            compared += 1;
            if (outcomes(&full), &full.raced) != (outcomes(&seen), &seen.raced) {
                wrong.push(format!("{}full: {full:x?}\nclasses: {seen:x?}\n", case.told()));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared * 2 >= seeds.end - seeds.start, "only {compared} are small enough");
}

/// In a register, on its stack, and in the kernel.
#[test]
fn a_loop_that_remembers_that_it_went_round_did_not_go_in_vain() {
    let rounds = [
        "unsigned n = 0; while (!atomic_load(&s->a[0])) n = 1; return n;",
        "volatile unsigned n = 0; while (!atomic_load(&s->a[0])) n = 1; return n;",
        "sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1); \
         while (!atomic_load(&s->a[0])) sigprocmask(SIG_BLOCK, &set, 0); \
         sigprocmask(SIG_BLOCK, 0, &set); return sigismember(&set, SIGUSR1);",
    ];
    for round in rounds {
        let source = format!(
            "static unsigned p0_0(void) {{ {round} }}\n\
            static unsigned p0_1(void) {{ atomic_store(&s->a[0], 1); return 0; }}\n\
            static int p0_end(void) {{ return s->out[0]; }}\n"
        );
        let batch = Batch::of("remembers", vec![(0, Program::of(&source, "{ 0, 2, { p0_0, p0_1 }, p0_end },\n"))]);
        for case in batch.cases() {
            let seen = classes(&mut case.start(Depth::Summary)).expect("it is small");
            assert!(seen.failures.contains("exit: program ends with exit code 1"), "{round}: {seen:x?}");
            assert_eq!(seen.ends.len(), 1, "it may also end well: {round}: {seen:x?}");
        }
    }
}

/// Found by seed 318: a thread is made while another forks, and both need the library's list of stacks.
#[test]
fn a_process_that_forks_while_it_makes_threads_is_seen_whole() {
    let source = "static unsigned p0_child(void) { add(1, 0, 0); return 0; }\n\
        static unsigned p0_0(void) { both(1); return child(p0_child); }\n\
        static unsigned p0_1(void) { s->q++; return 0; }\n\
        static int p0_end(void) { return 0; }\n";
    let row = "{ SYSV | 0, 2, { p0_0, p0_1 }, p0_end },\n";
    let batch = Batch::of("forks", vec![(318, Program::of(source, row))]);
    for case in batch.cases() {
        let start = || case.start(Depth::Summary);
        let full = graph(&mut start(), Mode::Full).expect("it is small");
        assert!(full.ends.len() > 2, "{full:x?}");
        assert_eq!(without_memory(&mut start()).as_ref(), Some(&full), "without memory");
        assert_eq!(graph(&mut start(), Mode::Reduced).as_ref(), Some(&full), "reduced");
    }
}

#[test]
fn every_instruction_of_the_library_shows_what_its_functions_mean() {
    let search = |case: Case<'_>| match case.program.spin_locks {
        true => None,
        false => graph(&mut case.start(Depth::Real), Mode::Reduced),
    };
    compare("real", seeds(10), search, |full, other| full.is_misused() || full.wrong() == other.wrong());
}

#[test]
fn independent_steps_of_random_programs_commute() {
    let mut wrong = Vec::new();
    let mut touched = BTreeSet::new();
    let mut look = |case: Case<'_>| {
        let mut programs = case.start(Depth::Summary);
        if graph(&mut programs, Mode::Reduced).is_none() {
            return;
        }
        for seed in 0..3 {
            match diamond::walk(&mut programs, seed, 60) {
                Ok(more) => touched.extend(more),
                Err(error) => wrong.push(format!("{}{error}\n", case.told())),
            }
        }
    };
    for_each("diamond", seeds(15), &mut look);
    // A signal waits for a process whose threads end, one after the other, and who would handle it is none of these.
    for_each("ends", 5240..5241, &mut look);
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(touched.is_superset(&[Kind::Word, Kind::Lock, Kind::Condition, Kind::File].into()), "{touched:?}");
}

/// Programs, how they are compiled, how deep the library is looked into, and what independent steps of theirs touch.
type Example = (&'static str, &'static [&'static str], Depth, &'static [Kind]);

const FAMILIES: &str = "crates/checker/tests/all/fuzz/families.c";
const EXAMPLES: &[Example] = &[
    ("programs/chat.c", &["-DCLIENTS=2"], Depth::Summary, &[Kind::File, Kind::Ports, Kind::Lock]),
    ("programs/echo.c", &["-DCLIENTS=2"], Depth::Summary, &[Kind::File, Kind::Ports, Kind::Process]),
    ("programs/daytime.c", &["-DCLIENTS=2"], Depth::Summary, &[Kind::File, Kind::Ports, Kind::Process]),
    ("programs/rax_sysv.c", &["-DROUNDS=2"], Depth::Summary, &[Kind::Ipc, Kind::Process]),
    ("programs/bbuf.c", &["-DNP=2", "-DNC=2"], Depth::Summary, &[Kind::Lock, Kind::Condition, Kind::Thread]),
    ("programs/phil.c", &["-DN=3"], Depth::Real, &[Kind::Futex, Kind::Space]),
    (FAMILIES, &["-DFAMILY=talk"], Depth::Summary, &[Kind::File]),
    (FAMILIES, &["-DFAMILY=talk", "-DPAIRS"], Depth::Summary, &[Kind::File]),
    (FAMILIES, &["-DFAMILY=count", "-DEVENTS"], Depth::Summary, &[Kind::File]),
    (FAMILIES, &["-DFAMILY=keep"], Depth::Summary, &[Kind::Inode, Kind::Names]),
    (FAMILIES, &["-DFAMILY=file"], Depth::Summary, &[Kind::Inode, Kind::Names]),
    (FAMILIES, &["-DFAMILY=multiply"], Depth::Summary, &[Kind::Process]),
];

#[test]
fn independent_steps_of_the_examples_commute() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, flags, depth, expected) in EXAMPLES {
        let folder = inside::folder("fuzz-examples");
        let source = sources.join(name);
        batch::compile(&folder, &[flags, &["-O1", source.to_str().expect("a path in UTF-8")][..]].concat());
        let options = Options { depth: *depth, ..Options::default() };
        let mut programs = search_of(&folder, options);
        diamond::learn(&mut programs, 5);
        let mut touched = BTreeSet::new();
        for seed in 0..3 {
            let more = diamond::walk(&mut programs, seed, 300);
            touched.extend(more.unwrap_or_else(|error| panic!("{name} {flags:?}: {error}")));
        }
        assert!(touched.is_superset(&expected.iter().copied().collect()), "{name} {flags:?}: {touched:?}");
    }
}

/// The comparison is worth something only if it notices when a part is missing: it must in one of these programs.
///
/// When programs are made differently, `ALLWAYS_FUZZ=1000` looks for others.
fn is_noticed(name: &str, known: &[u64], parts: Parts) {
    let given = std::env::var_os("ALLWAYS_FUZZ").map(|_| seeds(0).collect());
    let batch = Batch::new(name, given.unwrap_or_else(|| known.to_vec()).into_iter());
    let differs = |case: &Case<'_>| full(*case) != graph(&mut case.start(Depth::Summary), Mode::Partly(parts));
    let noticed = batch.cases().find(differs).map(|case| case.seed);
    assert!(noticed.is_some(), "none of the programs notices that {name} are not looked at");
}

#[test]
fn it_is_noticed_when_conflicts_are_not_looked_for() {
    is_noticed("conflicts", &[50, 33, 54, 45], Parts { conflicts: false, ..Parts::ALL });
}

#[test]
fn it_is_noticed_when_cycles_are_not_broken() {
    is_noticed("cycles", &[498, 1037, 1092, 694], Parts { cycles: false, ..Parts::ALL });
}

#[test]
fn it_is_noticed_when_a_lock_counts_before_it_is_held() {
    is_noticed("locks", &[54, 164, 56, 83], Parts { locks: Filter::Broken, ..Parts::ALL });
}
