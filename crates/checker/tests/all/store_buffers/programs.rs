//! Programs that store buffers break, their cures, and others that are right on x86: `programs/memory/`.

use super::{ENGINES, tso};
use crate::fuzz::batch::compile;
use crate::fuzz::compare::Seen;
use crate::inside;
use crate::start::search_of;
use checker::{Engine, Options, Programs, StoreBuffers, search_by};
use explore::graph::Limits;
use std::path::{Path, PathBuf};

/// A program: its file, its flag, what goes wrong with sequential consistency and on x86, and whether the search needs buffers.
type Row = (&'static str, &'static str, Option<&'static str>, Option<&'static str>, bool);

const TABLE: &[Row] = &[
    ("memory/dekker.c", "-DPLAIN", None, Some("assert"), true),
    ("memory/dekker.c", "-DFENCE", None, None, true),
    ("memory/sleeper.c", "-DPLAIN", None, Some("deadlock"), true),
    ("memory/sleeper.c", "-DFENCE", None, None, false),
    ("memory/chase_lev.c", "-DPLAIN", None, Some("assert"), true),
    ("memory/chase_lev.c", "-DFENCE", None, None, false),
    ("memory/seqlock.c", "-DPLAIN", None, None, false),
    ("memory/seqlock.c", "-DBROKEN", Some("assert"), Some("assert"), false),
    ("memory/spinlock.c", "-DPLAIN", None, None, false),
    ("memory/publish.c", "-DPLAIN", None, None, false),
    ("memory/publish.c", "-DBROKEN", Some("assert"), Some("assert"), false),
    ("peterson.c", "-DK=1", None, None, false),
    ("sb.c", "-DSEQUENTIAL", None, None, false),
    ("sb.c", "-DRELAXED", None, Some("assert"), true),
];

fn built(file: &str, flag: &str, name: &str) -> PathBuf {
    let folder = inside::folder(&format!("memory-{name}-{}-{}", std::process::id(), file.replace('/', "-")));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs").join(file);
    compile(&folder, &["-O1", flag, source.to_str().expect("it is a path of ours")]);
    folder
}

fn assert_fails(seen: &Seen, expected: Option<&str>, about: &str) {
    let is_expected = |failure: &String| expected.is_some_and(|kind| failure.starts_with(kind));
    assert!(seen.failures.iter().all(is_expected), "{about}: {:?}", seen.failures);
    assert_eq!(seen.failures.is_empty(), expected.is_none(), "{about}");
}

#[test]
fn programs_fail_where_x86_breaks_them_and_hold_where_fences_are_right() {
    for (file, flag, sequential, buffered, needs_buffers) in TABLE {
        let folder = built(file, flag, "graph");
        for (options, expected, needs_buffers) in
            [(Options::default(), sequential, false), (tso(), buffered, *needs_buffers)]
        {
            let about = format!("{file} {flag} {:?}", options.memory);
            let mut programs = search_of(&folder, options);
            let seen = (ENGINES[0].1)(&mut programs).expect("it is small");
            assert_fails(&seen, *expected, &about);
            assert_eq!(programs.store_buffers() != StoreBuffers::Unneeded, needs_buffers, "{about}");
        }
        let _ = std::fs::remove_dir_all(folder);
    }
}

#[test]
fn classes_of_schedules_are_counted_exactly() {
    for (options, expected) in [(Options::default(), (3, 0)), (tso(), (4, 1))] {
        let folder = built("sb.c", "-DRELAXED", "classes");
        let mut programs: Programs = search_of(&folder, options);
        let mut limits = Limits { states: usize::MAX, failures: usize::MAX, stop: &mut |_, _| false };
        let outcome = search_by(&Engine::Classes { depth: 300 }, &mut programs, &mut limits);
        let classes = outcome.classes.expect("classes were searched");
        assert_eq!((classes.traces, classes.failed), expected);
        let _ = std::fs::remove_dir_all(folder);
    }
}
