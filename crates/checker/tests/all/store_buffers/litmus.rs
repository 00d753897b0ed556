//! Litmus tests of the papers on x86-TSO.

use super::{ENGINES, Litmus, outcomes, tso};
use crate::fuzz::batch::compile;
use crate::inside;
use checker::{Holes, Options, StoreBuffers};
use std::collections::BTreeSet;
use std::path::PathBuf;

const SOURCE: &str = include_str!("litmus.c");

/// A test: its name, its threads, what it tells, and how many outcomes there are with sequential consistency and on x86.
type Row = (&'static str, &'static [&'static str], &'static str, usize, usize);

const TABLE: &[Row] = &[
    ("SB", &["x=1 y?0", "y=1 x?1"], "01", 3, 4),
    ("SB with fences", &["x=1 f y?0", "y=1 f x?1"], "01", 3, 3),
    ("SB with one fence", &["x=1 f y?0", "y=1 x?1"], "01", 3, 4),
    ("SB with exchanges", &["x!1 y?0", "y!1 x?1"], "01", 3, 3),
    ("SB with locked additions to another word", &["x=1 z+1 y?0", "y=1 z+1 x?1"], "01", 3, 3),
    ("SB with syscalls", &["x=1 s y?0", "y=1 s x?1"], "01", 3, 3),
    ("SB with membarrier(2) on one side", &["x=1 y?0", "y=1 m x?1"], "01", 3, 3),
    ("SB with loads of the own store (intra-processor forwarding)", &["x=1 x?0 y?1", "y=1 y?2 x?3"], "0123", 3, 4),
    ("MP", &["x=1 y=1", "y?0 x?1"], "01", 3, 3),
    ("LB", &["x?0 y=1", "y?1 x=1"], "01", 3, 3),
    ("S", &["x=2 y=1", "y?0 x=1"], "0x", 3, 3),
    ("R", &["x=1 y=1", "y=2 x?0"], "0y", 3, 4),
    ("2+2W", &["x=1 y=2", "y=1 x=2"], "xy", 3, 3),
    ("WRC", &["x=1", "x?0 y=1", "y?1 x?2"], "012", 7, 7),
    ("RWC", &["x=1", "x?0 y?1", "y=1 x?2"], "012", 7, 8),
    ("IRIW", &["x=1", "y=1", "x?0 y?1", "y?2 x?3"], "0123", 15, 15),
    ("IRIW with exchanges", &["x!1", "y!1", "x?0 y?1", "y?2 x?3"], "0123", 15, 15),
    ("n1", &["x=2 y?0", "y=1 x=1", "x?1 x?2"], "012", 13, 14),
    ("n4b", &["x?0 x=1", "x?1 x=2"], "01", 3, 3),
    ("n5", &["x=1 x?0", "x=2 x?1"], "01", 3, 3),
    ("n6", &["x=1 x?0 y?1", "y=2 x=2"], "01x", 4, 5),
    ("n7", &["x=1 x?0 y?1", "y=1", "y?2 x?3"], "0123", 7, 8),
    ("increments without lock", &["xi", "xi"], "x", 2, 2),
    ("increment and load", &["xi y?0", "yi x?1"], "01", 3, 4),
    ("amd3", &["x=1 x=2 y?0", "y=1 y=2 x?1"], "01", 5, 9),
    ("SB of three", &["x=1 y?0", "y=1 z?1", "z=1 x?2"], "012", 7, 8),
    ("WRC and RWC", &["x=1 y?0", "x?1 y=1 z?2", "z=1 x?3"], "0123", 13, 16),
    ("two stores wait", &["x=1 y=1 z?0", "z=1 y?1 x?2"], "012", 4, 6),
];

/// Engines for which three threads may be too many.
const MAY_BE_LARGE: [&str; 2] = ["full", "without memory"];

pub fn compiled(name: &str) -> PathBuf {
    let folder = inside::folder(&format!("litmus-{name}-{}", std::process::id()));
    std::fs::write(folder.join("program.c"), SOURCE).expect("the folder takes files");
    compile(&folder, &["-O1", "program.c"]);
    folder
}

#[test]
fn litmus_tests_have_the_outcomes_of_x86_tso_in_all_engines() {
    let folder = compiled("table");
    for (name, threads, observed, sequential, buffered) in TABLE {
        let litmus = Litmus::new(threads, observed);
        let expected = [litmus.expected(false), litmus.expected(true)];
        assert_eq!(expected.each_ref().map(BTreeSet::len), [*sequential, *buffered], "the machine itself: {name}");
        for (engine, see) in ENGINES {
            for (options, expected) in [Options::default(), tso()].into_iter().zip(&expected) {
                let found = outcomes(&litmus, see, &folder, options);
                let is_small = MAY_BE_LARGE.contains(&engine) || found.is_some();
                assert!(
                    is_small && found.as_ref().is_none_or(|found| found == expected),
                    "{name}, {engine}: {found:?}"
                );
            }
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn processes_that_share_memory_have_the_same_outcomes() {
    let folder = compiled("processes");
    for (name, threads, observed, ..) in TABLE.iter().filter(|(_, threads, ..)| threads.len() == 2) {
        let litmus = Litmus { forks: true, ..Litmus::new(threads, observed) };
        let found = outcomes(&litmus, ENGINES[0].1, &folder, tso());
        assert_eq!(found, Some(litmus.expected(true)), "{name}");
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn buffers_are_used_only_where_a_triangular_race_is() {
    let folder = compiled("triangular");
    for (name, expected) in [("MP", false), ("SB", true), ("SB with fences", false), ("2+2W", false), ("n5", false)] {
        let (_, threads, observed, ..) = TABLE.iter().find(|row| row.0 == name).expect("it is in the table");
        let mut programs = Litmus::new(threads, observed).start(&folder, tso());
        (ENGINES[0].1)(&mut programs).expect("it is small");
        assert_eq!(programs.store_buffers() != StoreBuffers::Unneeded, expected, "{name}");
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn it_is_noticed_when_fences_do_not_wait() {
    // The third thread needs store buffers, which the others do not.
    let litmus = Litmus::new(&["x=1 f y?0", "y=1 f x?1 z?3", "z=1 x?2"], "01");
    assert_eq!([false, true].map(|has_buffers| litmus.expected(has_buffers).len()), [3, 3]);
    notices(&litmus, "fences", Holes { fences: true, ..Holes::default() });
}

#[test]
fn it_is_noticed_when_triangular_races_are_not() {
    notices(&Litmus::new(&["x=1 y?0", "y=1 x?1"], "01"), "triangles", Holes { triangles: true, ..Holes::default() });
}

fn notices(litmus: &Litmus, name: &str, holes: Holes) {
    let folder = compiled(name);
    let seen =
        [Holes::default(), holes].map(|holes| outcomes(litmus, ENGINES[0].1, &folder, Options { holes, ..tso() }));
    let expected = Some(litmus.expected(true));
    assert!(seen[0] == expected && seen[1] != expected, "{seen:?}, expected {expected:?}");
    let _ = std::fs::remove_dir_all(folder);
}
