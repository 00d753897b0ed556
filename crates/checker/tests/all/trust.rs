//! Programs that were once answered wrongly (`programs/trust`): every engine gives the answer of the first line.

use crate::inside;
use crate::start;
use checker::{Depth, Engine, Options, Programs, Timeouts, search_by};
use explore::graph::{Limits, Mode};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use trace::FailureKind;

/// States of one search at most; with the library as it stands some programs have more, and what is found is still right.
const STATES_MAX: usize = 3_000;

/// Programs for which time may pass early are in a folder of their own.
fn early() -> Options {
    Options { timeouts: Timeouts::Any(1), ..Options::default() }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/trust")
}

/// What the first line of a program says.
fn expected(source: &Path) -> BTreeSet<String> {
    let line = first_words(source, "// expect: ");
    line.unwrap_or_else(|| panic!("{} says what is expected", source.display()))
}

/// What a program says is expected with the library as it stands. Only those who know what functions mean know that they are
/// misused.
fn expected_of_library(source: &Path) -> BTreeSet<String> {
    let mut expected = first_words(source, "// expect with --libc real: ").unwrap_or_else(|| expected(source));
    expected.remove("misuse");
    expected
}

/// The words behind a mark in the first two lines.
fn first_words(source: &Path, mark: &str) -> Option<BTreeSet<String>> {
    let text = std::fs::read_to_string(source).expect("a program can be read");
    let words = text.lines().take(2).find_map(|line| line.strip_prefix(mark))?.split_whitespace();
    Some(words.filter(|word| *word != "holds").map(str::to_owned).collect())
}

fn build(source: &Path) -> PathBuf {
    let name = source.file_stem().expect("a file").to_string_lossy().into_owned();
    // Tests run at the same time on the same programs.
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    let folder = inside::folder(&format!("trust-{test}-{name}"));
    let mut gcc = std::process::Command::new("gcc");
    gcc.args(["-g", "-O1", "-pthread"]).arg(source).arg("-o").arg(folder.join("program"));
    assert!(gcc.status().expect("gcc runs").success(), "{name} does not compile");
    folder
}

/// The kinds of failures that an engine finds, in a search that sees everything. Livelocks are cycles, or loops that wait
/// for ever where loops are operations.
fn found(folder: &Path, engine: &Engine, options: Options) -> (BTreeSet<String>, bool) {
    let depth = options.depth;
    let mut programs: Programs = start::search_of(folder, options);
    let mut limits = Limits { states: STATES_MAX, failures: usize::MAX, stop: &mut |_, _| false };
    let outcome = search_by(engine, &mut programs, &mut limits);
    assert!(programs.refusal.is_none(), "{:?}", programs.refusal);
    let is_complete = outcome.report.complete;
    assert!(is_complete || depth == Depth::Real, "{folder:?} with {engine:?} sees everything");
    let kinds = outcome.report.found.iter().map(|found| found.failure.kind);
    let livelocks = outcome.report.livelocks.iter().map(|_| FailureKind::Livelock);
    (kinds.chain(livelocks).map(|kind| kind.to_string()).collect(), is_complete)
}

fn graph(mode: Mode, workers: usize) -> Engine {
    Engine::Graph { mode, workers, alone: 0 }
}

/// Those who search, and how deep they look into the library.
fn engines() -> [(Engine, Depth); 5] {
    [
        (graph(Mode::Reduced, 1), Depth::Summary),
        (graph(Mode::Full, 1), Depth::Summary),
        (graph(Mode::Reduced, 2), Depth::Summary),
        (Engine::Classes { depth: 1_000 }, Depth::Summary),
        (graph(Mode::Reduced, 1), Depth::Real),
    ]
}

/// Each program is compiled once for all of them.
#[test]
fn every_engine_is_right_about_all_programs() {
    let (mut wrong, mut complete) = (Vec::new(), [0; 5]);
    let files = std::fs::read_dir(folder()).expect("the folder is there");
    let mut sources: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    sources.sort();
    assert!(sources.len() > 20, "programs are there");
    for source in sources {
        let built = build(&source);
        for ((engine, depth), complete) in engines().iter().zip(&mut complete) {
            let (found, is_complete) = found(&built, engine, Options { depth: *depth, ..Options::default() });
            let expected = if *depth == Depth::Real { expected_of_library(&source) } else { expected(&source) };
            *complete += usize::from(is_complete);
            let is_right = if is_complete { found == expected } else { found.is_subset(&expected) };
            if !is_right {
                wrong.push(format!("{}: {engine:?} {depth:?}: {found:?}, expected {expected:?}", source.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(complete.iter().all(|count| *count > 10), "only {complete:?} programs were searched to the end");
}

#[test]
fn timers_fire_before_any_call_where_time_may_pass_early() {
    let source = folder().join("early/itimer.c");
    for mode in [Mode::Reduced, Mode::Full] {
        assert_eq!(found(&build(&source), &graph(mode, 1), early()).0, expected(&source), "{mode:?}");
    }
}

#[test]
fn waits_end_without_a_signal_only_where_that_is_allowed() {
    let source = folder().join("spurious/if_around_wait.c");
    for (mode, spurious) in [(Mode::Reduced, true), (Mode::Full, true), (Mode::Reduced, false), (Mode::Full, false)] {
        let options = Options { spurious, ..Options::default() };
        let expected = if spurious { expected(&source) } else { BTreeSet::new() };
        assert_eq!(found(&build(&source), &graph(mode, 1), options).0, expected, "{mode:?}");
    }
}
