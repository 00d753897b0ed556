//! Programs that mix families of operations, through every engine and on the host.
//!
//! `PROGRAMS=20000` tries so many, `PROGRAMS=500..900` those of certain seeds; `FAMILY=unmap` those of one family; `SHOW=1`
//! prints them. `TIMES=100` looks so often in each way: what two workers see may depend on who is faster.
//! `LOOK='two workers'` looks in one way, `LOOK=engines` in all ways that have no other options than the plain one.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "who lets it run over night wants to see how far it is")]

use crate::fuzz::batch::{Batch, Case};
use crate::fuzz::compare::{Missing, STATES_MAX, Seen, answer};
use crate::fuzz::known::{KNOWN, KNOWN_BY_LOOK, known};
use crate::fuzz::looks::{
    LOOKS, Look, buffered, full, graph, is_same_elsewhere, moves_stacks, reduced, signalled, signals_threads,
};
use crate::fuzz::mix::{self, Mix};
use crate::fuzz::native;
use crate::fuzz::table::{FAMILIES, Family, MEMORY};
use checker::{Depth, Holes, Options, Programs, Timeouts, search_by};
use explore::graph::{Limits, Mode, Parts};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use world::Cause;

/// Programs that are compiled together, and judged by one thread.
const TOGETHER: usize = 50;
/// Known programs are few and take long: small batches keep all threads busy.
const KNOWN_TOGETHER: usize = 9;

/// What a look at a program gave.
enum Answer {
    Seen(Seen),
    Missing(Missing),
    Panicked(String),
}

/// Time that each way of looking has taken.
static TIMES: Mutex<BTreeMap<&str, Duration>> = Mutex::new(BTreeMap::new());

fn timed<R>(name: &'static str, look: impl FnOnce() -> R) -> R {
    let started = Instant::now();
    let seen = look();
    *TIMES.lock().expect("nobody panics").entry(name).or_default() += started.elapsed();
    seen
}

fn ask(case: &Case<'_>, see: fn(&mut Programs) -> Result<Seen, Missing>, options: Options) -> Answer {
    ask_about(case, see, options, (&[], None))
}

/// The same, where some propositions must never be true, and one before any fault.
fn ask_about(
    case: &Case<'_>,
    see: fn(&mut Programs) -> Result<Seen, Missing>,
    options: Options,
    (never, after): (&[&str], Option<&str>),
) -> Answer {
    let look = || {
        let mut programs = case.start_with(options);
        never.iter().for_each(|text| programs.forbid(text).expect("frame.c has such variables"));
        after.iter().for_each(|text| programs.defer_faults_until(text).expect("it has those, too"));
        see(&mut programs)
    };
    match catch_unwind(AssertUnwindSafe(look)) {
        Ok(Ok(seen)) => Answer::Seen(seen),
        Ok(Err(missing)) => Answer::Missing(missing),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            Answer::Panicked(text.unwrap_or_else(|| panic.downcast_ref::<&str>().map_or("?", |text| text).to_owned()))
        }
    }
}

/// Something that must not be, and by which look.
struct Difference {
    look: &'static str,
    told: String,
}

/// What came of one program.
#[derive(Default)]
struct Judged {
    compared: bool,
    refused: Option<String>,
    difference: Option<Difference>,
}

/// Looks at a program in all ways that apply, or in one.
fn judge(mix: &Mix, case: &Case<'_>, only: Option<&str>) -> Judged {
    let seen = match timed("full", || ask(case, full, Options::default())) {
        Answer::Seen(seen) => seen,
        Answer::Missing(Missing::Large) => return Judged::default(),
        Answer::Missing(Missing::Refused(what)) => return Judged { refused: Some(what), ..Judged::default() },
        Answer::Panicked(told) => {
            return Judged { difference: Some(Difference { look: "full", told }), ..Judged::default() };
        }
    };
    let is_due = |look: &&Look| case.seed.is_multiple_of(look.every);
    let is_meant = |look: &&Look| match only {
        None => is_due(look),
        Some(ENGINES) => is_due(look) && is_plain(look),
        Some(name) => name == look.name,
    };
    let looks = LOOKS.iter().filter(|look| (look.applies)(mix)).filter(is_meant);
    // A thread that ends may be sent a signal without effect for a moment, on the host: here it ends at once. And whoever
    // sleeps for a microsecond may wake before others have moved.
    // Who waits at a semaphore that is initialised again sleeps on; here it looks again. POSIX leaves that open.
    // `select(2)` looks at descriptors twice: one that is closed in between counts as ready, on Linux.
    // An `execve(2)` that fails denies writing to the file while it looks at it; here it is one step.
    let writes_executables = mix.needs.contains("TOOL") && (mix.says("truncate(") || mix.says("opened("));
    let is_exact = !mix.says("selected(")
        && !writes_executables
        && !signals_threads(mix)
        && !mix.says("pause_once")
        && !mix.says("usleep")
        && !mix.says("set_clock")
        && !mix.says("sem_init(");
    let is_exact = is_exact && (only == Some(NATIVE) || case.seed.is_multiple_of(NATIVE_EVERY));
    let asks_host = is_exact && !mix.traits.undefined && only.is_none_or(|name| name == NATIVE || name == ENGINES);
    let native = || asks_host.then(|| timed(NATIVE, || on_host(mix, case, &seen))).flatten();
    let compared = |look: &Look| timed(look.name, || compare(case, look, &seen));
    let difference = looks.into_iter().find_map(compared).or_else(native);
    Judged { compared: true, refused: None, difference }
}

/// The name of the look that the host takes, at one of so many programs.
const NATIVE: &str = "native";
const NATIVE_EVERY: u64 = 3;

/// All looks at a program as it is: without faults, propositions or store buffers.
const ENGINES: &str = "engines";

fn is_plain(look: &Look) -> bool {
    (look.plain)() == Options::default() && look.never.is_empty()
}

fn on_host(mix: &Mix, case: &Case<'_>, seen: &Seen) -> Option<Difference> {
    let mut unknown = native::unknown(case, mix.traits.times, seen);
    // The host has store buffers. And one that stands still for a second lets waits end although somebody could move.
    let late = mix.traits.times.then(|| Options { timeouts: Timeouts::Any(3), ..Options::default() });
    for more in [Some(buffered()), late].into_iter().flatten() {
        if unknown.is_empty() {
            break;
        }
        match ask(case, full, more) {
            Answer::Seen(more) => unknown.retain(|end| !native::is_known(*end, &more)),
            Answer::Missing(_) => return None,
            Answer::Panicked(told) => return Some(Difference { look: NATIVE, told }),
        }
    }
    let told = format!("full: {seen:x?}\nnative: {unknown:?}\n");
    (!unknown.is_empty()).then_some(Difference { look: NATIVE, told })
}

fn compare(case: &Case<'_>, look: &Look, seen: &Seen) -> Option<Difference> {
    let own;
    let plain = match is_plain(look) {
        true => seen,
        false => match ask_about(case, full, (look.plain)(), (look.never, look.after)) {
            Answer::Seen(seen) => {
                own = seen;
                &own
            }
            Answer::Missing(_) => return None,
            Answer::Panicked(told) => return Some(Difference { look: look.name, told }),
        },
    };
    (0..times()).find_map(|_| differs(case, look, plain))
}

fn differs(case: &Case<'_>, look: &Look, plain: &Seen) -> Option<Difference> {
    match ask_about(case, look.see, (look.options)(), (look.never, look.after)) {
        Answer::Seen(seen) if (look.is_same)(plain, &seen) => None,
        Answer::Seen(seen) if moves_stacks(case.program) && is_same_elsewhere(plain, &seen) => None,
        Answer::Seen(seen) => {
            Some(Difference { look: look.name, told: format!("full:  {plain:x?}\nother: {seen:x?}\n") })
        }
        Answer::Missing(_) => None,
        Answer::Panicked(told) => Some(Difference { look: look.name, told: format!("panic: {told}\n") }),
    }
}

/// The smallest program with the same difference that leaving out statements leads to.
fn shrink(name: &str, mix: Mix, difference: Difference) -> (Mix, Difference) {
    let (mut mix, mut difference) = (mix, difference);
    loop {
        let smaller = mix.smaller();
        let programs = smaller.iter().enumerate().map(|(number, mix)| (0, mix.program(number))).collect();
        let batch = Batch::of(name, programs);
        let found = smaller.into_iter().zip(batch.cases()).find_map(|(mix, case)| {
            let found =
                judge(&mix, &case, Some(difference.look)).difference.filter(|found| found.look == difference.look);
            found.map(|found| (mix, found))
        });
        let Some(found) = found else { return (mix, difference) };
        (mix, difference) = found;
    }
}

/// What came of many.
#[derive(Default)]
pub struct Tally {
    pub programs: usize,
    pub compared: usize,
    /// Seeds of those that are too large.
    pub large: Vec<u64>,
    pub refused: BTreeMap<String, usize>,
    pub differences: Vec<String>,
}

/// Compares the programs of some seeds in all ways, so many in a batch.
fn compare_all(name: &str, mixes: Vec<(u64, Mix)>, together: usize) -> Tally {
    let (tally, next) = (Mutex::new(Tally::default()), AtomicUsize::new(0));
    let batches: Vec<&[(u64, Mix)]> = mixes.chunks(together).collect();
    let work = || {
        while let Some((number, batch)) = Some(next.fetch_add(1, Relaxed)).and_then(|at| Some((at, batches.get(at)?))) {
            judge_batch(&format!("{name}-{number}"), batch, &tally);
        }
    };
    std::thread::scope(|scope| {
        // Programs on the host mostly wait.
        let count = 1 + std::thread::available_parallelism().map_or(1, usize::from);
        (0..count).for_each(|_| drop(scope.spawn(work)));
    });
    tally.into_inner().expect("nobody panics")
}

fn judge_batch(name: &str, mixes: &[(u64, Mix)], tally: &Mutex<Tally>) {
    let programs = mixes.iter().enumerate().map(|(number, (seed, mix))| (*seed, mix.program(number))).collect();
    let batch = timed("compiling", || Batch::of(name, programs));
    let look = std::env::var("LOOK").ok();
    if std::env::var_os("SHOW").is_some() {
        mixes
            .iter()
            .for_each(|(seed, mix)| eprintln!("== seed {seed}\n{}{}", mix.program(0).source, mix.program(0).row));
    }
    for ((seed, mix), case) in mixes.iter().zip(batch.cases()) {
        let judged = judge(mix, &case, look.as_deref());
        let difference = judged.difference.map(|difference| {
            let (small, difference) = shrink(&format!("{name}-small"), mix.clone(), difference);
            let program = small.program(0);
            let text = format!("{}{}", program.source, program.row);
            format!("== seed {seed} {:?}, {}\n{text}{}", mix.families, difference.look, difference.told)
        });
        let mut tally = tally.lock().expect("nobody panics");
        tally.programs += 1;
        tally.compared += usize::from(judged.compared);
        tally.large.extend((!judged.compared).then_some(*seed));
        judged.refused.into_iter().for_each(|what| *tally.refused.entry(what).or_default() += 1);
        difference.into_iter().for_each(|told| {
            eprintln!("{told}");
            tally.differences.push(told);
        });
    }
    let tally = tally.lock().expect("nobody panics");
    eprintln!("{} programs, {} compared, {} differ", tally.programs, tally.compared, tally.differences.len());
}

fn seeds(default: u64) -> Range<u64> {
    let given = std::env::var("PROGRAMS").unwrap_or_default();
    match given.split_once("..") {
        Some((from, to)) => from.parse().unwrap_or(0)..to.parse().unwrap_or(default),
        None => 0..given.parse().unwrap_or(default),
    }
}

/// How often a program is looked at in each way.
fn times() -> u32 {
    std::env::var("TIMES").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

/// Seeds can be tried without programs that do what is wanted elsewhere: `WITHOUT=RETURNS,exit`.
fn is_wanted((_, mix): &(u64, Mix)) -> bool {
    let without = std::env::var("WITHOUT").unwrap_or_default();
    let program = mix.program(0);
    let mut unwanted = without.split(',').filter(|word| !word.is_empty());
    !unwanted.any(|word| program.source.contains(word) || program.row.contains(word))
}

fn family(name: &str) -> &'static Family {
    FAMILIES.iter().find(|family| family.name == name).expect("a family of the table")
}

fn mixes(default: u64) -> Vec<(u64, Mix)> {
    let wanted = std::env::var("FAMILY").ok();
    let family = wanted.map(|name| family(&name));
    let mix = |seed| family.map_or_else(|| mix::of_seed(seed), |family| mix::of_family(family, seed));
    seeds(default).map(|seed| (seed, mix(seed))).filter(is_wanted).collect()
}

#[test]
fn programs_on_which_answers_once_differed_have_one() {
    // Multiples of twelve are looked at in every way.
    let mixes = KNOWN.iter().zip((0..).step_by(12)).map(|((_, needs, parts), seed)| (seed, known(needs, parts)));
    let tally = compare_all("known", mixes.collect(), KNOWN_TOGETHER);
    assert!(tally.differences.is_empty(), "{}", tally.differences.join("\n"));
    let large: Vec<&str> = tally.large.iter().map(|seed| KNOWN[*seed as usize / 12].0).collect();
    assert!(large.is_empty(), "too large: {large:?}");
}

#[test]
fn programs_on_which_answers_once_differed_by_a_look_have_one() {
    for (number, (look, about, needs, parts)) in KNOWN_BY_LOOK.iter().enumerate() {
        let mix = known(needs, parts);
        let batch = Batch::of(&format!("known-{}", look.replace(' ', "-")), vec![(0, mix.program(number))]);
        let case = batch.cases().next().expect("there is one");
        let Judged { compared, difference, .. } = judge(&mix, &case, Some(look));
        let told = difference.map(|difference| difference.told);
        assert_eq!((compared, told), (true, None), "{about}");
    }
}

/// The comparison is worth something only if it notices when a part is missing: it must in one of the known programs.
fn is_noticed(name: &str, about: &str, parts: Parts) {
    let (_, needs, of) = KNOWN.iter().find(|(known, ..)| *known == about).expect("it is known");
    let batch = Batch::of(name, vec![(0, known(needs, of).program(0))]);
    let case = batch.cases().next().expect("there is one");
    let seen = answer(&graph(Mode::Full, 1), &mut case.start(Depth::Summary)).expect("it is small");
    let less = answer(&graph(Mode::Partly(parts), 1), &mut case.start(Depth::Summary)).expect("it is small");
    assert_ne!(seen, less, "nobody notices in: {about}");
}

#[test]
fn it_is_noticed_when_who_is_ended_has_no_next_step() {
    is_noticed("ended", "two replace the program", Parts { ends: false, ..Parts::ALL });
}

/// Programs of a family that are tried until one shows that a hole is open.
const TRIED: u64 = 60;

/// Opens a hole: some program of a family must have another answer then. That of seed `known` has; the others are tried when programs are made
/// differently.
fn is_noticed_in(family: &'static Family, known: u64, holes: Holes) {
    is_noticed_with(family, known, Options::default, holes);
}

/// The same in searches with some options.
fn is_noticed_with(family: &'static Family, known: u64, options: fn() -> Options, holes: Holes) {
    let is_noticed =
        |seeds: Range<u64>| of_family("hole", family, seeds).cases().any(|case| changes_answer(&case, options, holes));
    let noticed = is_noticed(known..known + 1) || is_noticed(0..TRIED);
    assert!(noticed, "nobody notices {holes:?} in {TRIED} programs of family {}", family.name);
}

/// Whether a program has another answer when a hole is open.
fn changes_answer(case: &Case<'_>, options: fn() -> Options, holes: Holes) -> bool {
    let Answer::Seen(seen) = ask(case, full, options()) else { return false };
    match ask(case, reduced, Options { holes, ..options() }) {
        Answer::Seen(other) => seen != other,
        Answer::Missing(_) => false,
        Answer::Panicked(_) => true,
    }
}

/// Programs of a family.
fn of_family(test: &str, family: &'static Family, seeds: Range<u64>) -> Batch {
    let mixes = seeds.clone().map(|seed| mix::of_family(family, seed));
    let programs = mixes.enumerate().map(|(number, mix)| (seeds.start + number as u64, mix.program(number))).collect();
    Batch::of(&format!("{test}-{}", family.name.replace(' ', "-")), programs)
}

#[test]
fn it_is_noticed_when_locks_keep_what_others_take_away() {
    is_noticed_in(family("renewed locks"), 3, Holes { locks: true, ..Holes::default() });
}

#[test]
fn it_is_noticed_when_who_finds_a_lock_held_sees_all_that_comes_behind() {
    is_noticed_in(family("spin locks"), 35, Holes { tries: true, ..Holes::default() });
}

#[test]
fn it_is_noticed_when_accesses_do_not_depend_on_mappings() {
    is_noticed_in(family("unmap"), 3, Holes { mappings: true, ..Holes::default() });
    is_noticed_in(family("protect"), 10, Holes { mappings: true, ..Holes::default() });
}

#[test]
fn it_is_noticed_when_calls_on_mappings_touch_nothing() {
    is_noticed_in(family("unmap"), 3, Holes { zones: true, ..Holes::default() });
    is_noticed_in(family("protect"), 10, Holes { zones: true, ..Holes::default() });
    is_noticed_in(family("remap"), 11, Holes { zones: true, ..Holes::default() });
}

#[test]
fn it_is_noticed_when_all_locks_of_readers_and_writers_are_alike() {
    is_noticed_in(family("read-write kinds"), 9, Holes { rwlocks: true, ..Holes::default() });
}

#[test]
fn it_is_noticed_when_instructions_are_not_torn() {
    is_noticed_in(family("copies"), 50, Holes { tears: true, ..Holes::default() });
}

#[test]
fn it_is_noticed_when_handlers_race_with_nothing() {
    is_noticed_with(family("interrupted"), 10, signalled, Holes { handlers: true, ..Holes::default() });
}

#[test]
fn it_is_noticed_when_handlers_that_jump_have_read_nothing() {
    // Nobody else looks at the words.
    let alone =
        known(&["SIGNAL", "MAIN_WORKS"], &["signal(SIGUSR1, jumps); JUMPS(V(s->w[0]) = 1; V(s->w[1]) = 1; ) ", ""]);
    let batch = Batch::of("jumps", vec![(0, alone.program(0))]);
    let case = batch.cases().next().expect("there is one");
    let failures = |mode, jumps| {
        let holes = Holes { jumps, ..Holes::default() };
        let mut programs = case.start_with(Options { holes, ..signalled() });
        let mut limits = Limits { states: 20_000, failures: usize::MAX, stop: &mut |_, _| false };
        let report = search_by(&graph(mode, 1), &mut programs, &mut limits).report;
        assert!(report.complete, "{} states", report.states);
        report.found.into_iter().map(|found| found.failure.message).collect::<BTreeSet<_>>()
    };
    let seen = failures(Mode::Full, false);
    assert_eq!(seen, failures(Mode::Reduced, false));
    assert!(failures(Mode::Reduced, true).len() < seen.len(), "nobody notices: {seen:?}");
}

#[test]
fn it_is_noticed_when_reading_a_clock_is_no_operation() {
    is_noticed_in(family("clocks"), 9, Holes { clocks: true, ..Holes::default() });
}

#[test]
fn it_is_noticed_when_going_back_leaves_the_kernel_as_it_is() {
    // The memo hides it unless it is audited.
    let audited = || Options { audit: Some(1), ..Options::default() };
    is_noticed_with(family("leave"), 0, audited, Holes { rollback: true, ..Holes::default() });
}

#[test]
fn it_is_noticed_when_memoized_steps_ignore_what_they_look_at() {
    is_noticed_in(&MEMORY, 0, Holes { memo: true, ..Holes::default() });
}

#[test]
fn the_audit_notices_when_memoized_steps_ignore_what_they_look_at() {
    let holes = Holes { memo: true, ..Holes::default() };
    let is_noticed = |case: Case<'_>| {
        let mut programs = case.start_with(Options { audit: Some(1), holes, ..Options::default() });
        let mut limits = Limits { states: STATES_MAX, failures: usize::MAX, stop: &mut |_, _| false };
        search_by(&graph(Mode::Reduced, 1), &mut programs, &mut limits);
        assert!(programs.audited.again == programs.audited.results, "{:?}", programs.audited);
        programs.refusal.is_some_and(|refusal| refusal.cause == Cause::Differs)
    };
    let noticed = of_family("audit", &MEMORY, 0..TRIED).cases().any(is_noticed);
    assert!(noticed, "no difference is reported");
}

#[test]
fn every_engine_and_the_host_agree_on_what_threads_do_to_each_other() {
    let started = Instant::now();
    let tally = compare_all("mixed", mixes(30), TOGETHER);
    let seconds = started.elapsed().as_secs();
    println!("{} programs, {} compared, {seconds} s; refused: {:?}", tally.programs, tally.compared, tally.refused);
    println!("{:.0?}", TIMES.lock().expect("nobody panics"));
    assert!(tally.differences.is_empty(), "{}:\n{}", tally.differences.len(), tally.differences.join("\n"));
    assert!(tally.compared * 2 > tally.programs, "only {} of {}", tally.compared, tally.programs);
}
