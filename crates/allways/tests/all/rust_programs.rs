//! Programs in Rust, as `rustc` makes them: with two threads they are decided, and told by their author's lines.

use crate::folder::{Folder, Told, says};
use std::path::{Path, PathBuf};
use std::process::Command;

const CURED: &[&str] = &["--cfg", "cured"];

fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/languages")
}

/// Checks a program of `programs/languages`, built for debugging or optimised, with its bug or without.
fn checked(name: &str, flags: &[&str]) -> Told {
    let folder = Folder::new(&format!("rust-{name}{}", flags.join("")));
    let source = format!("{name}.rs");
    std::fs::copy(bundled().join(&source), folder.0.join(&source)).expect("the program is there");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2021", "-g", "--check-cfg", "cfg(cured)"]).args(flags).arg(&source);
    built(rustc.current_dir(&folder.0));
    folder.run(&["check", "--time", "300", "--", &format!("./{name}")])
}

fn built(compiler: &mut Command) {
    let output = compiler.output().expect("the compiler runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn fails(name: &str, kind: &str) {
    says(
        &checked(name, &[]),
        1,
        &[&format!("error[{kind}]"), &format!("{name}.rs"), "exhaustive", "confirmed by replay"],
    );
}

fn holds(name: &str, flags: &[&str]) {
    says(&checked(name, flags), 0, &["holds: 6 of 6", "exhaustive", "summary (glibc, Rust)"]);
}

#[test]
fn two_threads_that_count_under_a_mutex_hold() {
    holds("counter", &[]);
    holds("counter", &["-O"]);
}

#[test]
fn a_lost_hit_is_found_and_told_by_its_lines() {
    says(&checked("hits", &[]), 1, &["error[exit]", "hits.rs", ":8", "exhaustive", "confirmed by replay"]);
}

/// Nothing in the mutex says who holds it.
#[test]
fn two_mutexes_in_both_orders_are_a_deadlock_with_who_holds_which() {
    let told = checked("transfer", &[]);
    let waits = ["waits for alice, held by T1 since step", "waits for bob, held by T2 since step"];
    says(&told, 1, &["error[deadlock]", "transfer.rs:9", "let mut to", "exhaustive", waits[0], waits[1]]);
    says(&told, 1, &["lock alice", "alice: free -> T1", "lock bob", "bob: free -> T2", ":8"]);
    holds("ordered", &[]);
    holds("ordered", &["-O"]);
}

/// It was locked when there was nobody else.
#[test]
fn a_mutex_that_main_holds_while_it_joins_is_a_deadlock() {
    says(&checked("guard", &[]), 1, &["error[deadlock]", "waits for total, held by main", "waits for the end of T1"]);
    holds("guard", CURED);
}

#[test]
fn a_reader_that_reads_again_while_a_writer_waits_is_a_deadlock() {
    fails("rwlock", "deadlock");
    holds("rwlock", CURED);
}

#[test]
fn a_notification_before_the_wait_is_missed() {
    fails("condvar", "deadlock");
    holds("condvar", CURED);
}

#[test]
fn what_is_not_made_once_is_found() {
    fails("once", "exit");
    holds("once", CURED);
}

#[test]
fn what_is_behind_a_barrier_comes_too_late() {
    fails("barrier", "exit");
    holds("barrier", CURED);
}

#[test]
fn a_thread_that_is_unparked_too_early_parks_for_ever() {
    fails("park", "deadlock");
    holds("park", CURED);
}

/// Its words lie on the heap, where no type says that they are atomic; its loops count how often they have waited.
#[test]
fn a_message_that_is_not_there_yet_is_missed() {
    fails("channel", "exit");
    holds("channel", CURED);
}

/// What the standard library does to start a thread is no part of the schedule.
#[test]
fn the_start_of_a_thread_is_not_told() {
    let told = checked("transfer", &[]);
    let text = format!("{}{}", told.out, told.err);
    let is_told = |words: &str| text.contains(words);
    assert!(!["__pthread_keys", "thread_local", "thread_start", "poll"].into_iter().any(is_told), "{text}");
    says(&told, 1, &["create a thread for main:17", "create a thread for main:19"]);
}

/// The crate comes from its registry, in the versions that the package's own lock file names.
#[test]
fn mutexes_of_parking_lot_are_told_like_those_of_the_standard_library() {
    let folder = Folder::new("rust-parking_lot");
    let manifest = bundled().join("parking_lot/Cargo.toml");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--locked", "--manifest-path"]).arg(manifest).arg("--target-dir").arg(&folder.0);
    // Whoever builds us may want no debug information.
    built(cargo.env("CARGO_PROFILE_DEV_DEBUG", "2"));
    let check = |name: &str| folder.run(&["check", "--time", "300", "--", &format!("./debug/{name}")]);
    let waits = ["waits for alice, held by T1 since step", "waits for bob, held by T2 since step"];
    says(&check("transfer"), 1, &["error[deadlock]", "transfer.rs", waits[0], waits[1], "exhaustive"]);
    for name in ["ordered", "condvar"] {
        says(&check(name), 0, &["holds: 6 of 6", "exhaustive"]);
    }
}
