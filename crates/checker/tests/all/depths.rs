//! The C library in two depths: its functions taken as one step with their specified meaning, and every instruction of
//! them executed as it stands. Verdicts on the examples agree.

use crate::inside;
use crate::start;
use checker::{Depth, Options, Programs, search};
use explore::graph::{Limits, Mode};
use std::collections::BTreeSet;
use std::path::Path;
use trace::FailureKind::{self, Assert, Deadlock};

/// How far every instruction of the library is followed; functions taken as one step are always followed to the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Far {
    /// To the end.
    End,
    /// To the first failure.
    Failure,
    /// For so many states: the end is too far away. Nothing else may go wrong on the way.
    States(usize),
}

fn start(folder: &Path, depth: Depth) -> Programs {
    start::search_of(folder, Options { depth, ..Options::default() })
}

/// What went wrong, and whether everything was seen.
fn kinds(folder: &Path, depth: Depth, far: Far) -> (BTreeSet<FailureKind>, bool) {
    let mut programs = start(folder, depth);
    let states = if let Far::States(states) = far { states } else { 200_000 };
    let failures = if far == Far::Failure { 1 } else { usize::MAX };
    let mut limits = Limits { states, failures, stop: &mut |_, _| false };
    let report = search(&mut programs, Mode::Reduced, &mut limits).report;
    assert!(programs.refusal.is_none(), "{:?}", programs.refusal);
    (report.found.iter().map(|found| found.failure.kind).collect(), report.complete)
}

fn agree(file: &str, flags: &[&str], expected: &[FailureKind], far: Far) {
    let folder = inside::folder(&format!("depths-{file}{}", flags.concat()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs").join(file);
    let mut gcc = std::process::Command::new("gcc");
    gcc.args(["-g", "-O1", "-pthread"]).args(flags).arg(source).arg("-o").arg(folder.join("program"));
    assert!(gcc.status().expect("gcc runs").success(), "{file} {flags:?} does not compile");
    let expected: BTreeSet<FailureKind> = expected.iter().copied().collect();
    assert_eq!(kinds(&folder, Depth::Summary, Far::End), (expected.clone(), true), "{file} {flags:?}");
    let (real, complete) = kinds(&folder, Depth::Real, far);
    match far {
        Far::States(_) => assert!(real.is_subset(&expected), "{file} {flags:?}, every instruction: {real:?}"),
        _ => assert_eq!(real, expected, "{file} {flags:?}, every instruction"),
    }
    assert_eq!(complete, far == Far::End, "{file} {flags:?}, every instruction");
}

#[test]
fn both_depths_of_the_library_agree_on_lock_free_examples() {
    agree("sb.c", &[], &[], Far::End);
    agree("peterson.c", &["-DK=1"], &[], Far::End);
    agree("peterson.c", &["-DK=1", "-DBUG"], &[Assert], Far::Failure);
    agree("treiber.c", &["-DT=2", "-DK=1"], &[], Far::End);
}

#[test]
fn both_depths_of_the_library_agree_on_philosophers_and_buffers() {
    agree("phil.c", &["-DN=2"], &[Deadlock], Far::End);
    agree("phil.c", &["-DN=2", "-DFIXED"], &[], Far::End);
    agree("phil.c", &["-DN=3"], &[Deadlock], Far::States(3_000));
    agree("bbuf.c", &["-DNP=1", "-DNC=1", "-DITEMS=1"], &[], Far::End);
    agree("bbuf.c", &["-DNP=2", "-DNC=2", "-DITEMS=1", "-DBUG_IF"], &[Assert], Far::States(3_000));
    agree("bbuf.c", &["-DNP=2", "-DNC=2", "-DITEMS=1", "-DBUG_SIGNAL"], &[Deadlock], Far::States(3_000));
    agree("bbuf.c", &["-DNP=2", "-DNC=2", "-DITEMS=1", "-DONE_CV_BROADCAST"], &[], Far::States(3_000));
}

#[test]
fn both_depths_of_the_library_agree_on_the_remote_agent() {
    agree("rax_sysv.c", &["-DROUNDS=2"], &[], Far::End);
    agree("rax_sysv.c", &["-DROUNDS=0"], &[], Far::End);
    agree("rax_sysv.c", &["-DROUNDS=2", "-DCOND_OUTER"], &[Deadlock], Far::End);
    agree("rax.c", &["-DROUNDS=2", "-DCOND_OUTER"], &[Deadlock], Far::States(3_000));
    agree("rax.c", &["-DROUNDS=2"], &[], Far::States(3_000));
}

#[test]
fn both_depths_of_the_library_agree_on_servers() {
    agree("daytime.c", &[], &[], Far::End);
    agree("echo.c", &[], &[], Far::End);
    agree("chat.c", &[], &[], Far::States(3_000));
}
